//! The rows on small runs.

use super::*;
use crate::domain::{EvidenceStatus, Outcome};
use crate::domain::{Owner, Reward, Role, Rollout, Step, StepKind, StepStatus};
use crate::triage::probe::{
    Cell, CellScore, GateFacts, Placement, ProbeMatrix, ProbeSettings, Variant, VariantScores,
    evaluate_probe,
};
use crate::triage::view::RunView;

fn steps(status: StepStatus, observed: &str) -> Vec<Step> {
    let mut all = vec![
        Step::new(Owner::User, StepKind::Text, Role::User, "q"),
        Step::new(Owner::Model, StepKind::ToolCall, Role::Assistant, "{}"),
        Step::new(Owner::Tool, StepKind::Observation, Role::Tool, observed),
        Step::new(Owner::Model, StepKind::Text, Role::Assistant, "a"),
    ];
    for (i, s) in (0..).zip(&mut all) {
        (s.index, s.message) = (i, i);
    }
    all[2].status = status;
    all[2].tool = Some("search".into());
    all
}

fn evidence(status: EvidenceStatus) -> Evidence {
    Evidence {
        doc_id: "leave".into(),
        version: Some("v2".into()),
        status,
        valid: Some(true),
        reason: format!("leave v2 is {status}"),
        decisive_step: Some(3),
        spans: vec![],
        seen: vec![],
    }
}

fn ask(
    steps: &[Step],
    evidence: &[Evidence],
    rewards: &[Reward],
    probe: Option<&ProbeReport>,
) -> (Layer, Option<u32>, Strength) {
    let rollout = Rollout::new("r", "atif", "f");
    let s = suggest(&SuggestFacts {
        run: RunView {
            rollout: &rollout,
            steps,
            calls: &[],
        },
        evidence,
        rewards,
        reviewed: None,
        decisive: None,
        probe,
    });
    assert!(!s.reason.is_empty());
    (s.layer, s.row, s.strength)
}

fn plain(evidence_status: EvidenceStatus) -> (Layer, Option<u32>, Strength) {
    ask(
        &steps(StepStatus::Ok, "doc"),
        &[evidence(evidence_status)],
        &[],
        None,
    )
}

#[test]
fn row_1_a_tool_failure_at_the_decisive_step_is_the_environment() {
    for status in [StepStatus::Error, StepStatus::Timeout, StepStatus::Denied] {
        let got = ask(
            &steps(status, "boom"),
            &[evidence(EvidenceStatus::NotRetrieved)],
            &[],
            None,
        );
        assert_eq!(got, (Layer::Environment, Some(1), Strength::Rule));
    }
    // A wrong argument is not the environment: the evidence decides.
    let got = ask(
        &steps(StepStatus::Error, "missing required field"),
        &[],
        &[],
        None,
    );
    assert_eq!(got, (Layer::Undetermined, None, Strength::None));
}

#[test]
fn row_1_an_earlier_failure_that_was_overcome_does_not_count() {
    let mut all = steps(StepStatus::Error, "503 unavailable");
    for (kind, owner, role, text) in [
        (StepKind::ToolCall, Owner::Model, Role::Assistant, "{}"),
        (StepKind::Observation, Owner::Tool, Role::Tool, "doc"),
        (StepKind::Text, Owner::Model, Role::Assistant, "answer"),
    ] {
        let i = u32::try_from(all.len()).unwrap();
        all.push(Step {
            index: i,
            message: i,
            ..Step::new(owner, kind, role, text)
        });
    }
    all[3].kind = StepKind::Reasoning;
    let got = ask(&all, &[evidence(EvidenceStatus::NotRetrieved)], &[], None);
    assert_eq!(got.0, Layer::Index);
}

#[test]
fn row_2_a_grader_that_the_verifier_contradicts() {
    let mut verifier = Reward::result("evidence", 1.0);
    verifier.isolated = Some(true);
    let got = ask(
        &steps(StepStatus::Ok, "doc"),
        &[],
        &[Reward::result("marker", 0.0), verifier],
        None,
    );
    assert_eq!(got, (Layer::Grader, Some(2), Strength::Rule));
    // The verifier says fail: the run did fail, and a marker that was fooled does not explain why.
    let mut verifier = Reward::result("evidence", 0.0);
    verifier.isolated = Some(true);
    let got = ask(
        &steps(StepStatus::Ok, "doc"),
        &[],
        &[Reward::result("marker", 1.0), verifier],
        None,
    );
    assert_eq!(got.1, None);
}

#[test]
fn rows_3_and_4_by_provenance_alone() {
    for status in [
        EvidenceStatus::NotIndexed,
        EvidenceStatus::StaleOnly,
        EvidenceStatus::NotRetrieved,
    ] {
        assert_eq!(plain(status), (Layer::Index, Some(3), Strength::Provenance));
    }
    assert_eq!(
        plain(EvidenceStatus::NotInPrompt),
        (Layer::Context, Some(4), Strength::Provenance)
    );
    assert_eq!(
        plain(EvidenceStatus::InPrompt),
        (Layer::Undetermined, None, Strength::None)
    );
    assert_eq!(
        plain(EvidenceStatus::Unknown),
        (Layer::Undetermined, None, Strength::None)
    );
}

#[test]
fn row_3_a_model_that_never_asked_is_no_index_fault() {
    let mut rollout = Rollout::new("r", "atif", "f");
    rollout.tools = vec![serde_json::json!({"name": "search"})];
    let mut all = vec![
        Step::new(Owner::User, StepKind::Text, Role::User, "q"),
        Step::new(Owner::Model, StepKind::Text, Role::Assistant, "a"),
    ];
    (all[1].index, all[1].message) = (1, 1);
    let e = [evidence(EvidenceStatus::NotRetrieved)];
    let s = suggest(&SuggestFacts {
        run: RunView {
            rollout: &rollout,
            steps: &all,
            calls: &[],
        },
        evidence: &e,
        rewards: &[],
        reviewed: None,
        decisive: None,
        probe: None,
    });
    assert_eq!((s.layer, s.row), (Layer::Model, Some(3)));
}

#[test]
fn row_3_a_query_to_the_wrong_tool_is_no_index_fault() {
    let mut rollout = Rollout::new("r", "atif", "f");
    rollout.tools = ["lookup", "search"]
        .map(|n| serde_json::json!({"name": n}))
        .to_vec();
    let mut all = steps(StepStatus::Ok, "3 people found");
    all[1].tool = Some("lookup".into());
    let layer = |steps: &[Step], rollout: &Rollout| {
        let e = [evidence(EvidenceStatus::NotRetrieved)];
        let s = suggest(&SuggestFacts {
            run: RunView {
                rollout,
                steps,
                calls: &[],
            },
            evidence: &e,
            rewards: &[],
            reviewed: None,
            decisive: None,
            probe: None,
        });
        (s.layer, s.row)
    };
    assert_eq!(layer(&all, &rollout), (Layer::Undetermined, Some(3)));
    // A document came back, so the query was fair; and with one tool there was no other to ask.
    let mut brought = all.clone();
    brought[2].documents = vec![crate::domain::DocRef {
        doc_id: "other".into(),
        version: None,
    }];
    assert_eq!(layer(&brought, &rollout), (Layer::Index, Some(3)));
    rollout.tools.truncate(1);
    assert_eq!(layer(&all, &rollout), (Layer::Index, Some(3)));
}

#[test]
fn a_reviewer_who_passes_what_the_grader_failed_points_at_the_grader() {
    let rollout = Rollout::new("r", "atif", "f");
    let all = steps(StepStatus::Ok, "doc");
    let s = suggest(&SuggestFacts {
        run: RunView {
            rollout: &rollout,
            steps: &all,
            calls: &[],
        },
        evidence: &[],
        rewards: &[Reward::result("g", 0.0)],
        reviewed: Some(Outcome::Pass),
        decisive: None,
        probe: None,
    });
    assert_eq!(s.layer, Layer::Grader);
}

fn scores(variant: Variant, changed: f64) -> VariantScores {
    let at = |m: f64| CellScore {
        corrected: m - 10.0,
        recorded: -10.0,
    };
    VariantScores {
        variant,
        author: "register".into(),
        diff: "+".into(),
        cells: (0..12)
            .map(|i| Cell {
                placement: Placement::Natural,
                wrapper: i,
            })
            .collect(),
        baseline: vec![at(-3.2); 12],
        changed: vec![at(changed); 12],
        placebos: vec![vec![at(-3.0); 3]; 12],
    }
}

fn probe(variants: &[(Variant, f64)], speaks: bool) -> ProbeReport {
    let matrix = ProbeMatrix {
        corrected_bytes: 20,
        recorded_bytes: 20,
        variants: variants.iter().map(|(v, m)| scores(*v, *m)).collect(),
    };
    let facts = GateFacts {
        fits_window: true,
        same_template: true,
        ..GateFacts::default()
    };
    evaluate_probe(&matrix, &facts, speaks, &ProbeSettings::default())
}

fn with(
    status: EvidenceStatus,
    variants: &[(Variant, f64)],
    speaks: bool,
) -> (Layer, Option<u32>, Strength) {
    let p = probe(variants, speaks);
    ask(
        &steps(StepStatus::Ok, "doc"),
        &[evidence(status)],
        &[],
        Some(&p),
    )
}

use Variant::{Context, Evidence as Doc, Moved, Oracle, Removed, Tool};

#[test]
fn toy_fixture_of_science_part_3() {
    let missing = EvidenceStatus::NotRetrieved;
    // m(x_E) = +1.1, oracle +4.0, status "not retrieved" → index.
    assert_eq!(
        with(missing, &[(Doc, 1.1), (Oracle, 4.0)], false),
        (Layer::Index, Some(3), Strength::Confirmed)
    );
    // m(x_E) = −2.8 → row 9.
    assert_eq!(
        with(missing, &[(Doc, -2.8), (Oracle, 4.0)], false),
        (Layer::Undetermined, Some(9), Strength::Probe)
    );
    // Oracle −3.0 → gate fails → undetermined.
    assert_eq!(
        with(missing, &[(Doc, 1.1), (Oracle, -3.0)], false),
        (Layer::Undetermined, Some(10), Strength::Probe)
    );
}

#[test]
fn probe_rows_4_to_8_and_10() {
    let in_prompt = EvidenceStatus::InPrompt;
    let lost = EvidenceStatus::NotInPrompt;
    assert_eq!(
        with(lost, &[(Context, 1.0), (Oracle, 4.0)], false).1,
        Some(4)
    );
    assert_eq!(
        with(lost, &[(Context, -3.0), (Oracle, 4.0)], false).1,
        Some(9)
    );
    assert_eq!(
        with(in_prompt, &[(Moved, 1.0), (Oracle, 4.0)], false),
        (Layer::Context, Some(6), Strength::Probe)
    );
    assert_eq!(
        with(in_prompt, &[(Removed, -3.1), (Oracle, 4.0)], true),
        (Layer::Model, Some(7), Strength::Probe)
    );
    assert_eq!(
        with(in_prompt, &[(Removed, -8.0), (Oracle, 4.0)], true),
        (Layer::Model, Some(8), Strength::Probe)
    );
    // A proxy's blindness is not the model's.
    assert_eq!(
        with(in_prompt, &[(Removed, -3.1), (Oracle, 4.0)], false),
        (Layer::Undetermined, Some(7), Strength::Probe)
    );
    assert_eq!(
        with(
            in_prompt,
            &[(Doc, 1.0), (Context, 1.0), (Oracle, 4.0)],
            true
        )
        .1,
        Some(10)
    );
}

#[test]
fn row_5_needs_a_tool_decision() {
    let p = probe(&[(Tool, 2.0), (Oracle, 4.0)], false);
    let e = [evidence(EvidenceStatus::InPrompt)];
    let mut all = steps(StepStatus::Ok, "doc");
    assert_eq!(ask(&all, &e, &[], Some(&p)).1, None);
    all[3].kind = StepKind::ToolCall;
    assert_eq!(
        ask(&all, &e, &[], Some(&p)),
        (Layer::Tool, Some(5), Strength::Probe)
    );
}

#[test]
fn a_table_counts_layers_statuses_and_silence() {
    let rollout = Rollout::new("r", "atif", "f");
    let all = steps(StepStatus::Ok, "doc");
    let one = |status: EvidenceStatus, p: Option<&ProbeReport>| {
        let e = [evidence(status)];
        suggest(&SuggestFacts {
            run: RunView {
                rollout: &rollout,
                steps: &all,
                calls: &[],
            },
            evidence: &e,
            rewards: &[],
            reviewed: None,
            decisive: None,
            probe: p,
        })
    };
    let shifted = probe(&[(Doc, 1.1), (Oracle, 4.0)], false);
    let table = suggestion_table(&[
        one(EvidenceStatus::NotRetrieved, Some(&shifted)),
        one(EvidenceStatus::StaleOnly, None),
        one(EvidenceStatus::InPrompt, None),
        one(EvidenceStatus::InPrompt, None),
    ]);
    assert_eq!(
        (
            table.layers[&Layer::Index],
            table.layers[&Layer::Undetermined]
        ),
        (2, 2)
    );
    assert_eq!(
        (table.abstention, table.confirmed, table.standing.len()),
        (Some(0.5), 1, 1)
    );
    assert_eq!(table.statuses[&EvidenceStatus::InPrompt], 2);
    assert_eq!(suggestion_table(&[]).abstention, None);
}

#[test]
fn the_machine_is_compared_with_blind_verdicts_as_one_more_reviewer() {
    let runs: Vec<crate::domain::RunId> = ["a", "b", "c", "d"].map(Into::into).to_vec();
    let labels = [
        (Layer::Index, Layer::Index),
        (Layer::Index, Layer::Tool),
        (Layer::Tool, Layer::Tool),
        (Layer::Tool, Layer::Tool),
    ];
    let report = machine_agreement(runs.iter().zip(labels).map(|(r, (p, m))| (r, p, m)), 1);
    let kappa = report
        .statistics
        .iter()
        .find(|s| s.statistic == "cohen-kappa")
        .unwrap();
    // By hand: p_o = 3/4, p_e = (2·1 + 2·3)/16 = 1/2 → κ = 1/2.
    assert!((kappa.value.unwrap() - 0.5).abs() < 1e-12);
    assert_eq!(report.disagreements.len(), 1);
}
