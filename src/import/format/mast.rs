//! MAST (MAD): traces of multi-agent systems with the failure modes that annotators marked. The early files hold one run
//! with messages or raw lines, the later set a list of runs with one long text each. Raw text has no owner (S-19).

use super::openai_chat::inside;
use super::{Importer, Input};
use crate::domain::{ForeignLabel, Owner, Role, Rollout, SourceSpan, Step, StepKind, TaskId};
use crate::import::chat::voice;
use crate::import::detect::{Sniff, has_all};
use crate::import::extra::{bounded, keep};
use crate::import::json::{Kind, Node};
use crate::import::mint::{Twins, mint};
use crate::import::out::{Halt, Out};
use crate::import::rows::{Row, each_row};
use crate::import::run::Run;
use serde_json::Value;

/// MAST.
pub(crate) struct Mast;

/// Parts of the set whose labels are copies of each other, says another project that uses it.
const DOUBTFUL: &[&str] = &["AppWorld", "HyperAgent", "OpenManus"];

impl Importer for Mast {
    fn name(&self) -> &'static str {
        "mast"
    }

    fn title(&self) -> &'static str {
        "MAST / MAD traces of multi-agent systems with failure modes"
    }

    fn recognise(&self, sniff: &Sniff) -> Option<String> {
        if !sniff.is_json() {
            return None;
        }
        let is_later = |row: &Value| {
            has_all(row, &["mas_name", "trace"])
                && (row.get("mast_annotation").is_some() || row.get("annotations").is_some())
        };
        if sniff.rows.iter().any(is_later) {
            return Some("rows with mas_name, trace and mast_annotation".to_owned());
        }
        let first = sniff.first();
        (has_all(first, &["trajectory", "problem_statement"])
            && first.pointer("/note/options").is_some())
        .then(|| "trajectory, problem_statement and note.options".to_owned())
    }

    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt> {
        let mut twins = Twins::default();
        each_row(out, input.source, input.sniff.shape, |out, row| {
            if !row.node.is_object() {
                return out.skip(row.span.line, "not a trace");
            }
            let id = twins.name(mint(&[row.text]));
            trace(out, row, input.minted(id, self))
        })
    }
}

fn trace(out: &mut Out<'_>, row: &Row<'_>, mut head: Rollout) -> Result<(), Halt> {
    let node = row.node;
    head.span = row.span;
    head.harness.name = node.id("mas_name");
    head.model = node.id("llm_name");
    head.family = node.id("benchmark_name");
    head.task = node
        .id("instance_id")
        .or_else(|| node.at(&["trace", "key"])?.as_id())
        .map(TaskId);
    keep(
        &mut head.extra,
        node,
        &["trace_id", "problem_statement", "other_data", "round"],
    );
    if let Some(name) = head
        .harness
        .name
        .as_ref()
        .filter(|n| DOUBTFUL.contains(&n.as_str()))
    {
        out.note(format!("labels of {name} in this set are said to be copies of other parts': treat them with care"));
    }
    let mut run = Run::begin(out, head)?;
    let said = node
        .get("trajectory")
        .or_else(|| node.at(&["trace", "trajectory"]))
        .or_else(|| node.get("trace"));
    if let Some(said) = said {
        conversation(&mut run, said, row.span)?;
    }
    labels(&mut run, node)?;
    run.end()
}

/// Messages one by one; lines of a raw log together, because nothing says where a speaker begins.
fn conversation(run: &mut Run<'_, '_>, said: &Node<'_>, row: SourceSpan) -> Result<(), Halt> {
    if said.items().iter().any(Node::is_object) {
        for message in said.items() {
            let role = message.str("role").unwrap_or("");
            let (owner, role) = voice(role).unwrap_or((Owner::Unknown, Role::User));
            let text = lines(message.get("content").unwrap_or(message));
            let mut step = Step::new(owner, StepKind::Text, role, text);
            step.name = message.id("name").or_else(|| message.id("role"));
            step.source = inside(row, message);
            run.say(vec![step], None)?;
        }
        return Ok(());
    }
    let mut step = Step::new(Owner::Unknown, StepKind::Text, Role::User, lines(said));
    step.source = inside(row, said);
    run.say(vec![step], None)?;
    Ok(())
}

fn lines(node: &Node<'_>) -> String {
    let line = |n: &Node<'_>| n.text().map_or_else(|| n.compact(), str::to_owned);
    if node.is_list() {
        let lines: Vec<String> = node.items().iter().map(line).collect();
        return lines.join("\n");
    }
    line(node)
}

/// Every mode that is marked as present is a label of MAST's own.
fn labels(run: &mut Run<'_, '_>, node: &Node<'_>) -> Result<(), Halt> {
    let early = node.at(&["note", "options"]);
    let later = node.get("mast_annotation");
    let marked = early.or(later);
    let reason = node.at(&["note", "text"]).and_then(Node::as_id);
    for (mode, mark) in marked.map_or(&[][..], Node::members) {
        if is_yes(mark) {
            run.label(ForeignLabel {
                source: "mast".to_owned(),
                step: None,
                category: mode.clone().into_owned(),
                reason: reason.clone().unwrap_or_default(),
                detail: Value::Null,
            })?;
        }
    }
    // People's own annotations come in other shapes; they are kept whole.
    if let Some(annotations) = node.get("annotations") {
        run.label(ForeignLabel {
            source: "mast".to_owned(),
            step: None,
            category: "annotations".to_owned(),
            reason: String::new(),
            detail: bounded(annotations),
        })?;
    }
    Ok(())
}

fn is_yes(mark: &Node<'_>) -> bool {
    match &mark.kind {
        Kind::Text(word) => matches!(word.trim().to_lowercase().as_str(), "yes" | "true" | "1"),
        _ => mark.as_f64().is_some_and(|n| n > 0.0),
    }
}
