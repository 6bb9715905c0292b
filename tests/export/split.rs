//! Splits: whole groups, chosen by a seed; leaks across them stop the export (S-76, S-77).

use super::fixtures::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use triagent::domain::*;
use triagent::export::*;

fn arbitrary_head() -> impl Strategy<Value = RunHead> {
    let task = prop::option::of(0..12u8);
    let documents = prop::collection::vec(0..6u8, 0..3);
    (
        any::<u32>(),
        task,
        prop::option::of(0..4u8),
        documents,
        0..5u8,
    )
        .prop_map(|(run, task, scenario, documents, request)| RunHead {
            run: RunId::from(format!("r{run}")),
            task: task.map(|t| TaskId::from(format!("t{t}"))),
            scenario: scenario.map(|s| format!("s{s}")),
            documents: documents.into_iter().map(|d| format!("d{d}")).collect(),
            request: format!("request {request}"),
        })
}

fn parts_by(
    heads: &[RunHead],
    plan: &Plan,
    key: impl Fn(&RunHead) -> Vec<String>,
) -> BTreeMap<String, BTreeSet<Part>> {
    let mut out: BTreeMap<String, BTreeSet<Part>> = BTreeMap::new();
    for head in heads {
        for key in key(head) {
            out.entry(key).or_default().insert(plan.part(&head.run));
        }
    }
    out
}

proptest! {
    /// S-76: whatever the data, no task, document or scenario stands on two sides, and the order of runs is nothing.
    #[test]
    fn no_group_straddles(
        heads in prop::collection::vec(arbitrary_head(), 0..60),
        seed in any::<u64>(),
        validation in 0..60u8,
        test in 0..40u8,
    ) {
        for by in [GroupBy::Task, GroupBy::Document, GroupBy::Scenario] {
            let options = SplitOptions { by, seed, validation, test, near_duplicates: NearDuplicates::Block };
            let plan = Plan::new(&heads, &options, &[]);
            let task = |h: &RunHead| h.task.iter().map(ToString::to_string).collect::<Vec<_>>();
            let group = |h: &RunHead| match by {
                GroupBy::Task => task(h),
                GroupBy::Document => h.documents.clone(),
                GroupBy::Scenario => h.scenario.iter().cloned().collect(),
            };
            prop_assert!(parts_by(&heads, &plan, task).values().all(|p| p.len() == 1));
            prop_assert!(parts_by(&heads, &plan, group).values().all(|p| p.len() == 1));
            let mut turned = heads.clone();
            turned.reverse();
            let again = Plan::new(&turned, &options, &[]);
            prop_assert!(heads.iter().all(|h| plan.part(&h.run) == again.part(&h.run)));
        }
    }

    /// A held-out task stays held out when the set grows: runs of other tasks change nothing.
    #[test]
    fn a_side_is_kept_when_the_set_grows(
        heads in prop::collection::vec(arbitrary_head(), 1..30),
        more in prop::collection::vec(arbitrary_head(), 0..30),
        seed in any::<u64>(),
    ) {
        let options = SplitOptions { seed, validation: 50, ..SplitOptions::default() };
        let grown: Vec<RunHead> = heads.iter().chain(&more).cloned().collect();
        let (before, after) = (Plan::new(&heads, &options, &[]), Plan::new(&grown, &options, &[]));
        let untouched = |h: &&RunHead| !more.iter().any(|m| m.run == h.run);
        prop_assert!(heads.iter().filter(untouched).all(|h| before.part(&h.run) == after.part(&h.run)));
    }
}

fn head_of(run: &str, task: &str, request: &str) -> RunHead {
    RunHead {
        run: RunId::from(run),
        task: Some(TaskId::from(task)),
        scenario: None,
        documents: Vec::new(),
        request: request.to_owned(),
    }
}

/// 10,000 tasks at 20% and 10%: shares within three standard errors of a binomial (0.4% and 0.3%).
#[test]
fn shares_are_what_was_asked_for() {
    let heads: Vec<RunHead> = (0..10_000)
        .map(|n| head_of(&format!("r{n}"), &format!("t{n}"), ""))
        .collect();
    let options = SplitOptions {
        validation: 20,
        test: 10,
        seed: 3,
        ..SplitOptions::default()
    };
    let plan = Plan::new(&heads, &options, &[]);
    let share = |part| plan.groups[&part] as f64 / 10_000.0;
    assert!(
        (share(Part::Validation) - 0.2).abs() < 0.012,
        "{}",
        share(Part::Validation)
    );
    assert!(
        (share(Part::Test) - 0.1).abs() < 0.009,
        "{}",
        share(Part::Test)
    );
}

/// A seed under which the two tasks of the fixture fall on two sides.
fn apart(runs: &[RunInput]) -> SplitOptions {
    let heads: Vec<RunHead> = runs.iter().map(head).collect();
    let options = |seed| SplitOptions {
        seed,
        validation: 50,
        ..SplitOptions::default()
    };
    (0..1000)
        .map(options)
        .find(|o| {
            let plan = Plan::new(&heads, o, &[]);
            plan.part(&runs[0].head.id) == Part::Train
                && plan.part(&runs[2].head.id) == Part::Validation
        })
        .unwrap()
}

#[test]
fn rows_go_to_the_side_of_their_group() {
    let runs = four();
    let options = Options {
        split: Some(apart(&runs)),
        ..Options::new(Format::TrlDpo)
    };
    let out = export_with(&options, input(&runs, &pairs(&runs))).unwrap();
    let train: Vec<_> = out.rows().iter().map(|r| r["task_id"].clone()).collect();
    assert_eq!(train, ["complete", "complete"]);
    assert!(
        out.text("validation.jsonl")
            .contains("\"task_id\":\"missing-condition\"")
    );
    assert_eq!(
        out.manifest.rows,
        BTreeMap::from([("train", 2), ("validation", 1)])
    );
}

fn gate(options: &Options<'_>, input: Input<'_>) -> Option<&'static str> {
    match export_with(options, input) {
        Err(Error::Blocked { blocks, .. }) => blocks.first().map(|b| b.gate),
        _ => None,
    }
}

fn near(action: Option<FindingAction>) -> FindingState {
    FindingState {
        finding: Finding {
            id: "n1".to_owned(),
            kind: FindingKind::Duplicate,
            rule: "near-duplicate".to_owned(),
            place: None,
            tasks: vec![TaskId::from("complete"), TaskId::from("missing-condition")],
            placeholder: None,
            excerpt: String::new(),
            reason: String::new(),
            score: Some(0.9),
        },
        action,
    }
}

/// S-77: near-duplicate tasks on two sides block until somebody decides or joins them.
#[test]
fn near_duplicates_across_the_split_block_until_resolved() {
    let runs = four();
    let with_finding = |action| {
        let mut input = input(&runs, &pairs(&runs));
        input.facts.cleaning.as_mut().unwrap().findings = vec![near(action)];
        input
    };
    let mut options = Options {
        split: Some(apart(&runs)),
        ..Options::new(Format::TrlDpo)
    };
    assert_eq!(gate(&options, with_finding(None)), Some("S-77"));
    assert_eq!(
        gate(&options, with_finding(Some(FindingAction::Keep))),
        None
    );
    options.split.as_mut().unwrap().near_duplicates = NearDuplicates::Join;
    let out = export_with(&options, with_finding(None)).unwrap();
    assert_eq!(out.manifest.rows.len(), 1);
}

/// S-77: thirteen words in a row on both sides; what many requests share is boilerplate.
#[test]
fn a_long_passage_on_two_sides_blocks() {
    let runs = four();
    let leak = "please compare the lodging limits of the two policy versions for interns on short trips to Shanghai in March";
    let mut leaking = input(&runs, &pairs(&runs));
    for head in &mut leaking.facts.heads {
        head.request = format!("{} {leak}", head.request);
    }
    let options = Options {
        split: Some(apart(&runs)),
        ..Options::new(Format::TrlDpo)
    };
    assert_eq!(gate(&options, leaking), Some("S-77"));
    // Twelve tasks with the same opening words: boilerplate, counted and not blocking.
    let mut common = input(&runs, &pairs(&runs));
    let other = (0..40).map(|n| {
        head_of(
            &format!("x{n}"),
            &format!("x{n}"),
            &format!("{leak} case {n}"),
        )
    });
    common.facts.heads.extend(other);
    let out = export_with(&options, common).unwrap();
    assert!(out.manifest.leaks.leaks.is_empty() && out.manifest.leaks.boilerplate > 0);
}

#[test]
fn chinese_passages_are_compared_by_characters() {
    let runs = four();
    let mut leaking = input(&runs, &pairs(&runs));
    for head in &mut leaking.facts.heads {
        head.request = format!("{}请按照二零二六年版差旅办法逐条核对", head.request);
    }
    let options = Options {
        split: Some(apart(&runs)),
        ..Options::new(Format::TrlDpo)
    };
    assert_eq!(gate(&options, leaking), Some("S-77"));
}
