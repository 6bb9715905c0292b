//! The promise beside the rows: same input, same bytes; every version bound; masks by owner; nothing sold as more than
//! it is.

use super::fixtures::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use triagent::domain::*;
use triagent::export::*;

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                out.insert(
                    path.strip_prefix(dir).unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                );
            }
        }
    }
    out
}

#[test]
fn the_same_input_gives_the_same_bytes_in_every_format() {
    let runs: Vec<RunInput> = four().into_iter().chain(wide()).collect();
    for format in Format::ALL.iter().copied() {
        let split = Some(SplitOptions {
            validation: 40,
            seed: 5,
            ..SplitOptions::default()
        });
        let options = Options {
            split,
            ..Options::new(format)
        };
        let one = export_with(&options, input(&runs, &pairs(&runs))).unwrap();
        let two = export_with(&options, input(&runs, &pairs(&runs))).unwrap();
        assert_eq!(files(one.dir.path()), files(two.dir.path()), "{format}");
    }
}

#[test]
fn hashes_are_those_of_the_files_and_no_file_is_missing() {
    let runs: Vec<RunInput> = four().into_iter().chain(wide()).collect();
    for format in Format::ALL.iter().copied() {
        let out = export(format, &runs, &pairs(&runs));
        let found = files(out.dir.path());
        let told: Vec<PathBuf> = out
            .manifest
            .files
            .iter()
            .map(|f| PathBuf::from(&f.name))
            .collect();
        let on_disk: Vec<PathBuf> = found
            .keys()
            .filter(|p| *p != Path::new("manifest.json"))
            .cloned()
            .collect();
        let mut sorted = told.clone();
        sorted.sort();
        assert_eq!(sorted, on_disk, "{format}");
        for record in &out.manifest.files {
            let bytes = &found[Path::new(&record.name)];
            let sha: String = Sha256::digest(bytes)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(
                (record.bytes, &record.sha256),
                (bytes.len() as u64, &sha),
                "{}",
                record.name
            );
        }
    }
}

/// S-78: each missing version is named, and marks the set; nothing else is needed to be acceptable.
#[test]
fn a_missing_version_is_said_and_marks_the_set() {
    let runs = four();
    let check = |change: &dyn Fn(&mut Facts, &mut Vec<RunInput>), expected: &[&str]| {
        let mut runs = runs.clone();
        let mut facts_of = facts(&runs);
        change(&mut facts_of, &mut runs);
        let pairs = pairs(&runs);
        let mut input = input(&runs, &pairs);
        input.facts = facts_of;
        let out = export_with(&Options::new(Format::TrlDpo), input).unwrap();
        assert_eq!(out.manifest.missing_bindings, expected);
        assert_eq!(out.manifest.acceptable_for_training, expected.is_empty());
        assert_eq!(
            out.text("README.md").contains("Not acceptable"),
            !expected.is_empty()
        );
    };
    check(&|_, _| {}, &[]);
    check(&|f, _| f.bindings.model = None, &["model"]);
    check(&|f, _| f.bindings.tokenizer = None, &["tokenizer"]);
    check(&|f, _| f.bindings.template = None, &["template"]);
    check(&|_, r| r[0].head.harness.version = None, &["harness"]);
    check(
        &|_, r| r.iter_mut().for_each(|r| r.head.index_version = None),
        &["data"],
    );
    check(
        &|_, r| {
            // Tools were called, and no log says what the model saw of them.
            for run in r.iter_mut() {
                run.head.tools.clear();
            }
        },
        &["tools"],
    );
}

/// S-15: tool observations are conditions, only the model's action is a target.
#[test]
fn the_target_of_a_row_is_the_models_action_alone() {
    let runs = four();
    for row in export(Format::TrlSft, &runs, &[]).rows() {
        let completion = row["completion"].as_array().unwrap();
        assert_eq!(completion.len(), 1);
        assert!(completion.iter().all(|m| m["role"] == "assistant"));
        assert!(
            !completion[0].to_string().contains("实习生 300"),
            "an observation became a target"
        );
    }
    // OpenAI's shape says it by weight: 1 on the model's own messages, nothing on anybody else's.
    for row in export(Format::OpenaiSft, &runs, &[]).rows() {
        for message in row["messages"].as_array().unwrap() {
            assert_eq!(
                message.get("weight").is_some(),
                message["role"] == "assistant"
            );
        }
    }
}

/// S-65: an advantage is a place inside a group and no label; no format knows the word.
#[test]
fn no_format_exports_an_advantage() {
    let runs = four();
    for format in Format::ALL.iter().copied() {
        let out = export(format, &runs, &pairs(&runs));
        for (path, bytes) in files(out.dir.path()) {
            if path
                .extension()
                .is_some_and(|e| e == "jsonl" || e == "json")
                && path != Path::new("manifest.json")
            {
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains("\"advantage"), "{format} {}", path.display());
            }
        }
    }
}

/// S-52: a spoilt or missing reward is listed, counted out of its group, and never becomes 0.
#[test]
fn recorded_groups_are_evidence_and_missing_is_not_zero() {
    let mut runs = four();
    runs[0].rewards[0].status = RewardStatus::Contaminated;
    runs[2].rewards = vec![Reward::missing("policy-check")];
    let out = export(Format::TrlGrpo, &runs, &[]);
    assert_eq!(
        out.left_out(),
        [
            "correct-citation (evidence) no-reward",
            "sure-without-condition (evidence) no-reward"
        ]
    );
    let lines: Vec<Value> = out
        .text("evidence/groups.jsonl")
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let told: Vec<(Value, Value)> = lines
        .iter()
        .map(|l| (l["counted"].clone(), l["result"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!(false), json!(1.0)),
            (json!(true), json!(0.0)),
            (json!(false), json!(null)),
            (json!(true), json!(1.0))
        ]
    );
    assert!(
        lines[0]["note"]
            .as_str()
            .unwrap()
            .contains("not a training batch")
    );
    // Two tasks, one row each; the two runs of a task start alike.
    let starts: Vec<Value> = out.rows();
    assert_eq!(
        starts
            .iter()
            .map(|r| r["task_id"].clone())
            .collect::<Vec<_>>(),
        ["complete", "missing-condition"]
    );
    assert_eq!(
        starts[0]["recorded_runs"],
        "correct-citation,stale-citation"
    );
    assert_eq!(starts[0]["prompt"].as_array().unwrap().len(), 2);
}

/// S-36, S-37: the coverage matrix, and a warning when only the shortest were taken.
#[test]
fn coverage_is_counted_and_shortest_only_is_told() {
    let mut runs = four();
    runs[3].head.scenario = Some("missing-condition".to_owned());
    let mut long = input(&runs, &[]);
    // By hand: the selection's median is 5 steps; all successes have a median of 8; 5 < 0.8 × 8.
    long.facts.success_steps = vec![5, 5, 8, 9, 12];
    let out = export_with(&Options::new(Format::TrlSft), long).unwrap();
    let coverage = &out.manifest.coverage;
    assert_eq!(
        coverage.matrix["missing-condition"],
        BTreeMap::from([("clarification", 1), ("normal", 1)])
    );
    assert_eq!(coverage.matrix["policy"], BTreeMap::from([("normal", 2)]));
    assert_eq!(
        (coverage.median_steps, coverage.median_steps_all),
        (Some(5), Some(8))
    );
    assert!(
        out.manifest
            .warnings
            .iter()
            .any(|w| w.starts_with("shortest-only"))
    );
    let mut even = input(&runs, &[]);
    even.facts.success_steps = vec![5, 5, 6];
    let out = export_with(&Options::new(Format::TrlSft), even).unwrap();
    assert!(
        !out.manifest
            .warnings
            .iter()
            .any(|w| w.starts_with("shortest-only"))
    );
}

/// Words that somebody said to redact leave as a placeholder in every format, and each is listed.
#[test]
fn redacted_words_leave_nowhere() {
    let mut runs = four();
    let secret = "li.wei@hengtong-tech.cn";
    // Both candidates of a pair answer the same request, so it stands in both runs.
    runs[2].steps[1].text += secret;
    runs[3].steps[1].text += secret;
    runs[3].steps[3]
        .extra
        .insert("note".to_owned(), json!(secret));
    let state = |action| FindingState {
        finding: Finding {
            id: "f1".to_owned(),
            kind: FindingKind::Personal,
            rule: "email".to_owned(),
            place: Some(FindingPlace {
                run: runs[3].head.id.clone(),
                step: Some(1),
                field: "text".to_owned(),
                start: 0,
                end: 1,
            }),
            tasks: Vec::new(),
            placeholder: Some("[EMAIL_0a1b]".to_owned()),
            excerpt: String::new(),
            reason: String::new(),
            score: None,
        },
        action,
    };
    let redaction = Redaction {
        finding: "f1".to_owned(),
        words: secret.to_owned(),
        placeholder: "[EMAIL_0a1b]".to_owned(),
    };
    // What a reviewer wrote or quoted, and what the task list says, may hold the same words.
    let said: Vec<PairInput> = pairs(&runs)
        .into_iter()
        .map(|pair| {
            with(pair, |p| {
                p.evidence = Some(format!("asked by {secret}"));
                p.reason = format!("{secret} must get an answer");
            })
        })
        .collect();
    let task: Task = serde_json::from_value(json!({"task_id": "missing-condition",
        "prompt": format!("for {secret}"), "expected": format!("ask {secret}")}))
    .unwrap();
    let check = |action, undecided, leaves: bool| {
        let mut runs = runs.clone();
        for run in &mut runs[2..] {
            run.findings = vec![state(action)];
            run.redactions = vec![redaction.clone()];
        }
        for format in Format::ALL.iter().copied() {
            let options = Options {
                undecided,
                purpose: Purpose::Draft,
                ..Options::new(format)
            };
            let pairs = said.iter().cloned().map(|mut pair| {
                let of = |run: &RunInput| runs.iter().find(|r| r.head.id == run.head.id).unwrap();
                (pair.a, pair.b) = (of(&pair.a).clone().into(), of(&pair.b).clone().into());
                pair
            });
            // The first pair is about another request, so nobody found its quoted address in its own runs.
            let pairs: Vec<PairInput> = pairs.skip(1).take(1).collect();
            let mut input = input(&runs, &pairs);
            input.facts.tasks = vec![task.clone()];
            let out = export_with(&options, input).unwrap();
            let all: Vec<u8> = files(out.dir.path()).into_values().flatten().collect();
            let text = String::from_utf8_lossy(&all).into_owned();
            assert!(!text.contains(secret), "{format}");
            if leaves && format.method() != Method::Copy {
                assert!(text.contains("[EMAIL_0a1b]"), "{format}");
                assert!(
                    out.manifest.redacted.iter().any(|r| r.finding == "f1"),
                    "{format}"
                );
            }
        }
    };
    check(Some(FindingAction::Redact), Undecided::LeaveOut, true);
    check(None, Undecided::Redact, true);
    check(None, Undecided::LeaveOut, false);
    check(Some(FindingAction::Drop), Undecided::Redact, false);
}

/// S-83: the four endings, defined first: supervised rows keep correct citation and correct clarification.
#[test]
fn the_exercise_of_four_endings_comes_out_as_written() {
    let runs = four();
    let rewards: Vec<Option<f64>> = runs.iter().map(|r| r.rewards[0].result).collect();
    assert_eq!(rewards, [Some(1.0), Some(0.0), Some(0.0), Some(1.0)]);
    let answers: Vec<Value> = export(Format::TrlSft, &runs, &[])
        .rows()
        .into_iter()
        .map(|r| r["completion"][0]["content"].clone())
        .filter(|c| !c.is_null())
        .collect();
    assert_eq!(
        answers,
        [
            "上限为 600 元/晚 [T-7 v3]。",
            "请问您是正式员工还是实习生？"
        ]
    );
}
