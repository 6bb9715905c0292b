//! A run as one JSON object: what outside checks rely on (DESIGN §6), and more.

use crate::cli::env::Env;
use crate::cli::list::{run_json, verdict_json};
use crate::domain::{Call, Decision, RunId, Step};
use crate::error::Result;
use crate::jobs;
use crate::store::Store;
use serde_json::{Map, Value, json};

pub(super) fn run(store: &Store, run: &RunId, env: &mut Env) -> Result<()> {
    let facts = jobs::run_facts(store, run)?;
    let mut object = run_json(&store.run_row(run)?);
    let calls: Vec<_> = store.calls(run)?.iter().map(call_json).collect();
    let verdict = store
        .verdict(run)?
        .and_then(|record| match &record.decision {
            Decision::Verdict(v) | Decision::Adjudication(v) => Some(verdict_json(&record, v)),
            _ => None,
        });
    let notes: Vec<Value> = store
        .live_on("note", run.as_str())?
        .iter()
        .filter_map(|record| match &record.decision {
            Decision::Note { text, .. } => Some(json!({
                "id": record.id,
                "reviewer": record.reviewer,
                "at_us": record.at_us,
                "text": text,
            })),
            _ => None,
        })
        .collect();
    let more = json!({
        "steps": facts.steps.iter().map(step_json).collect::<Vec<_>>(),
        "calls": calls,
        "rewards": store.rewards(run)?,
        "evidence": facts.evidence(&jobs::register(store)?),
        "verdict_in_full": verdict,
        "notes": notes,
        "foreign_labels": store.foreign_labels(run)?,
        "head": facts.rollout,
    });
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.insert("step_count".to_owned(), json!(facts.steps.len()));
        object.extend(more);
    }
    env.out.row(&object)
}

pub(super) fn step(store: &Store, run: &RunId, step: u32, env: &mut Env) -> Result<()> {
    for step in store.steps_in(run, step..step.saturating_add(1))? {
        let mut object = step_json(&step);
        object.insert("run".to_owned(), json!(run));
        env.out.row(&object)?;
    }
    Ok(())
}

fn step_json(step: &Step) -> Map<String, Value> {
    object(json!({
        "index": step.index,
        "owner": step.owner,
        "kind": step.kind,
        "role": step.role,
        "message": step.message,
        "call": step.call,
        "tool": step.tool,
        "tool_call_id": step.tool_call_id,
        "status": step.status,
        "text": step.text,
        "name": step.name,
        "documents": step.documents,
        "replaces": step.replaces,
        "off_path": step.off_path,
        "copied": step.copied,
        "at_us": step.at_us,
        "source": step.source,
        "extra": step.extra,
    }))
}

pub(crate) fn call_json(call: &Call) -> Map<String, Value> {
    let mut fields = object(serde_json::to_value(call).unwrap_or_default());
    // Token ids and log-probs of a call can be megabytes; how many there are is what a reader wants to know.
    for long in ["prompt_token_ids", "completion_token_ids", "logprobs"] {
        let count = fields.get(long).and_then(Value::as_array).map(Vec::len);
        fields.insert(long.to_owned(), json!(count));
    }
    fields
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
