//! `jsonl` and `parquet`: everything, for other tools. JSON lines keep the nesting; tables are flat, with nested parts
//! as JSON text.

use super::columns::{Shape, Table};
use super::copy::{may_leave, pair_may_leave, redacted};
use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::merge::{Combine, adopted, token_rows, token_state};
use crate::domain::chat::{context_before, decision_at};
use crate::domain::{Candidate, ChatMessage};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Both sides of a pair and what stood before them.
fn pair_value(pair: &PairInput, desk: &Desk<'_>) -> Result<Value, Error> {
    let Some(decided) = pair.pair() else {
        return Ok(Value::Null);
    };
    let said = |candidate: &Candidate, run: &RunInput| match candidate {
        Candidate::Recorded { at } => decision_at(&run.steps, at.step),
        Candidate::Human { message, .. } => Some(message.clone()),
    };
    let prompt: Vec<ChatMessage> = context_before(&pair.a.steps, decided.a.at().step);
    Ok(json!({
        "record": pair.record,
        "prompt": redacted(&prompt, &pair.a, desk)?,
        "a": redacted(&said(&decided.a, &pair.a), &pair.a, desk)?,
        "b": redacted(&said(&decided.b, &pair.b), &pair.b, desk)?,
    }))
}

/// The task list, without the words that no run may say.
fn tasks(desk: &Desk<'_>) -> Result<Vec<Value>, Error> {
    let redactor = desk.redactor();
    let tasks = desk.facts.tasks.iter().map(|task| {
        let mut row = serde_json::to_value(task).map_err(|e| Error::Options(e.to_string()))?;
        redactor.value(&mut row);
        Ok(row)
    });
    tasks.collect()
}

/// `jsonl`.
#[derive(Default)]
pub(crate) struct Lines;

impl Consumer for Lines {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if let Err(why) = may_leave(run, desk) {
            desk.leave_out(&run.head.id, &why);
            return Ok(());
        }
        desk.versions(run);
        let whole = json!({
            "run": run.head, "steps": run.steps, "calls": run.calls, "rewards": run.rewards, "verdict": run.verdict,
            "decisions": run.decisions, "labels": run.labels, "findings": run.findings,
            "token_ids": token_note(run),
        });
        let part = desk.part(run);
        let row = redacted(&whole, run, desk)?;
        desk.row(part, &row)?;
        for (at, row) in token_rows(&adopted(run), Combine::ExactPrefix)
            .iter()
            .enumerate()
        {
            let line = json!({"run": run.head.id, "row": at, "combine": Combine::ExactPrefix.word(), "tokens": row});
            desk.folder.line(&format!("tokens/{part}.jsonl"), &line)?;
        }
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if !pair_may_leave(pair, desk) {
            return Ok(());
        }
        let part = desk.part(&pair.a);
        let row = pair_value(pair, desk)?;
        desk.folder.line(&format!("pairs/{part}.jsonl"), &row)
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows =
            "one run with all that belongs to it; token rows join calls by exact prefix";
        for task in tasks(desk)? {
            desk.folder.line("tasks.jsonl", &task)?;
        }
        for document in &desk.facts.documents {
            desk.folder.line("documents.jsonl", document)?;
        }
        Ok(())
    }
}

/// S-26: what only text was stored of cannot be brought back by tokenising it again.
fn token_note(run: &RunInput) -> &'static str {
    if token_state(run).complete {
        "exact"
    } else {
        "original generation not recoverable: only text was stored"
    }
}

type Columns = &'static [(&'static str, Kind)];

/// What a column of a flat table holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Int,
    Float,
    Bool,
    /// A nested part as JSON text.
    Json,
}

const RUNS: Columns = &[
    ("id", Kind::Text),
    ("part", Kind::Text),
    ("task", Kind::Text),
    ("family", Kind::Text),
    ("scenario", Kind::Text),
    ("group", Kind::Text),
    ("trial", Kind::Text),
    ("format", Kind::Text),
    ("source", Kind::Text),
    ("harness", Kind::Json),
    ("model", Kind::Text),
    ("index_version", Kind::Text),
    ("prompt_version", Kind::Text),
    ("toolset_version", Kind::Text),
    ("checkpoint", Kind::Text),
    ("tokenizer", Kind::Text),
    ("tools", Kind::Json),
    ("outcome", Kind::Text),
    ("outcome_source", Kind::Text),
    ("ending", Kind::Text),
    ("ending_note", Kind::Text),
    ("outcome_only", Kind::Bool),
    ("started_us", Kind::Int),
    ("finished_us", Kind::Int),
    ("token_ids", Kind::Text),
    ("extra", Kind::Json),
];
const STEPS: Columns = &[
    ("run", Kind::Text),
    ("index", Kind::Int),
    ("owner", Kind::Text),
    ("kind", Kind::Text),
    ("role", Kind::Text),
    ("message", Kind::Int),
    ("call", Kind::Int),
    ("text", Kind::Text),
    ("tool", Kind::Text),
    ("tool_call_id", Kind::Text),
    ("status", Kind::Text),
    ("name", Kind::Text),
    ("documents", Kind::Json),
    ("replaces", Kind::Json),
    ("off_path", Kind::Bool),
    ("copied", Kind::Bool),
    ("at_us", Kind::Int),
    ("extra", Kind::Json),
];
const CALLS: Columns = &[
    ("run", Kind::Text),
    ("index", Kind::Int),
    ("logical_request_id", Kind::Text),
    ("request_id", Kind::Text),
    ("attempt", Kind::Text),
    ("event_id", Kind::Text),
    ("event_id_minted", Kind::Bool),
    ("reports", Kind::Int),
    ("adopted", Kind::Text),
    ("model", Kind::Text),
    ("model_version", Kind::Text),
    ("sampling", Kind::Json),
    ("usage", Kind::Json),
    ("finish_reason", Kind::Text),
    ("error", Kind::Text),
    ("retry_count", Kind::Int),
    ("cost_usd", Kind::Float),
    ("latency_ms", Kind::Float),
    ("prompt_token_ids", Kind::Json),
    ("completion_token_ids", Kind::Json),
    ("logprobs", Kind::Json),
    ("context_rewrite", Kind::Bool),
    ("at_us", Kind::Int),
    ("extra", Kind::Json),
];
const REWARDS: Columns = &[
    ("run", Kind::Text),
    ("grader", Kind::Text),
    ("version", Kind::Text),
    ("isolated", Kind::Bool),
    ("result", Kind::Float),
    ("evidence", Kind::Float),
    ("side_effects", Kind::Json),
    ("cost", Kind::Float),
    ("status", Kind::Text),
    ("detail", Kind::Json),
];
const DECISIONS: Columns = &[
    ("run", Kind::Text),
    ("id", Kind::Text),
    ("reviewer", Kind::Text),
    ("at_us", Kind::Int),
    ("kind", Kind::Text),
    ("decision", Kind::Json),
    ("codebook", Kind::Text),
    ("replaces", Kind::Text),
];
const PAIRS: Columns = &[
    ("id", Kind::Text),
    ("part", Kind::Text),
    ("reviewer", Kind::Text),
    ("at_us", Kind::Int),
    ("choice", Kind::Text),
    ("criteria", Kind::Json),
    ("reason", Kind::Text),
    ("evidence", Kind::Text),
    ("standard", Kind::Text),
    ("context_hash", Kind::Text),
    ("a_at", Kind::Text),
    ("b_at", Kind::Text),
    ("prompt", Kind::Json),
    ("a", Kind::Json),
    ("b", Kind::Json),
];
const TASKS: Columns = &[
    ("task_id", Kind::Text),
    ("family", Kind::Text),
    ("scenario", Kind::Text),
    ("prompt", Kind::Text),
    ("date", Kind::Text),
    ("requires", Kind::Json),
    ("expected", Kind::Json),
    ("standard", Kind::Json),
    ("grader", Kind::Json),
    ("tools", Kind::Json),
];

/// `parquet`.
#[derive(Default)]
pub(crate) struct Tables {
    open: BTreeMap<&'static str, (Columns, Table)>,
}

impl Consumer for Tables {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if let Err(why) = may_leave(run, desk) {
            desk.leave_out(&run.head.id, &why);
            return Ok(());
        }
        desk.versions(run);
        let part = desk.part(run);
        let id = run.head.id.as_str();
        let mut head = redacted(&run.head, run, desk)?;
        head["part"] = json!(part.word());
        head["token_ids"] = json!(token_note(run));
        self.push(desk, "runs.parquet", RUNS, &head)?;
        desk.count(part);
        self.all(desk, "steps.parquet", STEPS, run, &run.steps)?;
        self.all(desk, "calls.parquet", CALLS, run, &run.calls)?;
        self.all(desk, "rewards.parquet", REWARDS, run, &run.rewards)?;
        for record in &run.decisions {
            let row = json!({
                "run": id, "id": record.id, "reviewer": record.reviewer, "at_us": record.at_us,
                "kind": record.decision.kind(), "decision": record.decision, "codebook": record.codebook,
                "replaces": record.replaces,
            });
            self.push(
                desk,
                "decisions.parquet",
                DECISIONS,
                &redacted(&row, run, desk)?,
            )?;
        }
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(decided) = pair.pair() else {
            return Ok(());
        };
        if !pair_may_leave(pair, desk) {
            return Ok(());
        }
        let mut row = pair_value(pair, desk)?;
        let record = &pair.record;
        let more = json!({
            "id": record.id, "part": desk.part(&pair.a).word(), "reviewer": record.reviewer, "at_us": record.at_us,
            "choice": decided.choice, "criteria": decided.criteria, "reason": decided.reason,
            "evidence": decided.evidence, "standard": decided.standard, "context_hash": decided.context_hash,
            "a_at": decided.a.at().to_string(), "b_at": decided.b.at().to_string(),
        });
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        self.push(desk, "pairs.parquet", PAIRS, &row)
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one run; steps, calls, rewards and decisions in tables of their own";
        for row in tasks(desk)? {
            self.push(desk, "tasks.parquet", TASKS, &row)?;
        }
        for (name, (_, table)) in std::mem::take(&mut self.open) {
            let rows = table.rows;
            let sheet = table.finish().map_err(Error::parquet)?;
            desk.folder.give_back(name, sheet, rows)?;
        }
        Ok(())
    }
}

impl Tables {
    fn all<T: Serialize>(
        &mut self,
        desk: &Desk<'_>,
        name: &'static str,
        columns: Columns,
        run: &RunInput,
        items: &[T],
    ) -> Result<(), Error> {
        for item in items {
            let mut row = redacted(item, run, desk)?;
            row["run"] = json!(run.head.id);
            self.push(desk, name, columns, &row)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        desk: &Desk<'_>,
        name: &'static str,
        columns: Columns,
        row: &Value,
    ) -> Result<(), Error> {
        if !self.open.contains_key(name) {
            let table =
                Table::new(desk.folder.lend(name)?, shapes(columns)).map_err(Error::parquet)?;
            self.open.insert(name, (columns, table));
        }
        match self.open.get_mut(name) {
            Some((columns, table)) => table.push(&flat(columns, row)).map_err(Error::parquet),
            None => Ok(()),
        }
    }
}

fn shapes(columns: Columns) -> Vec<(String, Shape)> {
    let shape = |kind: Kind| match kind {
        Kind::Text | Kind::Json => Shape::Text,
        Kind::Int => Shape::Int,
        Kind::Float => Shape::Float,
        Kind::Bool => Shape::Bool,
    };
    columns
        .iter()
        .map(|(n, k)| ((*n).to_owned(), shape(*k)))
        .collect()
}

fn flat(columns: Columns, row: &Value) -> Value {
    let mut out = serde_json::Map::new();
    for (name, kind) in columns {
        let value = row.get(*name).filter(|v| !v.is_null());
        let value = match (kind, value) {
            (Kind::Json, Some(nested)) => json!(nested.to_string()),
            (_, Some(value)) => value.clone(),
            (_, None) => Value::Null,
        };
        out.insert((*name).to_owned(), value);
    }
    Value::Object(out)
}
