//! The fault suite that the program carries: failed decisions whose cause was put in, read as any log is read.

use super::CalibrateError;
use crate::domain::{
    Call, ChatMessage, Document, Item, Layer, Progress, Reward, Rollout, Step, Task,
};
use crate::import::read_bytes;
use crate::jobs::read_written;
use crate::triage::{
    Edit, Evidence, EvidenceFacts, Register, RunView, WrittenTexts, evidence_status,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const SUITE: &str = include_str!("../../../assets/fault-suite/suite.jsonl");

/// Author of the suite's variants in a plan.
const AUTHOR: &str = "fault suite";

#[derive(Deserialize)]
struct Record {
    id: String,
    task_key: String,
    cause: String,
    truth: Truth,
    task: Task,
    documents: Vec<Document>,
    run: Value,
    corrected: Vec<Value>,
    variants: BTreeMap<String, Edit>,
    placebos: Vec<String>,
}

#[derive(Deserialize)]
struct Truth {
    accept: Vec<Layer>,
}

/// One failure with a known cause.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) cause: String,
    pub(super) truth: Layer,
    pub(super) documents: Vec<Document>,
    pub(super) head: Rollout,
    pub(super) steps: Vec<Step>,
    pub(super) calls: Vec<Call>,
    pub(super) rewards: Vec<Reward>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) corrected: Vec<ChatMessage>,
    pub(super) written: WrittenTexts,
    pub(super) placebos: Vec<String>,
}

impl Case {
    pub(super) fn view(&self) -> RunView<'_> {
        RunView {
            rollout: &self.head,
            steps: &self.steps,
            calls: &self.calls,
        }
    }
}

/// Tells one edition of the suite from another.
pub(super) fn edition() -> String {
    blake3::hash(SUITE.as_bytes())
        .to_hex()
        .chars()
        .take(16)
        .collect()
}

/// Reads all cases.
pub(super) fn cases() -> Result<Vec<Case>, CalibrateError> {
    SUITE
        .lines()
        .enumerate()
        .map(|(i, line)| case(i + 1, line))
        .collect()
}

fn case(line: usize, text: &str) -> Result<Case, CalibrateError> {
    let broken = |why: String| CalibrateError::Suite { line, why };
    let record: Record = serde_json::from_str(text).map_err(|e| broken(e.to_string()))?;
    let corrected = record
        .corrected
        .iter()
        .map(|m| read_written(&m.to_string()));
    let corrected: Result<Vec<ChatMessage>, _> = corrected.collect();
    let mut out = Case {
        corrected: corrected.map_err(|e| broken(e.to_string()))?,
        written: written(record.variants),
        id: record.id,
        group: record.task_key,
        cause: record.cause,
        truth: record
            .truth
            .accept
            .first()
            .copied()
            .unwrap_or(Layer::Undetermined),
        head: Rollout::new("", "", ""),
        steps: Vec::new(),
        calls: Vec::new(),
        rewards: Vec::new(),
        evidence: Vec::new(),
        placebos: record.placebos,
        documents: record.documents,
    };
    read(&record.run, &mut out);
    let register = Register::new(out.documents.iter().cloned());
    out.evidence = evidence_status(&EvidenceFacts {
        rollout: &out.head,
        steps: &out.steps,
        task: Some(&record.task),
        requires: &[],
        register: &register,
        decisive: None,
    });
    Ok(out)
}

fn read(run: &Value, into: &mut Case) {
    let mut items: Vec<Item> = Vec::new();
    let bytes = run.to_string().into_bytes();
    read_bytes(
        "suite.json",
        bytes,
        Some("atif"),
        &mut items,
        &Progress::default(),
    );
    for item in items {
        match item {
            Item::Begin(head) | Item::End(head) => into.head = *head,
            Item::Step(step) => into.steps.push(*step),
            Item::Call(call) => into.calls.push(*call),
            Item::Reward(reward) => into.rewards.push(*reward),
            Item::Label(_) | Item::Skip(_) | Item::NotUnderstood { .. } => {}
        }
    }
}

fn written(mut variants: BTreeMap<String, Edit>) -> WrittenTexts {
    let mut take = |name: &str| variants.remove(name);
    let text = |edit: Option<Edit>| match edit {
        Some(Edit::InsertText { text }) => Some(text),
        _ => None,
    };
    WrittenTexts {
        author: AUTHOR.to_owned(),
        document: text(take("E")),
        restored: take("C"),
        removed: take("-E"),
        tool: take("T"),
        tool_placebo: take("TP"),
        hint: text(take("O")),
    }
}
