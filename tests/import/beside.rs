//! Labels, annotations and reports that stand beside runs join them under their own source, and only where it is certain.

use super::seen::{Seen, real_logs, see_bytes, see_unit};
use std::path::PathBuf;
use triagent::domain::Outcome;
use triagent::domain::Progress;
use triagent::import::discover;
use triagent::jobs::{self, ImportOptions};
use triagent::store::Store;

fn read_all(paths: &[PathBuf]) -> Vec<Seen> {
    let found = discover(paths);
    found
        .units
        .iter()
        .map(|unit| see_unit(unit, None))
        .collect()
}

/// AgentRx labels 24 of the 29 failed retail runs with 34 failures (by `jq '[.[].failures[]]|length'`). Its steps count
/// messages from 1: the first label blames message 3, a call of list_all_product_types.
#[test]
fn agentrx_labels_join_the_failed_retail_runs_and_no_others() {
    let Some(root) = real_logs() else { return };
    let all = read_all(&[root.join("tau-bench"), root.join("tau-bench-labels")]);
    let labels = |seen: &Seen| seen.runs.iter().map(|r| r.labels.len()).sum::<usize>();
    let by_file: Vec<_> = all
        .iter()
        .map(|s| {
            (
                s.report.file.rsplit('/').next().unwrap().to_owned(),
                labels(s),
            )
        })
        .filter(|(_, n)| *n > 0)
        .collect();
    assert_eq!(by_file, [("retail-failed-29.json".to_owned(), 34)]);
    let retail = all.iter().find(|s| labels(s) > 0).unwrap();
    assert_eq!(
        retail.runs.iter().filter(|r| !r.labels.is_empty()).count(),
        24
    );
    let first = retail
        .runs
        .iter()
        .find(|r| r.head.task.as_ref().unwrap().0 == "retail-2")
        .unwrap();
    let label = &first.labels[0];
    assert_eq!(
        (label.source.as_str(), label.category.as_str()),
        ("agentrx", "Instruction Adherence Failure")
    );
    let step = &first.steps[label.step.unwrap() as usize];
    assert_eq!(step.tool.as_deref(), Some("list_all_product_types"));
    assert_eq!(first.labels[1].detail["is_root_cause"], true);
}

/// A SWE-bench report gives the runs beside it their reward, in all three of its shapes.
#[test]
fn a_swe_bench_report_gives_the_reward() {
    let run = r#"{"trajectory_format":"mini-swe-agent-1","instance_id":"a__b-1","info":{"mini_version":"1"},"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"}]}"#;
    let cases = [
        (
            r#"{"a__b-1":{"patch_successfully_applied":true,"resolved":true,"tests_status":{}}}"#,
            Some(1.0),
            Outcome::Pass,
        ),
        (
            r#"{"resolved_ids":[],"unresolved_ids":["a__b-1"],"error_ids":[]}"#,
            Some(0.0),
            Outcome::Fail,
        ),
        (
            r#"{"resolved_ids":[],"unresolved_ids":[],"error_ids":["a__b-1"]}"#,
            None,
            Outcome::Unknown,
        ),
        (
            r#"{"resolved_ids":["other"],"unresolved_ids":[]}"#,
            None,
            Outcome::Unknown,
        ),
    ];
    for (report, result, outcome) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.traj.json");
        std::fs::write(&path, run).unwrap();
        std::fs::write(folder.path().join("report.json"), report).unwrap();
        // A file that is named alone sees what stands next to it, too.
        for paths in [vec![folder.path().to_owned()], vec![path]] {
            let all = read_all(&paths);
            let run = &all[0].runs[0];
            let swe = run.rewards.iter().find(|r| r.grader == "swe-bench");
            assert_eq!(swe.and_then(|r| r.result), result, "{report}");
            assert_eq!(run.head.outcome, outcome, "{report}");
        }
    }
}

const MINI: &str = r#"{"trajectory_format":"mini-swe-agent-1","instance_id":"x__x-1","info":{"mini_version":"1"},"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"}]}"#;

/// Writes files into a new folder, reads it, and says each run's file, outcome and what the reader remarks.
fn outcomes(files: &[(&str, &str)]) -> Vec<(String, Outcome, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let all = read_all(&[folder.path().to_owned()]).into_iter();
    let with_runs = all.filter(|seen| !seen.runs.is_empty());
    with_runs
        .map(|seen| {
            let file = PathBuf::from(&seen.report.file);
            let name = file.strip_prefix(folder.path()).unwrap().display();
            let outcome = seen.runs[0].head.outcome;
            (name.to_string(), outcome, seen.report.notes)
        })
        .collect()
}

const RESOLVED: &str = r#"{"resolved_ids":["x__x-1"],"unresolved_ids":[]}"#;
const UNRESOLVED: &str = r#"{"resolved_ids":[],"unresolved_ids":["x__x-1"]}"#;

/// Two models' runs of one instance: each gets the verdict of its own folder, and a run without a report gets nobody else's.
#[test]
fn a_report_speaks_of_the_runs_of_its_own_folder() {
    let all = outcomes(&[
        ("a/x.traj.json", MINI),
        ("a/report.json", RESOLVED),
        ("b/deep/x.traj.json", MINI),
        ("b/report.json", UNRESOLVED),
        ("c/x.traj.json", MINI),
    ]);
    let seen: Vec<_> = all.iter().map(|(f, o, _)| (f.as_str(), *o)).collect();
    let want = [
        ("a/x.traj.json", Outcome::Pass),
        ("b/deep/x.traj.json", Outcome::Fail),
        ("c/x.traj.json", Outcome::Unknown),
    ];
    assert_eq!(seen, want);
    // The evaluation may lie in a folder of its own, as long as one run can be meant.
    let apart = outcomes(&[("runs/x.traj.json", MINI), ("eval/report.json", RESOLVED)]);
    assert_eq!(apart[0].1, Outcome::Pass);
}

/// Reports that contradict each other are not joined, and that is told.
#[test]
fn reports_that_do_not_agree_are_not_joined() {
    let all = outcomes(&[
        ("x.traj.json", MINI),
        ("report-1.json", RESOLVED),
        ("report-2.json", UNRESOLVED),
    ]);
    assert_eq!(all[0].1, Outcome::Unknown);
    assert!(
        all[0]
            .2
            .iter()
            .any(|n| n.contains("do not agree on x__x-1"))
    );
}

/// A report over the limit is not read, and the run that may miss it says so.
#[test]
fn a_report_that_is_too_large_is_told() {
    let huge = format!("{RESOLVED}{}", " ".repeat(33 << 20));
    let all = outcomes(&[("x.traj.json", MINI), ("report.json", &huge)]);
    assert_eq!(all[0].1, Outcome::Unknown);
    assert!(
        all[0]
            .2
            .iter()
            .any(|n| n.contains("report.json") && n.contains("not read"))
    );
}

/// A pipe beside a file that is named alone: whoever opened it would wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_beside_a_run_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.traj.json");
    std::fs::write(&path, MINI).unwrap();
    let pipe = folder.path().join("report.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    assert_eq!(read_all(&[path])[0].runs.len(), 1);
    let told = &super::seen::see(&pipe).report.skipped[0].reason;
    assert!(told.contains("not a file"), "{told}");
}

/// Rows with a conversation are runs, whatever stands beside it.
#[test]
fn runs_with_a_patch_are_no_predictions() {
    let row = r#"{"instance_id":"x__x-1","model_patch":"diff","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#;
    let seen = see_bytes("a.jsonl", row.as_bytes());
    assert_eq!(seen.lines(), ["user text q", "model text a"]);
    let prediction = r#"{"instance_id":"x__x-1","model_patch":"diff"}"#;
    let seen = see_bytes("preds.jsonl", prediction.as_bytes());
    assert_eq!(seen.report.format.as_deref(), Some("beside-runs"));
}

/// A file of labels holds no run; that is said, and nothing counts as unreadable.
#[test]
fn files_without_runs_say_what_they_are() {
    let Some(root) = real_logs() else { return };
    let files = [
        "tau-bench-labels/agentrx-tau-retail-labels.json",
        "magentic-one-list/agentrx-magentic-labels-first6.json",
        "phoenix/annotations.json",
        "verifiers-results/wiki-search-gpt-4.1-mini.metadata.json",
        "verifiers-v1-traces/run/configs/resolved/eval.json",
    ];
    for file in files {
        let seen = &read_all(&[root.join(file)])[0];
        assert_eq!(seen.report.format.as_deref(), Some("beside-runs"), "{file}");
        assert_eq!((seen.runs.len(), seen.report.skips), (0, 0), "{file}");
        assert!(!seen.report.notes.is_empty(), "{file}");
    }
}

/// MAST marks failure modes; its early files hold messages, the later set one long text. (Shapes from its description;
/// the files carry no licence.)
#[test]
fn mast_modes_are_labels_of_their_own() {
    let early = r#"{"instance_id":"i","problem_statement":["p"],"other_data":{},"trajectory":[{"content":["a","b"],"role":"assistant","name":"Coder"},{"content":["c"],"role":"user","name":"Boss"}],"note":{"text":"why","options":{"Step repetition":"yes","Other":"no"}}}"#;
    let later = r#"[{"mas_name":"AppWorld","llm_name":"m","benchmark_name":"b","trace_id":1,"trace":{"key":"k","index":0,"trajectory":"raw log"},"mast_annotation":{"1.1":1,"1.2":0,"3.3":1}}]"#;
    let labels = |seen: &Seen| {
        let labels = seen.runs[0].labels.iter();
        labels
            .map(|l| format!("{} {}", l.source, l.category))
            .collect::<Vec<_>>()
    };
    let seen = super::seen::see_bytes("a.json", early.as_bytes());
    assert_eq!(seen.lines(), ["model text a\nb", "user text c"]);
    assert_eq!(labels(&seen), ["mast Step repetition"]);
    let seen = super::seen::see_bytes("b.json", later.as_bytes());
    assert_eq!(seen.lines(), ["unknown text raw log"]);
    assert_eq!(labels(&seen), ["mast 1.1", "mast 3.3"]);
    assert!(seen.report.notes[0].contains("care"));
}

/// Labels are often written days after the runs: a folder whose runs have not changed is read again when what stands beside
/// them has. The count is that of the test above.
#[test]
fn labels_that_come_later_join_the_runs_that_are_here() {
    let Some(root) = real_logs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let from = root.join(name);
        let to = folder.path().join(from.file_name().unwrap());
        std::fs::write(to, std::fs::read(&from).unwrap()).unwrap();
    };
    let mut store = Store::in_memory().unwrap();
    let mut look = || {
        let options = ImportOptions::default();
        let paths = [folder.path().to_owned()];
        let progress = Progress::default();
        jobs::import(&mut store, &paths, &options, 1, &progress, &mut |_| {}).unwrap()
    };
    copy("tau-bench/retail-failed-29.json");
    assert_eq!(look().stored, 29);
    assert_eq!(look().unchanged, 1);
    let labels = std::fs::read_dir(root.join("tau-bench-labels")).unwrap();
    for entry in labels.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        copy(&format!("tau-bench-labels/{name}"));
    }
    assert_eq!(look().renewed, 24);
    let again = look();
    assert_eq!((again.renewed, again.unchanged), (0, again.units));
}

/// Read without its report, a run says less than before: that is no news, and nothing that was stored goes. The report joins
/// however the folder is written.
#[test]
fn a_report_that_is_not_named_again_takes_nothing_away() {
    let folder = tempfile::tempdir().unwrap();
    let (runs, eval) = (folder.path().join("runs"), folder.path().join("eval"));
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::create_dir_all(&eval).unwrap();
    let run = r#"{"trajectory_format":"mini-swe-agent-1","instance_id":"x__x-1","info":{"mini_version":"1"},"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"}]}"#;
    std::fs::write(runs.join("x.traj.json"), run).unwrap();
    let mut store = Store::in_memory().unwrap();
    let mut look = |paths: &[PathBuf]| {
        let options = ImportOptions::default();
        let progress = Progress::default();
        jobs::import(&mut store, paths, &options, 1, &progress, &mut |_| {}).unwrap();
        let rows = store.runs(&Default::default(), None, 10).unwrap().rows;
        assert_eq!(rows.len(), 1);
        (rows[0].outcome, store.rewards(&rows[0].id).unwrap().len())
    };
    assert_eq!(look(std::slice::from_ref(&runs)), (Outcome::Unknown, 0));
    let report = r#"{"resolved_ids":[],"unresolved_ids":["x__x-1"]}"#;
    std::fs::write(eval.join("report.json"), report).unwrap();
    let other_spelling = folder.path().join("./runs");
    assert_eq!(look(&[other_spelling, eval]), (Outcome::Fail, 1));
    assert_eq!(look(&[runs]), (Outcome::Fail, 1));
}
