//! One injected fault for each refusal: it must never come out, and the reason must be told. The faults are those of
//! TRAINING A1 and A9 and of S-15, S-16, S-18, S-24, S-36 to S-46, S-52, S-54.

use super::fixtures::*;
use serde_json::json;
use triagent::domain::*;
use triagent::export::*;

/// A pair with one fault stays out with this code.
fn refused(change: impl FnOnce(&mut Pair), code: &str) {
    let runs = four();
    let faulty = with(pairs(&runs).remove(0), change);
    let out = export(Format::TrlDpo, &runs, &[faulty]);
    assert_eq!(out.left_out(), [format!("p1 {code}")]);
    assert_eq!(out.rows(), Vec::<serde_json::Value>::new());
}

#[test]
fn faulty_pairs_stay_out() {
    refused(|p| p.choice = Choice::Tie, "no-preference"); // S-46
    refused(|p| p.choice = Choice::BothBad, "no-preference"); // S-46
    refused(|p| p.choice = Choice::NotComparable, "no-preference");
    refused(|p| p.reason = "  ".to_owned(), "missing-reason"); // S-42
    refused(|p| p.criteria.clear(), "missing-criteria"); // S-42
    refused(
        |p| p.criteria = vec![Criterion::OnlySmoother],
        "only-smoother",
    ); // S-42
    refused(|p| p.standard = None, "missing-standard"); // S-43
    refused(|p| p.context_hash = "0".repeat(32), "context-changed"); // S-41
    refused(|p| p.b = recorded("stale-citation", 2), "context-mismatch"); // S-41
    refused(|p| p.b = p.a.clone(), "context-mismatch"); // the run handed in is not the one it names
    let same = ChatMessage::text(Role::Assistant, "上限为 600 元/晚 [T-7 v3]。");
    refused(
        move |p| p.b = human("stale-citation", 4, same),
        "identical-sides",
    ); // TRAINING A1
    let blank = ChatMessage::text(Role::Assistant, " \n");
    refused(
        move |p| p.a = human("correct-citation", 4, blank),
        "empty-side",
    ); // TRAINING A1
    let broken = ChatMessage {
        tool_calls: vec![ToolCall {
            id: None,
            name: "search".to_owned(),
            arguments: "{\"q\": ".to_owned(),
        }],
        ..ChatMessage::text(Role::Assistant, "")
    };
    refused(
        move |p| p.a = human("correct-citation", 4, broken),
        "malformed-arguments",
    ); // TRAINING A9
    let nameless = ChatMessage {
        tool_calls: vec![ToolCall {
            id: None,
            name: String::new(),
            arguments: "{}".to_owned(),
        }],
        ..ChatMessage::text(Role::Assistant, "")
    };
    refused(
        move |p| p.a = human("correct-citation", 4, nameless),
        "nameless-tool",
    );
}

/// S-42, S-43: a task standard may allow `only-smoother`, and names its version.
#[test]
fn a_task_standard_decides_whether_smoother_is_enough() {
    let runs = four();
    let smoother = with(pairs(&runs).remove(0), |p| {
        p.criteria = vec![Criterion::OnlySmoother];
        p.standard = None;
    });
    let mut input = input(&runs, &[smoother]);
    input.facts.tasks = vec![
        serde_json::from_value(json!({"task_id": "complete",
        "standard": {"version": "style-2", "criteria": ["smoother"], "smoother_alone": true}}))
        .unwrap(),
    ];
    let out = export_with(&Options::new(Format::TrlDpo), input).unwrap();
    assert_eq!(out.rows()[0]["standard"], "style-2");
}

/// A run with one fault gives no row of its last decision.
fn no_demonstration(change: impl FnOnce(&mut RunInput), expected: &[&str]) {
    let mut runs = vec![four().remove(3)];
    change(&mut runs[0]);
    let options = Options {
        purpose: Purpose::Draft,
        ..Options::new(Format::TrlSft)
    };
    let out = export_with(&options, input(&runs, &[])).unwrap();
    assert_eq!(out.left_out(), expected);
    assert!(
        out.rows()
            .iter()
            .all(|r| r["id"] != "correct-clarification:4")
    );
}

fn finding(kind: FindingKind, step: Option<u32>, action: Option<FindingAction>) -> FindingState {
    FindingState {
        finding: Finding {
            id: "f1".to_owned(),
            kind,
            rule: "r".to_owned(),
            place: Some(FindingPlace {
                run: RunId::from("correct-clarification"),
                step,
                field: "text".to_owned(),
                start: 0,
                end: 1,
            }),
            tasks: Vec::new(),
            placeholder: Some("[EMAIL_1]".to_owned()),
            excerpt: String::new(),
            reason: String::new(),
            score: None,
        },
        action,
    }
}

#[test]
fn faulty_runs_give_no_demonstration() {
    let run = "correct-clarification";
    let whole = |code: &str| [format!("{run} {code}")];
    let check = |change: &dyn Fn(&mut RunInput), expected: &[String]| {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        no_demonstration(change, &expected);
    };
    check(&|r| r.head.outcome = Outcome::Fail, &whole("not-a-success")); // S-36
    check(
        &|r| r.head.outcome = Outcome::Unknown,
        &whole("not-a-success"),
    );
    check(
        &|r| r.rewards[0].status = RewardStatus::Contaminated,
        &whole("reward-not-usable"),
    ); // S-52
    check(
        &|r| r.rewards[0].status = RewardStatus::Untrusted,
        &whole("reward-not-usable"),
    ); // S-72
    check(
        &|r| r.rewards[0].side_effects = Some(vec!["paid twice".to_owned()]),
        &whole("side-effect"),
    ); // S-54
    check(&|r| r.head.outcome_only = true, &whole("outcome-only")); // S-18
    check(
        &|r| r.findings = vec![finding(FindingKind::Tamper, Some(2), None)],
        &whole("cannot-demonstrate"),
    ); // S-72
    check(
        &|r| {
            r.findings = vec![finding(
                FindingKind::Evidence,
                Some(4),
                Some(FindingAction::Redact),
            )];
        },
        &whole("cannot-demonstrate"),
    );
    let last = |code: &str| [format!("{run}:4 {code}")];
    check(
        &|r| r.steps[3].owner = Owner::Unknown,
        &last("unknown-owner"),
    ); // S-16
    check(&|r| r.steps[4].owner = Owner::Unknown, &[]);
    check(
        &|r| r.findings = vec![finding(FindingKind::Secret, Some(3), None)],
        &last("unresolved-finding"),
    );
    check(
        &|r| {
            r.findings = vec![finding(
                FindingKind::Secret,
                Some(3),
                Some(FindingAction::Drop),
            )];
        },
        &last("dropped-finding"),
    );
    // Somebody said "redact", and the words are not found again: they must not leave as they are.
    check(
        &|r| {
            r.findings = vec![finding(
                FindingKind::Secret,
                Some(3),
                Some(FindingAction::Redact),
            )];
        },
        &last("words-not-found"),
    );
    // The tool list goes to the trainer as the model saw it, so nothing in it can be replaced.
    check(
        &|r| {
            let mut inside = finding(FindingKind::Secret, None, Some(FindingAction::Redact));
            inside.finding.place.as_mut().unwrap().field = "tools".to_owned();
            r.findings = vec![inside];
            r.redactions = vec![Redaction {
                finding: "f1".to_owned(),
                words: "policies".to_owned(),
                placeholder: "[SECRET_1]".to_owned(),
            }];
        },
        &[
            format!("{run}:2 redacted-tools"),
            format!("{run}:4 redacted-tools"),
        ],
    );
    check(&|r| r.steps[4].off_path = true, &last("off-path")); // S-24
    check(&|r| r.steps[4].copied = true, &last("copied"));
    let call = |adopted, finish: Option<&str>| Call {
        adopted,
        finish_reason: finish.map(str::to_owned),
        ..Call::default()
    };
    check(
        &|r| {
            r.calls = vec![call(Adopted::No, None)];
            r.steps[4].call = Some(0);
        },
        &last("not-adopted"),
    ); // S-24
    check(
        &|r| {
            r.calls = vec![call(Adopted::Yes, Some("length"))];
            r.steps[4].call = Some(0);
        },
        &last("cut-by-limit"),
    );
    check(
        &|r| {
            let retry = |index| Call {
                index,
                logical_request_id: Some("q".to_owned()),
                ..Call::default()
            };
            r.calls = vec![retry(0), retry(1)];
            r.steps[4].call = Some(1);
        },
        &last("adoption-unknown"),
    ); // S-24
    let both = [
        format!("{run}:2 malformed-arguments"),
        format!("{run}:4 malformed-arguments"),
    ];
    check(&|r| r.steps[2].text = "{\"query\": 住宿".to_owned(), &both);
    check(&|r| r.steps[4].text = "  ".to_owned(), &last("empty-side"));
}

/// S-24: the contract can be widened, and the manifest says so.
#[test]
fn attempts_of_unknown_adoption_enter_only_when_asked() {
    let mut run = four().remove(3);
    let retry = |index| Call {
        index,
        logical_request_id: Some("q".to_owned()),
        ..Call::default()
    };
    run.calls = vec![retry(0), retry(1)];
    run.steps[4].call = Some(1);
    let options = Options {
        attempts: Attempts::AdoptedOrUnknown,
        ..Options::new(Format::TrlSft)
    };
    let out = export_with(&options, input(&[run], &[])).unwrap();
    assert_eq!(out.rows().len(), 2);
    assert_eq!(out.manifest.units.attempts, "adopted-or-unknown");
}

/// S-04: an unproven `model` verdict keeps its run out of the rejected side.
#[test]
fn an_unproven_model_verdict_is_no_rejected_side() {
    let mut runs = four();
    let mut verdict = Verdict::new(RunId::from("stale-citation"), Layer::Model);
    runs[1].verdict = Some(verdict.clone());
    let out = export(Format::TrlDpo, &runs, &pairs(&runs)[..1]);
    assert_eq!(out.left_out(), ["p1 model-unproven"]);
    verdict.checklist = Checklist {
        document_visible: true,
        version_valid: true,
        date_in_context: true,
        tool_text_clear: true,
    };
    runs[1].verdict = Some(verdict);
    assert_eq!(
        export(Format::TrlDpo, &runs, &pairs(&runs)[..1])
            .rows()
            .len(),
        1
    );
}

#[test]
fn reviewers_who_differ_settle_it_first_and_those_who_agree_count_once() {
    let runs = four();
    let first = pairs(&runs).remove(0);
    let other = |id: &str, choice| {
        let mut p = with(first.clone(), |p| p.choice = choice);
        p.record.id = DecisionId::from(id);
        p
    };
    let differ = export(
        Format::TrlDpo,
        &runs,
        &[first.clone(), other("p9", Choice::B)],
    );
    assert_eq!(differ.left_out(), ["p1 disagreement", "p9 disagreement"]);
    let agree = export(
        Format::TrlDpo,
        &runs,
        &[first.clone(), other("p9", Choice::A)],
    );
    assert_eq!(
        (agree.rows().len(), agree.left_out()),
        (1, vec!["p9 same-decision".to_owned()])
    );
}

#[test]
fn the_same_row_is_said_once() {
    let mut runs = vec![four().remove(3), four().remove(3)];
    runs[1].head.id = RunId::from("again");
    let out = export(Format::TrlSft, &runs, &[]);
    assert_eq!(
        out.left_out(),
        ["again:2 duplicate-row", "again:4 duplicate-row"]
    );
}

/// Length and template, asked through the target model (TRAINING A1, A9).
#[test]
fn the_target_model_has_the_last_word() {
    let runs = vec![four().remove(3)];
    let check = |measured: Result<Measured, String>, limit, expected: &str| {
        let measure =
            move |_: &[ChatMessage], _: &ChatMessage, _: &[serde_json::Value]| measured.clone();
        let options = Options {
            target: Some(Target {
                has_generation_marks: true,
                measure: &measure,
            }),
            limits: Limits {
                tokens: limit,
                ..Limits::default()
            },
            purpose: Purpose::Draft,
            ..Options::new(Format::TrlSft)
        };
        let out = export_with(&options, input(&runs, &[])).unwrap();
        let codes: Vec<&str> = out.manifest.left_out.iter().map(|l| l.code).collect();
        assert_eq!(
            codes,
            vec![expected; if expected.is_empty() { 0 } else { 2 }],
            "{expected}"
        );
    };
    let tokens = |prompt, target| Measured {
        prompt_tokens: prompt,
        target_tokens: target,
        ..Measured::default()
    };
    check(Ok(tokens(900, 124)), Some(1024), "");
    check(Ok(tokens(900, 125)), Some(1024), "too-long");
    // The prompt alone is at the limit: TRL drops the whole row silently.
    check(Ok(tokens(1024, 1)), Some(1024), "too-long");
    check(Ok(tokens(9000, 1250)), None, "");
    check(Err("content is null".to_owned()), None, "template-fails");
    check(
        Ok(Measured {
            drops: vec!["leaves tools out: search".to_owned()],
            ..Measured::default()
        }),
        None,
        "template-drops",
    );
}

#[test]
fn whole_conversations_need_generation_marks() {
    let runs = four();
    let measure =
        |_: &[ChatMessage], _: &ChatMessage, _: &[serde_json::Value]| Ok(Measured::default());
    let target = |marks| {
        Some(Target {
            has_generation_marks: marks,
            measure: &measure,
        })
    };
    let options = |marks, format| Options {
        shape: Shape::Messages,
        target: target(marks),
        ..Options::new(format)
    };
    let refused = export_with(&options(false, Format::TrlSft), input(&runs, &[]));
    assert!(refused.err().unwrap().to_string().contains("generation"));
    assert!(export_with(&options(true, Format::TrlDpo), input(&runs, &[])).is_err());
    let out = export_with(&options(true, Format::TrlSft), input(&runs, &[])).unwrap();
    assert_eq!(out.rows().len(), 2);
    assert!(out.manifest.trainer_settings["assistant_only_loss"].starts_with("True"));
    assert!(out.text("README.md").contains("assistant_only_loss"));
}

/// The code of every gate that is closed.
fn blocked(options: &Options<'_>, input: Input<'_>) -> Vec<&'static str> {
    match export_with(options, input) {
        Err(Error::Blocked { blocks, .. }) => blocks.iter().map(|b| b.gate).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn closed_gates_stop_the_set_and_a_draft_says_so() {
    let runs = four();
    let no_question = vec![runs[0].clone()];
    assert_eq!(
        blocked(&Options::new(Format::TrlSft), input(&no_question, &[])),
        ["S-38"]
    );
    let mut no_reference = input(&runs, &pairs(&runs));
    no_reference.facts.bindings.reference = None;
    assert_eq!(
        blocked(&Options::new(Format::TrlDpo), no_reference),
        ["S-45"]
    );
    let mut not_cleaned = input(&runs, &pairs(&runs));
    not_cleaned.facts.cleaning = None;
    assert_eq!(
        blocked(&Options::new(Format::TrlDpo), not_cleaned),
        ["S-40"]
    );
    let draft = Options {
        purpose: Purpose::Draft,
        ..Options::new(Format::TrlSft)
    };
    let out = export_with(&draft, input(&no_question, &[])).unwrap();
    assert!(!out.manifest.acceptable_for_training && out.manifest.blocked[0].gate == "S-38");
    assert!(
        out.text("README.md")
            .contains("Not acceptable for training")
    );
}

/// A blocked export leaves nothing behind, and an earlier one as it was.
#[test]
fn a_blocked_export_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let runs = four();
    let write_to = |runs: &[RunInput]| {
        write(
            input(runs, &[]),
            &Options::new(Format::TrlSft),
            dir.path(),
            &Progress::default(),
        )
    };
    write_to(&runs).unwrap();
    let before = std::fs::read(dir.path().join("train.jsonl")).unwrap();
    assert!(write_to(&runs[..1]).is_err());
    assert_eq!(
        std::fs::read(dir.path().join("train.jsonl")).unwrap(),
        before
    );
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["README.md", "manifest.json", "train.jsonl"]);
    // A second export of another format takes the place of the first; nothing of it stays.
    write(
        input(&runs, &pairs(&runs)),
        &Options::new(Format::OpenaiDpo),
        dir.path(),
        &Progress::default(),
    )
    .unwrap();
    assert!(dir.path().join("origin/train.jsonl").is_file());
    write_to(&runs).unwrap();
    assert!(!dir.path().join("origin/train.jsonl").exists());
}

#[test]
fn a_file_that_is_not_ours_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("train.jsonl"), "mine").unwrap();
    let result = write(
        input(&four(), &[]),
        &Options::new(Format::TrlSft),
        dir.path(),
        &Progress::default(),
    );
    assert!(matches!(result, Err(Error::InTheWay(_))));
    assert_eq!(
        std::fs::read_to_string(dir.path().join("train.jsonl")).unwrap(),
        "mine"
    );
}

#[test]
fn a_cancelled_export_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    progress.cancel();
    let result = write(
        input(&four(), &[]),
        &Options::new(Format::TrlSft),
        dir.path(),
        &progress,
    );
    assert!(matches!(result, Err(Error::Cancelled)));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// S-31: the legacy layout and 1.0 never mix in one set.
#[test]
fn two_stages_of_agent_lightning_do_not_mix() {
    let mut runs = four();
    runs[0].head.format = "agent-lightning-0".to_owned();
    runs[1].head.format = "agent-lightning-1".to_owned();
    let mixed = export_with(&Options::new(Format::AgentLightning), input(&runs, &[]));
    assert!(mixed.err().unwrap().to_string().contains("do not mix"));
    assert_eq!(
        export(Format::AgentLightning, &runs[1..], &[]).rows().len(),
        2
    );
}

/// TRAINING A2: one path, two types. The row stays as the model wrote it, and the warning names both places.
#[test]
fn arguments_of_mixed_type_are_told_with_their_rows() {
    let told = |format, arguments: &[&str]| {
        let mut runs = vec![four().remove(3)];
        for (n, arguments) in arguments.iter().enumerate() {
            let run = Story::new(&format!("r{n}"), &format!("t{n}"))
                .user("q")
                .calls("other-tool", arguments)
                .gets("ok");
            runs.push(run.says("Which year?").passes());
        }
        let out = export(format, &runs, &[]);
        let warnings = out.manifest.warnings.into_iter();
        warnings
            .filter(|w| w.starts_with("arguments of mixed type"))
            .collect::<Vec<_>>()
    };
    // The fixture's own call has a string under `query`; a reader merges all tools.
    let mixed = told(Format::TrlSft, &[r#"{"query": 7}"#]);
    assert_eq!(mixed.len(), 1);
    assert!(
        mixed[0].contains("`query` is a string in correct-clarification:2 and a number in r0:1"),
        "{mixed:?}"
    );
    let nested = [r#"{"a": {"b": [1]}}"#, r#"{"a": {"b": ["x"]}}"#];
    assert!(told(Format::TrlSft, &nested)[0].contains("`a.b.[]`"));
    // Different keys and nulls are no mixture, and strings hide their types.
    let keys = [r#"{"x": 1}"#, r#"{"y": "1"}"#, r#"{"x": null}"#];
    assert_eq!(told(Format::TrlSft, &keys), Vec::<String>::new());
    assert_eq!(
        told(Format::OpenaiSft, &[r#"{"query": 7}"#]),
        Vec::<String>::new()
    );
}

/// A side that the model did not write, a record that is no pair, a prompt that asks nothing.
#[test]
fn what_is_no_decision_of_the_model_teaches_nothing() {
    refused(|p| p.b = recorded("stale-citation", 3), "context-mismatch");
    let runs = four();
    let users = with(pairs(&runs).remove(0), |p| {
        p.a = recorded("correct-citation", 3);
        p.b = recorded("stale-citation", 3);
        let before = triagent::domain::chat::context_before(&runs[0].steps, 3);
        let (task, tools) = (runs[0].head.task.as_ref(), &runs[0].head.tools);
        p.context_hash = triagent::domain::pair::context_hash(task, &before, tools);
    });
    let out = export(Format::TrlDpo, &runs, &[users]);
    assert_eq!(out.left_out(), ["p1 not-the-models"]);

    let mut other = pairs(&runs).remove(0);
    other.record.decision = Decision::Verdict(Verdict::new(RunId::from("x"), Layer::Index));
    let out = export(Format::TrlDpo, &runs, &[other]);
    assert_eq!(out.left_out(), ["p1 no-target"]);

    let mut unasked = four().remove(3);
    unasked.steps.drain(..2);
    let out = export(Format::TrlGrpo, std::slice::from_ref(&unasked), &[]);
    assert_eq!(out.left_out(), ["correct-clarification no-prompt"]);
    let mut first = Story::new("first", "t").says("Which year?").passes();
    first.steps[0].index = 0;
    let options = Options {
        purpose: Purpose::Draft,
        ..Options::new(Format::TrlSft)
    };
    let out = export_with(&options, input(&[first], &[])).unwrap();
    assert_eq!(out.left_out(), ["first:0 no-prompt"]);
}

/// The words stand where a placeholder would leave no JSON.
#[test]
fn a_redaction_that_breaks_arguments_keeps_the_row_out() {
    no_demonstration(
        |r| {
            r.findings = vec![finding(
                FindingKind::Secret,
                Some(2),
                Some(FindingAction::Redact),
            )];
            r.redactions = vec![Redaction {
                finding: "f1".to_owned(),
                words: r#""query":"#.to_owned(),
                placeholder: "[SECRET_1]".to_owned(),
            }];
        },
        &[
            "correct-clarification:2 redaction-breaks",
            "correct-clarification:4 redaction-breaks",
        ],
    );
}

/// What a consumer's rows cannot say is listed: a call without its answer, turns out of turn, an assistant message that
/// must not be trained.
#[test]
fn a_consumer_that_cannot_say_a_row_does_not_get_it() {
    let code = |format, shape, runs: &[RunInput], pairs: &[PairInput]| {
        let options = Options {
            shape,
            purpose: Purpose::Draft,
            ..Options::new(format)
        };
        let out = export_with(&options, input(runs, pairs)).unwrap();
        let codes = out.manifest.left_out.iter().map(|l| l.code);
        (
            codes.filter(|c| *c == "format-cannot-say").count(),
            out.manifest.rows.values().sum::<u64>(),
        )
    };
    let plain = Shape::default();
    // The platform wants an answer for every call but the last message's.
    let unanswered = Story::new("r", "t").user("q").calls("search", "{}");
    let unanswered = unanswered.user("go on").says("Which year?").passes();
    assert_eq!(
        code(Format::OpenaiSft, plain, &[unanswered], &[]),
        (1, 0),
        "openai-sft"
    );
    // Turns must take turns.
    let twice = Story::new("r", "t").user("q").says("a");
    let twice = twice.says("Which year?").passes();
    assert_eq!(
        code(Format::LlamafactorySft, plain, &[twice], &[]).0,
        1,
        "llamafactory-sft"
    );
    // A reviewer wrote the last turn of a run that failed: the turns before it are conditions only.
    let runs = four();
    let written = pairs(&runs).remove(2);
    let later = with(written, |p| {
        let answer = ChatMessage::text(Role::Assistant, "600 [T-7 v3]");
        p.a = human("stale-citation", 4, answer);
        p.b = recorded("stale-citation", 4);
        let before = triagent::domain::chat::context_before(&runs[1].steps, 4);
        let (task, tools) = (runs[1].head.task.as_ref(), &runs[1].head.tools);
        p.context_hash = triagent::domain::pair::context_hash(task, &before, tools);
    });
    let failed = &runs[1..2];
    assert_eq!(
        code(Format::VerlSft, plain, failed, std::slice::from_ref(&later)),
        (1, 0)
    );
    assert_eq!(
        code(
            Format::TrlSft,
            Shape::Messages,
            failed,
            std::slice::from_ref(&later)
        ),
        (1, 0)
    );
    assert_eq!(code(Format::TrlSft, plain, failed, &[later]), (0, 1));
}
