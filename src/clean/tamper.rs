//! Tampering: an agent that writes what grades it, looks at the answer key, or fetches the reference (S-72).
//!
//! It reads what the model asked for, not what happened: whether it worked does not matter.

use super::rules::{Rules, TamperRules};
use super::sensitive::{RunText, id};
use crate::domain::{Finding, FindingKind, FindingPlace, Owner, RewardStatus, Step, StepKind};
use regex::Regex;
use serde_json::Value;

/// Keys of arguments that hold shell or program text.
const SHELL_KEYS: &[&str] = &[
    "command",
    "cmd",
    "commands",
    "script",
    "code",
    "input",
    "raw_action",
    "bash_command",
    "keystrokes",
];
/// Keys of arguments that name a file.
const PATH_KEYS: &[&str] = &[
    "path",
    "file_path",
    "filepath",
    "file",
    "filename",
    "target",
    "target_file",
    "destination",
    "paths",
    "files",
    "notebook_path",
    "patch",
    "diff",
];
/// Text of one action that is looked at.
const MAX_ACTION_BYTES: usize = 1 << 20;

/// What an action does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Writes,
    Looks,
    Fetches,
}

impl Deed {
    fn rule(self) -> &'static str {
        match self {
            Self::Writes => "tamper-write",
            Self::Looks => "tamper-look",
            Self::Fetches => "tamper-fetch",
        }
    }

    fn why(self) -> &'static str {
        match self {
            Self::Writes => {
                "the agent writes to tests, a grader, a score or the version history; its result cannot be relied on"
            }
            Self::Looks => "the agent looks at a grader or an answer key",
            Self::Fetches => "the agent fetches what may be the reference answer",
        }
    }
}

/// Finds actions of the model that touch what grades it.
pub(crate) fn tampering(rules: &Rules, run: RunText<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for step in run.steps.iter().filter(|s| s.owner == Owner::Model) {
        let mut deeds = deeds(&rules.tamper, step);
        deeds.sort();
        deeds.dedup();
        for (deed, quote) in deeds {
            let name = format!("{}\0{}\0{}\0{quote}", deed.rule(), run.head.id, step.index);
            out.push(Finding {
                id: id(&name),
                kind: FindingKind::Tamper,
                rule: deed.rule().to_owned(),
                place: Some(FindingPlace {
                    run: run.head.id.clone(),
                    step: Some(step.index),
                    field: "text".to_owned(),
                    start: 0,
                    end: 0,
                }),
                tasks: run.head.task.iter().cloned().collect(),
                placeholder: None,
                excerpt: quote,
                reason: deed.why().to_owned(),
                score: None,
            });
        }
    }
    out
}

/// What a reward becomes when the run could write what it was read from.
pub fn reward_status(status: RewardStatus, findings: &[Finding]) -> RewardStatus {
    let written = findings.iter().any(|f| f.rule == Deed::Writes.rule());
    match status {
        RewardStatus::Ok if written => RewardStatus::Untrusted,
        other => other,
    }
}

fn deeds(rules: &TamperRules, step: &Step) -> Vec<(Deed, String)> {
    let text = crate::text::capped(&step.text, MAX_ACTION_BYTES).0;
    match step.kind {
        StepKind::ToolCall => of_call(rules, step.tool.as_deref().unwrap_or(""), text),
        StepKind::Text => fenced(text)
            .flat_map(|script| of_shell(rules, script))
            .collect(),
        StepKind::Reasoning | StepKind::Observation | StepKind::Media | StepKind::Event => {
            Vec::new()
        }
    }
}

fn of_call(rules: &TamperRules, tool: &str, arguments: &str) -> Vec<(Deed, String)> {
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(arguments) else {
        return of_shell(rules, arguments);
    };
    let only_looks = map
        .get("command")
        .and_then(Value::as_str)
        .is_some_and(|c| rules.read_commands.iter().any(|r| r == c));
    let writes = rules.write_tools.iter().any(|r| r.is_match(tool)) && !only_looks;
    let mut out = Vec::new();
    for (key, value) in &map {
        let key = key.to_lowercase();
        for text in strings(value) {
            if SHELL_KEYS.contains(&key.as_str()) {
                out.extend(of_shell(rules, text));
            } else if PATH_KEYS.contains(&key.as_str()) {
                out.extend(of_path(rules, writes, text));
            }
        }
    }
    out
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

fn of_path(rules: &TamperRules, writes: bool, text: &str) -> Vec<(Deed, String)> {
    let mut out = Vec::new();
    // A patch names its files on lines of their own; a path is one line.
    for line in text.lines().take(2000) {
        let is_patch = text.lines().nth(1).is_some();
        let names = ["*** ", "+++ ", "--- ", "diff "]
            .iter()
            .any(|p| line.starts_with(p));
        if is_patch && !names {
            continue;
        }
        match (
            writes,
            found(&rules.protected, line),
            found(&rules.hidden, line),
        ) {
            (true, Some(path), _) => out.push((Deed::Writes, path)),
            (false, _, Some(path)) => out.push((Deed::Looks, path)),
            (true | false, _, _) => {}
        }
    }
    out
}

fn of_shell(rules: &TamperRules, script: &str) -> Vec<(Deed, String)> {
    let mut out = Vec::new();
    for command in commands(script) {
        if let Some(path) = written(rules, command) {
            out.push((Deed::Writes, path));
        } else if let Some(path) = found(&rules.hidden, command) {
            out.push((Deed::Looks, path));
        }
        if let Some(quote) = found(&rules.fetch, command) {
            out.push((Deed::Fetches, quote));
        }
    }
    out
}

/// The protected path that a command writes to.
fn written(rules: &TamperRules, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let target = word
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches('>');
        if target.len() != word.len() && word.contains('>') {
            let path = if target.is_empty() {
                words.get(at + 1).copied().unwrap_or("")
            } else {
                target
            };
            if let Some(path) = found(&rules.protected, path) {
                return Some(path);
            }
        }
    }
    let verb = words.iter().find(|w| **w != "sudo" && !w.contains('='))?;
    let name = verb.rsplit('/').next().unwrap_or(verb);
    if rules.write_commands.iter().any(|c| c == name) {
        let onto_last = matches!(name, "cp" | "install" | "ln");
        let paths = if onto_last {
            words.last().copied().unwrap_or("").to_owned()
        } else {
            words.join(" ")
        };
        return found(&rules.protected, &paths);
    }
    // A redirection was judged by its target alone; any other way of writing counts with every path beside it.
    let other = rules
        .write_patterns
        .iter()
        .filter(|p| !p.as_str().contains('>'));
    let writes = other.into_iter().any(|p| p.is_match(command));
    if writes {
        found(&rules.protected, command)
    } else {
        None
    }
}

fn found(patterns: &[Regex], text: &str) -> Option<String> {
    let hit = patterns.iter().find_map(|p| p.find(text))?;
    let shown = hit
        .as_str()
        .trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '='));
    Some(crate::text::capped(shown, 120).0.to_owned())
}

/// Simple commands of a script; text that a command only prints into a file is no command.
fn commands(script: &str) -> impl Iterator<Item = &str> {
    let mut until: Option<String> = None;
    let mut lines = Vec::new();
    for line in script.lines() {
        if let Some(end) = &until {
            if line.trim() == end {
                until = None;
            }
            continue;
        }
        lines.push(line);
        until = here_document(line);
    }
    lines
        .into_iter()
        .flat_map(|line| line.split([';', '|', '&']))
        .map(str::trim)
        .filter(|c| !c.is_empty() && !c.starts_with('#'))
}

/// The word that ends a here-document, unless an interpreter runs it.
fn here_document(line: &str) -> Option<String> {
    let (before, after) = line.split_once("<<")?;
    let runs = ["python", "bash", "sh ", "perl", "node", "ruby"]
        .iter()
        .any(|i| before.contains(i));
    let word: String = after
        .trim_start_matches('-')
        .trim_start()
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!runs && !word.is_empty()).then_some(word)
}

/// Shell blocks inside a text: some agents act by writing them.
fn fenced(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("```").skip(1).step_by(2);
    parts.filter_map(|block| {
        let (language, body) = block.split_once('\n')?;
        matches!(
            language.trim(),
            "bash" | "sh" | "shell" | "mswea_bash_command"
        )
        .then_some(body)
    })
}
