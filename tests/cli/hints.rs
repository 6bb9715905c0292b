//! What the program tells a newcomer to type exists, and what a newcomer types is answered with what to do.

use super::desk::{Desk, repository};
use clap::Command;
use serde_json::Value;

/// Sentences that name commands: hints of gates and next steps, and commands in backticks on pages.
fn sentences() -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(repository(name)).unwrap();
    let mut out = Vec::new();
    for file in [
        "src/advise/next.rs",
        "src/advise/pages.rs",
        "src/advise/decide.rs",
        "src/reward/group.rs",
        "src/report/sections.rs",
        "assets/rules.toml",
    ] {
        let text = read(file);
        let is_code = |line: &&str| !line.trim_start().starts_with(['/', '#']);
        out.extend(text.lines().filter(is_code).map(str::to_owned));
    }
    let pages = std::fs::read_dir(repository("assets/guide")).unwrap();
    for page in pages {
        let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
        out.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    out
}

/// What is wrong with the words after `triagent`: an unknown verb, or a flag that the verb does not have.
fn wrong(root: &Command, words: &str) -> Option<String> {
    let end = |c: char| matches!(c, ',' | ';' | ')' | '"' | '`' | '(' | '…');
    let words = words.split(end).next().unwrap_or_default();
    let mut words = words.split_whitespace().peekable();
    let mut verb = root;
    while let Some(sub) = words.peek().and_then(|w| verb.find_subcommand(w)) {
        verb = sub;
        words.next();
    }
    let first = words.peek().copied().unwrap_or_default();
    let starts_a_verb = first.starts_with(|c: char| c.is_ascii_lowercase());
    if std::ptr::eq(verb, root) && starts_a_verb {
        return Some(format!("no verb `{first}`"));
    }
    let mut flags = words
        .filter_map(|w| w.strip_prefix("--"))
        .map(|w| w.split(['=', ':']).next().unwrap_or_default())
        .filter(|w| !w.is_empty());
    let known = |flag: &&str| {
        let has = |c: &Command| c.get_arguments().any(|a| a.get_long() == Some(*flag));
        has(verb) || has(root)
    };
    flags
        .find(|flag| !known(flag))
        .map(|flag| format!("`{}` has no --{flag}", verb.get_name()))
}

#[test]
fn every_command_that_a_hint_names_exists() {
    let root = triagent::cli::command();
    // The check itself can fail: this was told once and never existed.
    assert!(wrong(&root, "queue --pairs").is_some());
    assert!(wrong(&root, "nothing --at-all").is_some());
    assert_eq!(wrong(&root, "queue, then one key a run"), None);
    let mut seen = 0;
    let mut bad = Vec::new();
    for sentence in sentences() {
        for words in sentence.split("triagent ").skip(1) {
            seen += 1;
            bad.extend(wrong(&root, words).map(|why| format!("{why}: {sentence}")));
        }
    }
    assert!(seen > 20, "only {seen} commands found");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// S-43: a pair of a task without a standard is bound to the desk's own, so that it can leave.
#[test]
fn s43_a_pair_without_a_task_list_names_the_default_standard_and_can_leave() {
    let desk = Desk::new();
    let logs = repository("sample-logs/runs/four");
    desk.run(&["import", logs.to_str().unwrap()]).ok();
    let shown = desk
        .run(&["show", "four-stale-citation", "--json"])
        .ok()
        .row();
    let steps = shown["steps"].as_array().unwrap();
    let is_answer = |s: &&Value| s["owner"] == "model" && s["kind"] == "text";
    let last = steps.iter().rev().find(is_answer).unwrap();
    let at = format!("four-stale-citation:{}", last["index"]);
    desk.write("side.txt", "Up to 150 EUR a night [hotel-cap v2].");
    let pair = ["pair", &at, "@side.txt", "--prefer", "b", "--json"];
    let why = ["--criterion", "citation-valid", "--reason", "valid source"];
    let saved = desk.run(&[&pair[..], &why].concat()).ok().row();
    assert_eq!(saved["standard"], "triagent-default-1", "{saved}");
    desk.run(&["check"]).ok();
    let export = [
        "export",
        "trl-dpo",
        "--out",
        "dpo",
        "--reference",
        "base",
        "--json",
    ];
    let set = desk.run(&export).ok().row();
    assert_eq!(set["left_out_by_reason"]["missing-standard"], Value::Null);
    assert_eq!(
        set["bindings"]["standard"]["values"][0],
        "triagent-default-1"
    );
    // A named one goes before it.
    let named = [&pair[..], &why, &["--standard", "mine-2"]].concat();
    assert_eq!(desk.run(&named).ok().row()["standard"], "mine-2");
}

#[test]
fn an_export_without_a_row_is_no_success_and_says_why() {
    let desk = Desk::new();
    let logs = repository("sample-logs/runs/four");
    desk.run(&["import", logs.to_str().unwrap()]).ok();
    desk.run(&["check"]).ok();
    let ran = desk.run(&["export", "trl-dpo", "--out", "no", "--reference", "base"]);
    let ran = ran.ended(3);
    assert!(ran.err.contains("nothing was written"), "{}", ran.err);
    let blocked = desk.run(&["export", "trl-dpo", "--out", "no2"]).ended(1);
    assert!(blocked.err.contains("--reference"), "{}", blocked.err);
}

#[test]
fn words_that_newcomers_try_are_answered_with_what_to_do() {
    let desk = Desk::new();
    let logs = repository("sample-logs/runs/four");
    let import = desk.run(&["import", logs.to_str().unwrap()]).ok();
    assert!(import.err.contains("triagent suggest"), "{}", import.err);
    // The name that a log gives its reward is no grader that can be run.
    let audit = desk.run(&["rewards", "audit", "env_reward"]).ended(2);
    assert!(audit.err.contains("source-marker"), "{}", audit.err);
    assert!(audit.err.contains("--as env_reward"), "{}", audit.err);
    let score = desk.run(&["score", "four-stale-citation"]).ended(2);
    let meant = "score --filter run:four-stale-citation";
    assert!(score.err.contains(meant), "{}", score.err);
    for (file, verb) in [("documents.jsonl", "docs"), ("tasks.jsonl", "tasks")] {
        let path = repository("sample-logs").join(file);
        let ran = desk.run(&["import", path.to_str().unwrap()]).ended(3);
        let meant = format!("triagent {verb} import");
        assert!(ran.err.contains(&meant), "{}", ran.err);
    }
}

/// Prose beside logs is told in one line, and all of it with `--json`.
#[test]
fn text_files_in_a_folder_are_summed() {
    let desk = Desk::new();
    for name in ["LICENSE", "notes.txt", "README.md"] {
        desk.write(&format!("logs/{name}"), "Some words that are no log.\n");
    }
    let ran = desk.run(&["import", "logs"]).ended(3);
    assert!(ran.err.contains("skipped 3 text files"), "{}", ran.err);
    assert_eq!(ran.err.matches("no JSON").count(), 0, "{}", ran.err);
    let rows = desk.run(&["import", "logs", "--again", "--json"]).rows();
    assert_eq!(rows.len(), 3);
}

/// No line is wider than the page, and a reason that many runs share is said once.
#[test]
fn tables_for_people_fit_the_page() {
    let desk = Desk::new();
    let logs = repository("sample-logs/runs/teaching");
    desk.run(&["import", logs.to_str().unwrap()]).ok();
    let mut command = desk.command(&["advise", "--cohort", "idx-2025-06"]);
    let out = command.env("COLUMNS", "80").output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(said.contains("refuses"), "{said}");
    let how = said.lines().skip_while(|l| !l.contains(" refuses "));
    let wide: Vec<&str> = how.filter(|l| l.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
    let said = desk.run(&["suggest"]).ok().out;
    let notes = said.lines().filter(|l| l.starts_with('[')).count();
    assert!(notes > 0, "{said}");
    assert!(
        said.lines().filter(|l| l.contains("[1]")).count() > 2,
        "{said}"
    );
}
