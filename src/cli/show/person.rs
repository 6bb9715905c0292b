//! A run as a page that a person reads from top to bottom.

use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::domain::{Decision, EvidenceStatus, Owner, RunId, StepKind, StepStatus};
use crate::error::Result;
use crate::jobs;
use crate::store::{StepHead, Store};
use crate::text;

/// Bytes of a step that its row is made from.
const PREVIEW_BYTES: usize = 400;
/// Columns of a step that its row shows.
const PREVIEW_COLUMNS: usize = 100;

/// Columns of a label that came with the log.
const LABEL_COLUMNS: usize = 160;

pub(super) fn run(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    head(store, run, env)?;
    let steps = store.step_heads(run, 0..store.step_count(run)?, PREVIEW_BYTES)?;
    let mut table = Table::new(&["step", "owner", "what", "text"]);
    for step in &steps {
        table.push(step_row(step));
    }
    env.out.line("")?;
    env.out.table(&table)?;
    calls(store, run, env)?;
    rewards(store, run, env)?;
    evidence(store, run, env)?;
    verdict(store, run, env)?;
    labels_of_log(store, run, env)?;
    notes(store, run, env)
}

fn head(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let row = store.run_row(run)?;
    let harness = [row.harness.as_deref(), row.harness_version.as_deref()];
    let harness: Vec<&str> = harness.into_iter().flatten().collect();
    let facts = [
        ("run", Some(row.id.0.clone())),
        ("task", row.task.clone()),
        ("family", row.family.clone()),
        ("outcome", Some(row.outcome.to_string())),
        ("ending", Some(row.ending.to_string())),
        ("model", row.model.clone()),
        ("harness", (!harness.is_empty()).then(|| harness.join(" "))),
        ("index", row.index_version.clone()),
        ("prompt", row.prompt_version.clone()),
        ("tools", row.toolset_version.clone()),
        ("weights", row.checkpoint.clone()),
        ("source", Some(format!("{} ({})", row.source, row.format))),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            env.out
                .line(format!("{name:<9}{}", text::visible(&value)))?;
        }
    }
    Ok(())
}

fn step_row(step: &StepHead) -> Vec<Cell> {
    let owner = match step.owner {
        Owner::Model => Cell::new(step.owner).tone(Tone::Bold),
        Owner::Unknown => Cell::new(step.owner).tone(Tone::Warn),
        Owner::Tool | Owner::Runtime | Owner::System | Owner::User => Cell::new(step.owner),
    };
    let mut what = step.kind.to_string();
    if let Some(tool) = &step.tool {
        what = format!("{what} {tool}");
    }
    if step.off_path {
        what.push_str(" (off path)");
    }
    let what = match step.status {
        StepStatus::Ok | StepStatus::Unknown => Cell::new(what),
        failed => Cell::new(format!("{what} ✗ {failed}")).tone(Tone::Bad),
    };
    vec![
        Cell::number(Some(step.index)),
        owner,
        what,
        Cell::new(text::one_line(&step.preview, PREVIEW_COLUMNS)),
    ]
}

fn calls(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let calls = store.calls(run)?;
    let telling = calls
        .iter()
        .any(|c| c.reports > 1 || c.attempt.is_some() || c.logical_request_id.is_some());
    if !telling {
        return Ok(());
    }
    let mut table = Table::new(&[
        "call",
        "logical request",
        "attempt",
        "event",
        "reports",
        "adopted",
    ]);
    for call in calls {
        table.push(vec![
            Cell::number(Some(call.index)),
            Cell::maybe(call.logical_request_id),
            Cell::maybe(call.attempt),
            Cell::maybe(call.event_id),
            Cell::number(Some(call.reports)),
            Cell::new(call.adopted),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn rewards(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let rewards = store.rewards(run)?;
    if rewards.is_empty() {
        return env.out.line("\nreward   missing (not 0)");
    }
    let heads = [
        "reward by",
        "status",
        "result",
        "evidence",
        "forbidden effects",
        "cost",
    ];
    let mut table = Table::new(&heads);
    for reward in rewards {
        let effects = reward.side_effects.map_or_else(
            || "not checked".to_owned(),
            |found| {
                if found.is_empty() {
                    "none".to_owned()
                } else {
                    found.join(", ")
                }
            },
        );
        table.push(vec![
            Cell::new(reward.grader),
            Cell::new(reward.status),
            Cell::number(reward.result),
            Cell::number(reward.evidence),
            Cell::new(effects),
            Cell::number(reward.cost),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn evidence(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let found = jobs::run_facts(store, run)?.evidence(&jobs::register(store)?);
    if found.is_empty() {
        return env.out.say(
            "no required document is known; `triagent tasks import` and `triagent docs import` tell evidence status",
        );
    }
    let mut table = Table::new(&["required", "status", "valid that day", "why"]);
    for one in found {
        let version = one.version.map_or_else(String::new, |v| format!(" {v}"));
        let tone = match one.status {
            EvidenceStatus::InPrompt => Tone::Good,
            EvidenceStatus::Unknown => Tone::Dim,
            EvidenceStatus::NotIndexed
            | EvidenceStatus::StaleOnly
            | EvidenceStatus::NotRetrieved
            | EvidenceStatus::NotInPrompt => Tone::Bad,
        };
        let valid = one
            .valid
            .map_or("unknown", |v| if v { "yes" } else { "no" });
        table.push(vec![
            Cell::new(format!("{}{version}", one.doc_id)),
            Cell::new(one.status).tone(tone),
            Cell::new(valid),
            Cell::new(one.reason),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn verdict(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let Some(record) = store.verdict(run)? else {
        return env
            .out
            .say("no verdict yet; `triagent label RUN --layer L` records one");
    };
    let (Decision::Verdict(verdict) | Decision::Adjudication(verdict)) = &record.decision else {
        return Ok(());
    };
    let mut line = format!("\nverdict  {}", verdict.layer);
    if let Some(cause) = &verdict.cause {
        line.push_str(&format!(", {cause}"));
    }
    if let Some(step) = verdict.decisive_step {
        line.push_str(&format!(", first decisive step {step}"));
    }
    if !verdict.is_proven() {
        line.push_str(" (unproven: the evidence checklist is not complete)");
    }
    line.push_str(&format!(", by {}", record.reviewer));
    env.out.line(text::visible(&line))?;
    if verdict.note.is_empty() {
        return Ok(());
    }
    env.out.line(note_line(&verdict.note, None))
}

/// Labels that came with the log. They lead nobody: before the reviewer's own verdict stands, only their number is told.
fn labels_of_log(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let labels = store.foreign_labels(run)?;
    if labels.is_empty() {
        return Ok(());
    }
    let me = env.reviewer().unwrap_or_default();
    let own = store.live_on("verdict", run.as_str())?;
    if own.iter().all(|record| record.reviewer != me) {
        let n = text::plural(labels.len() as u64, "label");
        return env.out.say(format!(
            "{n} came with the log; shown here once you have labelled the run yourself (--json has them)"
        ));
    }
    for label in labels {
        let step = label
            .step
            .map_or_else(String::new, |step| format!(", step {step}"));
        let line = format!(
            "log says {}: {}{step}  {}",
            label.source, label.category, label.reason
        );
        env.out.line(text::one_line(&line, LABEL_COLUMNS))?;
    }
    Ok(())
}

/// What people wrote on the run with `triagent note`.
fn notes(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    for record in store.live_on("note", run.as_str())? {
        if let Decision::Note { text, .. } = &record.decision {
            env.out.line(note_line(text, Some(&record.reviewer)))?;
        }
    }
    Ok(())
}

/// Free words behind `note`; further lines stand under the first, where no fact of ours can.
fn note_line(words: &str, by: Option<&str>) -> String {
    let by = by.map_or_else(String::new, |by| format!(" (by {})", by.replace('\n', " ")));
    let words = format!("note     {}{by}", words.trim_end());
    text::visible(&words).replace('\n', "\n         ")
}

pub(super) fn step(store: &Store, run: &RunId, index: u32, env: &mut Env) -> Result<()> {
    for step in store.steps_in(run, index..index.saturating_add(1))? {
        let mut line = format!("{run}:{index}  {}  {}", step.owner, step.kind);
        if let Some(tool) = &step.tool {
            line.push_str(&format!(" {tool}"));
        }
        if step.is_failed() {
            line.push_str(&format!("  ✗ {}", step.status));
        }
        let line = env.out.tone(Tone::Bold, &text::visible(&line));
        env.out.line(line)?;
        let body = match step.kind {
            StepKind::ToolCall => indented_json(&step.text),
            _ => step.text,
        };
        env.out.line(text::visible(&body))?;
    }
    Ok(())
}

fn indented_json(raw: &str) -> String {
    serde_json::from_str::<serde_json::Value>(raw)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| raw.to_owned())
}
