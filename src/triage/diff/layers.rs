//! Which layer differs between two runs, by fingerprint (versions and hashes), never by the answer.

use crate::domain::{Owner, Step};
use crate::triage::view::RunView;
use serde::Serialize;

/// A layer that two runs can differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedLayer {
    /// Index version.
    Index,
    /// What was put into the context beside the prompt: summaries, reminders.
    Context,
    /// Tool schemas and tool set version.
    ToolText,
    /// System prompt and its version.
    Prompt,
    /// Weights, tokenizer, model name.
    Parameters,
    /// Harness name, version, stop rule, compression.
    Harness,
    /// Temperature and the like.
    Sampling,
}

impl ComparedLayer {
    /// The word on screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Context => "context",
            Self::ToolText => "tool text",
            Self::Prompt => "prompt",
            Self::Parameters => "parameters",
            Self::Harness => "harness",
            Self::Sampling => "sampling",
        }
    }
}

/// What the fingerprints of one layer say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerState {
    /// Known on both sides and equal.
    Same,
    /// Known on both sides and different.
    Differs,
    /// Unknown on at least one side.
    Unknown,
}

/// One layer compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerDifference {
    /// The layer.
    pub layer: ComparedLayer,
    /// What the fingerprints say.
    pub state: LayerState,
    /// First run's fingerprint, as people read it.
    pub a: String,
    /// Second run's fingerprint.
    pub b: String,
}

/// Parts of a fingerprint; an unknown part is unknown, not empty.
type Print = Vec<(&'static str, Option<String>)>;

type Fingerprint = fn(&RunView) -> Print;

pub(super) fn compare(a: &RunView, b: &RunView) -> Vec<LayerDifference> {
    let prints: [(ComparedLayer, Fingerprint); 7] = [
        (ComparedLayer::Index, index),
        (ComparedLayer::Context, context),
        (ComparedLayer::ToolText, tool_text),
        (ComparedLayer::Prompt, prompt),
        (ComparedLayer::Parameters, parameters),
        (ComparedLayer::Harness, harness),
        (ComparedLayer::Sampling, sampling),
    ];
    prints
        .into_iter()
        .map(|(layer, print)| difference(layer, &print(a), &print(b)))
        .collect()
}

/// S-13: what changed between two runs whose answers differ, as far as fingerprints tell.
pub fn weights_note(a: &RunView, b: &RunView, steps_differ: bool) -> String {
    let input = compare(a, b).iter().any(|d| {
        d.state == LayerState::Differs
            && !matches!(d.layer, ComparedLayer::Parameters | ComparedLayer::Sampling)
    });
    let input = input || input_before_answers_differs(a.steps, b.steps);
    let weights = match (&a.rollout.checkpoint, &b.rollout.checkpoint) {
        (Some(x), Some(y)) if x == y => "weights unchanged",
        (Some(_), Some(_)) => "weights changed",
        (_, _) => "weights unknown (no checkpoint in the log)",
    };
    match (input, steps_differ) {
        (true, _) => format!("input changed, {weights}"),
        (false, true) => format!("input unchanged, {weights}: the model sampled another action"),
        (false, false) => format!("nothing differs, {weights}"),
    }
}

/// Something that others wrote differs before the model's own first difference.
fn input_before_answers_differs(a: &[Step], b: &[Step]) -> bool {
    let same = |x: &Step, y: &Step| {
        x.owner == y.owner
            && x.kind == y.kind
            && x.tool == y.tool
            && x.text.trim_end() == y.text.trim_end()
    };
    let first = a.iter().zip(b).find(|(x, y)| !same(x, y));
    first.is_some_and(|(x, y)| x.owner != Owner::Model || y.owner != Owner::Model)
}

fn difference(layer: ComparedLayer, a: &Print, b: &Print) -> LayerDifference {
    let differs = a
        .iter()
        .zip(b)
        .any(|(x, y)| x.1.is_some() && y.1.is_some() && x.1 != y.1);
    let known = a.iter().zip(b).any(|(x, y)| x.1.is_some() && y.1.is_some());
    let one_sided = a.iter().zip(b).any(|(x, y)| x.1.is_some() != y.1.is_some());
    let state = match (differs, known, one_sided) {
        (true, _, _) => LayerState::Differs,
        (false, true, false) => LayerState::Same,
        (false, _, _) => LayerState::Unknown,
    };
    LayerDifference {
        layer,
        state,
        a: read(a),
        b: read(b),
    }
}

fn read(print: &Print) -> String {
    let known: Vec<String> = print
        .iter()
        .filter_map(|(name, value)| value.as_ref().map(|v| format!("{name} {v}")))
        .collect();
    if known.is_empty() {
        "unknown".to_owned()
    } else {
        known.join(", ")
    }
}

fn index(run: &RunView) -> Print {
    vec![("index", run.rollout.index_version.clone())]
}

fn context(run: &RunView) -> Print {
    let inserted = run
        .steps
        .iter()
        .filter(|s| s.owner == Owner::Runtime && s.is_in_context());
    vec![(
        "inserted",
        Some(hash_texts(inserted.map(|s| s.text.as_str()))),
    )]
}

fn tool_text(run: &RunView) -> Print {
    let tools = &run.rollout.tools;
    let texts: Vec<String> = tools.iter().map(ToString::to_string).collect();
    let hash = (!tools.is_empty()).then(|| hash_texts(texts.iter().map(String::as_str)));
    vec![
        ("schemas", hash),
        ("toolset", run.rollout.toolset_version.clone()),
    ]
}

fn prompt(run: &RunView) -> Print {
    let system: Vec<&str> = run
        .steps
        .iter()
        .filter(|s| s.owner == Owner::System && s.is_in_context())
        .map(|s| s.text.as_str())
        .collect();
    let hash = (!system.is_empty()).then(|| hash_texts(system.into_iter()));
    vec![
        ("text", hash),
        ("version", run.rollout.prompt_version.clone()),
    ]
}

fn parameters(run: &RunView) -> Print {
    vec![
        ("checkpoint", run.rollout.checkpoint.clone()),
        ("model", run.rollout.model.clone()),
        ("tokenizer", run.rollout.tokenizer.clone()),
    ]
}

fn harness(run: &RunView) -> Print {
    let h = &run.rollout.harness;
    vec![
        ("name", h.name.clone()),
        ("version", h.version.clone()),
        ("stop rule", h.stop_rule.clone()),
        ("compression", h.compression.clone()),
    ]
}

fn sampling(run: &RunView) -> Print {
    let first = run.calls.iter().find(|c| !c.sampling.is_empty());
    let text = first.and_then(|c| serde_json::to_string(&c.sampling).ok());
    vec![("settings", text)]
}

fn hash_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(12).collect()
}
