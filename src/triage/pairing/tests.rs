//! Pairs of the policy desk: complete request and missing condition.

use super::*;
use crate::domain::chat::{ChatMessage, Role};
use crate::domain::{Candidate, Choice, Criterion, Pair, Rollout, StepKind};
use crate::triage::standard::Standard;

fn run(id: &str, task: &str, outcome: Outcome, answers: &[(Owner, &str)]) -> (Rollout, Vec<Step>) {
    let mut rollout = Rollout::new(id, "atif", "f");
    rollout.task = Some(task.into());
    rollout.outcome = outcome;
    let steps = answers
        .iter()
        .zip(0..)
        .map(|((owner, text), i)| {
            let (kind, role) = match owner {
                Owner::Model => (StepKind::Text, Role::Assistant),
                Owner::Tool => (StepKind::Observation, Role::Tool),
                _ => (StepKind::Text, Role::User),
            };
            Step {
                index: i,
                message: i,
                ..Step::new(*owner, kind, role, *text)
            }
        })
        .collect();
    (rollout, steps)
}

fn view(run: &(Rollout, Vec<Step>)) -> RunView<'_> {
    RunView {
        rollout: &run.0,
        steps: &run.1,
        calls: &[],
    }
}

use Owner::{Model, Tool, User};

#[test]
fn s41_the_first_differing_decision_with_equal_context_is_found() {
    let good = run(
        "g",
        "t",
        Outcome::Pass,
        &[
            (User, "q"),
            (Model, "search"),
            (Tool, "doc"),
            (Model, "150 [v2]"),
        ],
    );
    let bad = run(
        "b",
        "t",
        Outcome::Fail,
        &[
            (User, "q"),
            (Model, "search"),
            (Tool, "doc"),
            (Model, "120 [v1]"),
        ],
    );
    let pair = first_differing_decision(&view(&good), &view(&bad)).unwrap();
    assert_eq!(
        (pair.a.to_string(), pair.b.to_string()),
        ("g:3".into(), "b:3".into())
    );
    assert_eq!(pair.context_hash, view(&good).context_hash(3));
    let suggested = suggest_pairings(&[view(&bad), view(&good)]);
    assert_eq!(suggested.len(), 1);
    assert_eq!(suggested[0].pair, pair);
}

#[test]
fn s41_different_contexts_never_compare() {
    let a = run(
        "a",
        "t",
        Outcome::Pass,
        &[(User, "q"), (Model, "s"), (Tool, "new"), (Model, "150")],
    );
    let b = run(
        "b",
        "t",
        Outcome::Fail,
        &[(User, "q"), (Model, "s"), (Tool, "old"), (Model, "120")],
    );
    assert_eq!(
        first_differing_decision(&view(&a), &view(&b)),
        Err(NotComparable::Context(2, 2))
    );
    assert!(matches!(
        compare_decisions(&view(&a), 3, &view(&b), 3),
        Err(NotComparable::HashMismatch(..))
    ));
    let other = run(
        "c",
        "u",
        Outcome::Fail,
        &[(User, "q"), (Model, "s"), (Tool, "new"), (Model, "120")],
    );
    assert!(matches!(
        first_differing_decision(&view(&a), &view(&other)),
        Err(NotComparable::Tasks(..))
    ));
    assert!(matches!(
        compare_decisions(&view(&a), 2, &view(&b), 2),
        Err(NotComparable::NotADecision(_))
    ));
    assert_eq!(
        first_differing_decision(&view(&a), &view(&a)),
        Err(NotComparable::SameDecisions)
    );
    assert_eq!(suggest_pairings(&[view(&a), view(&b)]), []);
}

fn message(text: &str) -> ChatMessage {
    ChatMessage::text(Role::Assistant, text)
}

fn decided(choice: Choice, criteria: &[Criterion]) -> Pair {
    let at = |run: &str| Candidate::Recorded {
        at: StepRef {
            run: run.into(),
            step: 3,
        },
    };
    Pair {
        a: at("g"),
        b: at("b"),
        context_hash: "h".into(),
        choice,
        criteria: criteria.to_vec(),
        reason: "cites the valid version".into(),
        evidence: Some("Valid from 2025-07-01".into()),
        standard: Some("desk-1".into()),
        left: None,
        side_seed: None,
        active_ms: None,
    }
}

fn problems(pair: &Pair, hash_b: &str, smoother_alone: bool) -> Vec<PairProblem> {
    let (a, b) = (message("150 [v2]"), message("120 [v1]"));
    let context = [message("Hotel nights. Valid from 2025-07-01.")];
    let standard = Standard {
        version: "desk-1".into(),
        criteria: vec![],
        smoother_alone,
    };
    check_pair(
        pair,
        &PairFacts {
            hash_a: "h",
            hash_b,
            message_a: &a,
            message_b: &b,
            context: &context,
            standard: Some(&standard),
        },
    )
}

#[test]
fn s42_reason_and_criterion_are_compulsory_and_smoothness_alone_is_not_enough() {
    let good = decided(Choice::A, &[Criterion::CitationValid]);
    assert_eq!(problems(&good, "h", false), []);
    let no_reason = Pair {
        reason: "  ".into(),
        ..good.clone()
    };
    assert_eq!(problems(&no_reason, "h", false), [PairProblem::NoReason]);
    assert_eq!(
        problems(&decided(Choice::A, &[]), "h", false),
        [PairProblem::NoCriterion]
    );
    let smooth = decided(Choice::B, &[Criterion::OnlySmoother]);
    assert_eq!(problems(&smooth, "h", false), [PairProblem::OnlySmoother]);
    assert_eq!(problems(&smooth, "h", true), []);
    let both = decided(
        Choice::A,
        &[Criterion::OnlySmoother, Criterion::CitationValid],
    );
    assert_eq!(problems(&both, "h", false), []);
}

#[test]
fn s41_a_hash_mismatch_blocks_unless_that_is_the_decision() {
    let pair = decided(Choice::A, &[Criterion::CitationValid]);
    let found = problems(&pair, "other", false);
    assert!(found.contains(&PairProblem::DifferentRequests) && is_blocked(&found));
    assert_eq!(
        problems(&decided(Choice::NotComparable, &[]), "other", false),
        []
    );
}

#[test]
fn s43_the_standards_version_travels_with_the_pair() {
    let pair = decided(Choice::A, &[Criterion::CitationValid]);
    let none = Pair {
        standard: None,
        ..pair.clone()
    };
    assert_eq!(
        problems(&none, "h", false),
        [PairProblem::NoStandard("desk-1".into())]
    );
    let old = Pair {
        standard: Some("desk-0".into()),
        ..pair
    };
    assert_eq!(
        problems(&old, "h", false),
        [PairProblem::OtherStandard("desk-0".into(), "desk-1".into())]
    );
}

#[test]
fn s46_tie_and_both_bad_need_a_reason_but_no_criterion() {
    assert_eq!(problems(&decided(Choice::Tie, &[]), "h", false), []);
    assert_eq!(problems(&decided(Choice::BothBad, &[]), "h", false), []);
}

#[test]
fn a_quote_that_stands_nowhere_is_pointed_out_and_does_not_block() {
    let pair = Pair {
        evidence: Some("never said".into()),
        ..decided(Choice::A, &[Criterion::CitationValid])
    };
    let found = problems(&pair, "h", false);
    assert_eq!(found, [PairProblem::EvidenceNotFound]);
    assert!(!is_blocked(&found));
}
