//! The fixtures of SCIENCE part 4 and the requirements on advice.

mod data;

use super::*;
use crate::domain::{GateState, Layer, RunId};

fn label(i: usize, layer: Layer) -> LabelFact {
    LabelFact {
        run: RunId(format!("r{i}")),
        layer,
        cause: None,
        proven: true,
        random: true,
    }
}

fn labels(counts: &[(Layer, usize)]) -> Vec<LabelFact> {
    let all = counts
        .iter()
        .flat_map(|(layer, n)| std::iter::repeat_n(*layer, *n));
    all.enumerate().map(|(i, l)| label(i, l)).collect()
}

fn failed(counts: &[(Layer, usize)]) -> CohortFacts {
    let labels = labels(counts);
    let n = u32::try_from(labels.len()).unwrap();
    CohortFacts {
        cohort: "desk".into(),
        runs: n,
        outcome_known: n,
        failures: n,
        labels,
        agreement: AgreementFact {
            alpha: Some(0.8),
            labelled_twice: n,
            unsettled: 0,
        },
        split: Some(SplitFact::default()),
        ..CohortFacts::default()
    }
}

fn record(facts: &mut CohortFacts, all: &[(&str, &str)]) {
    for (name, value) in all {
        let fact = RecordedFact {
            value: (*value).into(),
            evidence: "notes.md".into(),
            reviewer: "ann".into(),
        };
        facts.recorded.insert((*name).into(), fact);
    }
}

fn ready_demonstrations(facts: &mut CohortFacts) {
    facts.demonstrations = DemonstrationFact {
        reviewed: 60,
        normal: 40,
        clarification: 8,
        boundary: 6,
        recovery: 6,
        length_ratio: Some(1.0),
        owned: 60,
        current: 60,
    };
    record(facts, &[("evaluation-set", "40"), ("prompt-trial", "yes")]);
}

fn ready_pairs(facts: &mut CohortFacts) {
    facts.pairs = PairFact {
        preferred: 600,
        same_request: 600,
        reasoned: 600,
        decided_twice: 60,
        agreement: Some(0.9),
        left_chosen: 300,
        side_known: 600,
        chosen_longer: 310,
        rejected_longer: 290,
        on_policy: 400,
        near_identical: Some(0),
        chosen_reviewed: 600,
        both_recorded: 400,
    };
    record(
        facts,
        &[
            ("prompt-trial", "yes"),
            ("sft-start", "ckpt-1"),
            ("reference-model", "sha:1"),
        ],
    );
}

fn ask(facts: &CohortFacts) -> AdviceBook {
    advise(facts, &Rules::embedded().unwrap())
}

fn state(book: &AdviceBook, id: &str) -> GateState {
    book.advice.gates.iter().find(|g| g.id == id).unwrap().state
}

fn refused_by<'a>(book: &'a AdviceBook, method: &str) -> Vec<&'a str> {
    let of = book.advice.refusals.iter().filter(|r| r.method == method);
    of.map(|r| r.gate.as_str()).collect()
}

#[test]
fn s55_the_teaching_case_mends_the_index_first_and_keeps_the_order() {
    // SCIENCE part 4: 20 labelled failures, 10 index + 10 behaviour → s = 50% [0.30, 0.70] → rule 3.
    let book = ask(&failed(&[(Layer::Index, 10), (Layer::Model, 10)]));
    assert_eq!(
        (book.advice.rule, book.advice.headline.as_str()),
        (3, "runtime: index")
    );
    let s = book.advice.shares.system.unwrap();
    assert!(
        (s.share - 0.5).abs() < 1e-12
            && (s.low - 0.30).abs() < 0.005
            && (s.high - 0.70).abs() < 0.005
    );
    for method in ["SFT", "DPO", "RL"] {
        assert!(refused_by(&book, method).contains(&"G2"), "{method}");
    }
    let g2 = book
        .advice
        .refusals
        .iter()
        .find(|r| r.gate == "G2")
        .unwrap();
    assert_eq!(g2.value, "50% [30-70%] (10 of 20)");
    let order: Vec<usize> = [
        "fix the index",
        "comparison and clarification",
        "preference pairs",
        "agent RL only once",
    ]
    .iter()
    .map(|words| {
        book.advice
            .next
            .iter()
            .position(|n| n.contains(words))
            .unwrap_or_else(|| panic!("{words}: {:?}", book.advice.next))
    })
    .collect();
    assert!(order.is_sorted(), "{:?}", book.advice.next);
    assert!(
        book.advice
            .next
            .iter()
            .any(|n| n.contains("the 10 behaviour failures"))
    );
}

#[test]
fn after_the_index_fix_ten_failures_are_too_few_and_twenty_five_lead_to_sft() {
    let few = ask(&failed(&[(Layer::Model, 10)]));
    assert_eq!(
        (few.advice.rule, few.advice.headline.as_str()),
        (1, "collect and label only")
    );
    assert_eq!(state(&few, "G1a"), GateState::Fail);

    let mut facts = failed(&[(Layer::Model, 25)]);
    facts.attempts = AttemptFact {
        behaviour_tasks: 25,
        ever_passed: 0,
        ..AttemptFact::default()
    };
    ready_demonstrations(&mut facts);
    let book = ask(&facts);
    assert_eq!(
        (book.advice.rule, book.advice.headline.as_str()),
        (7, "SFT")
    );
    assert_eq!(book.allowed, ["SFT"]);
    assert!(refused_by(&book, "RL").contains(&"R5"));

    facts.recorded.remove("prompt-trial");
    assert_eq!(ask(&facts).advice.rule, 5);
}

#[test]
fn fixture_2_all_zero_and_every_tool_call_failed_is_the_environment() {
    // SCIENCE part 4, fixture 2; S-61, S-62: never "sample more".
    let mut facts = failed(&[(Layer::Environment, 20)]);
    facts.rewards = RewardFact {
        used: true,
        rollouts: 20,
        all_tools_failed: 20,
        hack_cases: 9,
        ..RewardFact::default()
    };
    let book = ask(&facts);
    assert_eq!(
        (book.advice.rule, book.advice.headline.as_str()),
        (2, "fix the environment")
    );
    assert_eq!(
        (state(&book, "G3"), state(&book, "R6")),
        (GateState::Fail, GateState::Fail)
    );
    assert!(book.advice.next.iter().all(|n| !n.contains("sample more")));
    // Without labels the first word is to label, and the outage is still named.
    facts.labels.clear();
    let book = ask(&facts);
    assert_eq!(book.advice.rule, 1);
    assert!(
        book.advice
            .next
            .iter()
            .any(|n| n.contains("fix the environment"))
    );
}

#[test]
fn fixture_3_pairs_without_reward_or_environment_allow_dpo() {
    // SCIENCE part 4, fixture 3; S-47: s = 5%, 600 valid pairs, prompt trial and SFT start recorded.
    let mut facts = failed(&[(Layer::Index, 2), (Layer::Model, 38)]);
    ready_pairs(&mut facts);
    let book = ask(&facts);
    assert_eq!(state(&book, "G3"), GateState::NotApplicable);
    assert_eq!(state(&book, "R1"), GateState::Unmeasured);
    assert_eq!(
        (book.advice.rule, book.advice.headline.as_str()),
        (8, "DPO")
    );
    assert_eq!(book.allowed, ["DPO"]);
}

#[test]
fn fixture_4_a_capture_proxy_alone_only_collects() {
    // SCIENCE part 4, fixture 4; S-34: environment, reward, model backend, evaluation are named.
    let mut facts = CohortFacts {
        cohort: "desk".into(),
        runs: 40,
        ..CohortFacts::default()
    };
    record(&mut facts, &[("capture", "gateway")]);
    let book = ask(&facts);
    assert_eq!(book.advice.rule, 1);
    let line = book
        .advice
        .next
        .iter()
        .find(|n| n.contains("only collects"))
        .unwrap();
    for part in ["environment", "reward", "model backend", "evaluation"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(book.allowed, [] as [&str; 0]);
}

#[test]
fn s02_without_labels_the_answer_is_to_localise_first() {
    let facts = CohortFacts {
        runs: 30,
        outcome_known: 30,
        failures: 30,
        ..CohortFacts::default()
    };
    let book = ask(&facts);
    assert_eq!(book.advice.rule, 1);
    assert!(book.advice.next[0].contains("localise first"));
    assert!(
        book.advice
            .next
            .iter()
            .any(|n| n.contains("20 more labelled failures")),
        "{:?}",
        book.advice.next
    );
    assert_eq!(ask(&CohortFacts::default()).advice.rule, 1);
}

#[test]
fn s04_an_unproven_model_label_stays_out_of_the_shares() {
    let mut facts = failed(&[(Layer::Index, 10), (Layer::Model, 20)]);
    for l in facts
        .labels
        .iter_mut()
        .filter(|l| l.layer == Layer::Model)
        .take(10)
    {
        l.proven = false;
    }
    let s = shares(&facts);
    assert_eq!((s.n, s.unproven), (20, 10));
    assert!((s.system.unwrap().share - 0.5).abs() < 1e-12);
}

#[test]
fn only_labels_drawn_at_random_enter_the_interval() {
    let mut facts = failed(&[(Layer::Index, 10), (Layer::Model, 10)]);
    facts.failures = 40;
    for l in facts.labels.iter_mut().filter(|l| l.layer == Layer::Index) {
        l.random = false;
    }
    let s = shares(&facts);
    assert_eq!(
        (s.n, s.picked_by_hand, s.system.unwrap().count),
        (10, 10, 0)
    );
    for l in &mut facts.labels {
        l.random = false;
    }
    let book = ask(&facts);
    let g2 = book.advice.gates.iter().find(|g| g.id == "G2").unwrap();
    assert!(g2.value.contains("no interval"), "{}", g2.value);
    // Every failure labelled: nothing was picked.
    facts.failures = 20;
    assert_eq!(shares(&facts).picked_by_hand, 0);
}

#[test]
fn g2_bands_and_ties() {
    let headline = |counts: &[(Layer, usize)]| {
        let book = ask(&failed(counts));
        (book.advice.rule, book.advice.headline)
    };
    // Ties: index, environment, context, tool.
    let tie = headline(&[
        (Layer::Context, 6),
        (Layer::Environment, 6),
        (Layer::Model, 8),
    ]);
    assert_eq!(tie, (3, "runtime: environment".to_owned()));
    let wait = headline(&[(Layer::Tool, 5), (Layer::Model, 15)]);
    assert_eq!(
        wait,
        (
            4,
            "runtime: tool, then evaluate the evidence-complete slice".to_owned()
        )
    );
    assert_eq!(headline(&[(Layer::Tool, 3), (Layer::Model, 17)]).0, 5);
}

#[test]
fn g1c_and_g3_unmeasured_never_fire_their_rules_but_refuse_training() {
    let mut facts = failed(&[(Layer::Model, 25)]);
    ready_demonstrations(&mut facts);
    facts.attempts = AttemptFact {
        behaviour_tasks: 25,
        ..AttemptFact::default()
    };
    facts.agreement = AgreementFact::default();
    facts.rewards = RewardFact {
        used: true,
        rollouts: 25,
        ..RewardFact::default()
    };
    let book = ask(&facts);
    assert_eq!(
        (state(&book, "G1c"), state(&book, "G3")),
        (GateState::Unmeasured, GateState::Unmeasured)
    );
    assert_eq!(book.advice.rule, 10);
    assert_eq!(refused_by(&book, "SFT"), ["G1c", "G3"]);
    let g3 = book
        .advice
        .refusals
        .iter()
        .find(|r| r.gate == "G3")
        .unwrap();
    assert!(g3.how.contains("rewards audit") && !g3.missing.is_empty());
}

#[test]
fn g3_needs_every_grader_before_the_suite_and_a_grader_that_accepts_something() {
    let mut facts = failed(&[(Layer::Model, 25)]);
    let healthy = RewardFact {
        used: true,
        rollouts: 25,
        hack_cases: 45,
        controls: 5,
        ..RewardFact::default()
    };
    let mut with = |change: fn(&mut RewardFact)| {
        let mut rewards = healthy.clone();
        change(&mut rewards);
        facts.rewards = rewards;
        state(&ask(&facts), "G3")
    };
    assert_eq!(with(|_| {}), GateState::Pass);
    assert_eq!(with(|r| r.fooled = 1), GateState::Fail);
    assert_eq!(with(|r| r.refused = 5), GateState::Fail);
    assert_eq!(with(|r| r.refused = 1), GateState::Pass);
    assert_eq!(with(|r| r.broke = 1), GateState::Unmeasured);
    let other = |r: &mut RewardFact| r.not_audited.push("other 2".to_owned());
    assert_eq!(with(other), GateState::Unmeasured);
}
