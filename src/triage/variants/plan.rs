//! Plans a probe: which variants can be built from register and task list, which a reviewer wrote, cell by cell.
//!
//! The plan is made, and stored with author and diff, before any score is seen; every planned variant is shown later.

use super::edit::{Context, Edit, EditError, apply_edit};
use super::leak::leaked_words;
use super::placebo::pick_placebos;
use super::wording::{as_text, changed_text, diff, hint, in_place_of};
use crate::domain::{ChatMessage, Document, EvidenceStatus, Role};
use crate::text::Plain;
use crate::triage::evidence::Evidence;
use crate::triage::probe::{Cell, Placement, Variant};
use serde::{Deserialize, Serialize};

/// Placebos of each cell.
const PLACEBOS_A_CELL: usize = 3;

/// Texts that a reviewer wrote for a probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WrittenTexts {
    /// Who wrote them.
    pub author: String,
    /// A missing document, where the register has none.
    pub document: Option<String>,
    /// A dropped text and the message that it belongs to.
    pub restored: Option<Edit>,
    /// Evidence in the prompt, taken out.
    pub removed: Option<Edit>,
    /// A tool text rewritten.
    pub tool: Option<Edit>,
    /// An unused tool said otherwise: the tool text's placebo.
    pub tool_placebo: Option<Edit>,
    /// A hint that names the right action; made from the corrected action where absent.
    pub hint: Option<String>,
}

/// What a plan is made of.
#[derive(Clone, Copy)]
pub struct PlanFacts<'a> {
    /// The recorded context.
    pub context: &'a Context,
    /// The corrected action.
    pub corrected: &'a ChatMessage,
    /// The decision is a tool call.
    pub is_tool_decision: bool,
    /// Status of each required document.
    pub evidence: &'a [Evidence],
    /// Required documents of the register, in the order of `evidence`.
    pub documents: &'a [Option<&'a Document>],
    /// What a reviewer wrote.
    pub written: &'a WrittenTexts,
    /// Unrelated texts.
    pub stock: &'a [&'a str],
    /// Harmless wrappers; the first is empty.
    pub wrappers: &'a [&'a str],
    /// Measures a text in tokens.
    pub count: &'a dyn Fn(&str) -> usize,
    /// Draws placebos.
    pub seed: u64,
    /// 1 for a screen, 12 for a verdict.
    pub cells: usize,
}

/// A variant with everything that was decided before scoring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedVariant {
    /// Which change.
    pub variant: Variant,
    /// Who made it.
    pub author: String,
    /// What exactly is changed, for the table.
    pub diff: String,
    /// The change.
    pub edit: Edit,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Placebo edits of each cell.
    pub placebos: Vec<Vec<Edit>>,
}

/// A probe, planned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbePlan {
    /// Variants.
    pub variants: Vec<PlannedVariant>,
    /// Wrappers by number.
    pub wrappers: Vec<String>,
    /// What could not be planned, and why.
    pub notes: Vec<String>,
}

/// Contexts of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCell {
    /// The recorded context in this cell's wrapper.
    pub baseline: Context,
    /// The changed context.
    pub changed: Context,
    /// The placebos.
    pub placebos: Vec<Context>,
}

/// Why no probe can be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A written text gives the answer away.
    #[error(
        "the {what} repeats the corrected action: \"{words}\"\nhint: write the evidence, not the answer"
    )]
    Leak {
        /// Which text.
        what: &'static str,
        /// The shared words.
        words: String,
    },
    /// No variant but the control can be built.
    #[error(
        "nothing to change: no document to insert, no text to restore or remove, no tool text\nhint: supply documents and tasks, or write a text for the probe"
    )]
    NothingToChange,
    /// An edit does not apply.
    #[error("{0}")]
    Edit(#[from] EditError),
}

/// Plans a probe for one failed decision.
pub fn plan_probe(facts: &PlanFacts) -> Result<ProbePlan, PlanError> {
    let mut plan = ProbePlan {
        wrappers: facts.wrappers.iter().map(|w| (*w).to_owned()).collect(),
        ..ProbePlan::default()
    };
    check_leaks(facts)?;
    evidence_variants(facts, &mut plan);
    written_variants(facts, &mut plan);
    if plan.variants.is_empty() {
        return Err(PlanError::NothingToChange);
    }
    add(
        facts,
        &mut plan,
        Variant::Oracle,
        "corrected action",
        Edit::InsertText {
            text: hint(facts.written, facts.corrected),
        },
    );
    for planned in &plan.variants {
        // Every edit is tried once now, so that nothing fails half-way through the scoring.
        plan.cell(facts.context, planned, 0)?;
    }
    Ok(plan)
}

impl ProbePlan {
    /// Builds the contexts of one cell.
    pub fn cell(
        &self,
        context: &Context,
        planned: &PlannedVariant,
        at: usize,
    ) -> Result<PlannedCell, EditError> {
        let Some(cell) = planned.cells.get(at) else {
            return Err(EditError::NoSlot);
        };
        let wrapper = self
            .wrappers
            .get(usize::from(cell.wrapper))
            .map_or("", String::as_str);
        let edited =
            |edit: &Edit| apply_edit(context, edit, cell.placement).map(|c| wrapped(c, wrapper));
        let placebos = planned.placebos.get(at).map_or(&[][..], Vec::as_slice);
        Ok(PlannedCell {
            baseline: wrapped(context.clone(), wrapper),
            changed: edited(&planned.edit)?,
            placebos: placebos.iter().map(edited).collect::<Result<_, _>>()?,
        })
    }
}

/// The wrapper stands at the very end, so that all cells share their prefix.
fn wrapped(mut context: Context, wrapper: &str) -> Context {
    let last = context
        .messages
        .iter_mut()
        .rev()
        .find(|m| m.role != Role::Assistant);
    if let Some(message) = last.filter(|_| !wrapper.is_empty()) {
        let old = message.content.take().unwrap_or_default();
        message.content = Some(if old.is_empty() {
            wrapper.to_owned()
        } else {
            format!("{old}\n{wrapper}")
        });
    }
    context
}

fn evidence_variants(facts: &PlanFacts, plan: &mut ProbePlan) {
    // All missing documents go in at once: the question is whether evidence would have mattered, not which.
    let (mut missing, mut lost): (Vec<Text>, Vec<Text>) = (Vec::new(), Vec::new());
    for (i, evidence) in facts.evidence.iter().enumerate() {
        let document = facts.documents.get(i).copied().flatten();
        match evidence.status {
            EvidenceStatus::NotIndexed
            | EvidenceStatus::StaleOnly
            | EvidenceStatus::NotRetrieved => {
                missing.extend(document.map(|d| (as_text(d), "register")));
                if document.is_none() {
                    plan.notes.push(format!(
                        "{}: the register has no text to insert",
                        evidence.doc_id
                    ));
                }
            }
            EvidenceStatus::NotInPrompt => lost.push(dropped(evidence, document)),
            EvidenceStatus::InPrompt => remove(facts, plan, evidence),
            EvidenceStatus::Unknown => {
                plan.notes.push(format!(
                    "{}: status unknown, nothing to change",
                    evidence.doc_id
                ));
            }
        }
    }
    for (variant, texts) in [(Variant::Evidence, missing), (Variant::Context, lost)] {
        let author = texts.first().map(|(_, author)| *author);
        let text: Vec<String> = texts
            .into_iter()
            .map(|(t, _)| t)
            .filter(|t| !t.is_empty())
            .collect();
        if let Some(author) = author.filter(|_| !text.is_empty()) {
            add(
                facts,
                plan,
                variant,
                author,
                Edit::InsertText {
                    text: text.join("\n"),
                },
            );
        }
    }
}

/// A text and who it comes from.
type Text = (String, &'static str);

/// What was cut: the whole version where the register has it, else the required words.
fn dropped(evidence: &Evidence, document: Option<&Document>) -> Text {
    if let Some(document) = document {
        return (as_text(document), "register");
    }
    let missing = evidence.spans.iter().filter(|s| !s.in_view);
    let words: Vec<&str> = missing.map(|s| s.text.as_str()).collect();
    (words.join("\n"), "task list")
}

/// Takes every required span out of the message that holds it, and for the second question moves it.
fn remove(facts: &PlanFacts, plan: &mut ProbePlan, evidence: &Evidence) {
    if plan.variants.iter().any(|v| v.variant == Variant::Removed) {
        return;
    }
    for span in evidence.spans.iter().filter(|s| s.part == "span") {
        let holder = facts
            .context
            .messages
            .iter()
            .enumerate()
            .find_map(|(i, m)| {
                let content = m.content.as_deref()?;
                let range = Plain::new(content).find(&Plain::new(&span.text))?;
                let found = content.get(range)?;
                (m.role != Role::Assistant && content.matches(found).count() == 1)
                    .then(|| (i, found.to_owned()))
            });
        let Some((message, text)) = holder else {
            plan.notes.push(format!(
                "\"{}\" stands more than once, so it cannot be taken out",
                span.text
            ));
            continue;
        };
        take_out(facts, plan, "task list", message, text);
        return;
    }
}

/// What is taken out is for the second question moved.
fn take_out(facts: &PlanFacts, plan: &mut ProbePlan, author: &str, message: usize, text: String) {
    let moved = Edit::MoveText {
        message,
        text: text.clone(),
    };
    let removed = Edit::RemoveText { message, text };
    add(facts, plan, Variant::Removed, author, removed);
    add(facts, plan, Variant::Moved, author, moved);
}

fn written_variants(facts: &PlanFacts, plan: &mut ProbePlan) {
    let w = facts.written;
    let has = |plan: &ProbePlan, v: Variant| plan.variants.iter().any(|p| p.variant == v);
    if let Some(text) = w
        .document
        .as_ref()
        .filter(|_| !has(plan, Variant::Evidence))
    {
        add(
            facts,
            plan,
            Variant::Evidence,
            &w.author,
            Edit::InsertText { text: text.clone() },
        );
    }
    if let Some(edit) = w.restored.as_ref().filter(|_| !has(plan, Variant::Context)) {
        add(facts, plan, Variant::Context, &w.author, edit.clone());
    }
    if let Some(Edit::RemoveText { message, text }) =
        w.removed.as_ref().filter(|_| !has(plan, Variant::Removed))
    {
        take_out(facts, plan, &w.author, *message, text.clone());
    }
    if let Some(edit) = &w.tool {
        if facts.is_tool_decision {
            add(facts, plan, Variant::Tool, &w.author, edit.clone());
        } else {
            plan.notes
                .push("the decision chose no tool, so the tool text is left alone".to_owned());
        }
    }
}

fn add(facts: &PlanFacts, plan: &mut ProbePlan, variant: Variant, author: &str, edit: Edit) {
    let cells = cells(variant, &edit, facts.cells, facts.wrappers.len());
    let placebos = placebos(facts, &edit, cells.len());
    if placebos.is_empty() {
        plan.notes
            .push(format!("{}: no placebo of equal length", variant.word()));
    }
    plan.variants.push(PlannedVariant {
        variant,
        author: author.to_owned(),
        diff: diff(&edit),
        edit,
        cells,
        placebos,
    });
}

/// Documents and tool texts: 3 placements × 4 wrappers. Restored and removed texts: own slot × 12 wrappers.
fn cells(variant: Variant, edit: &Edit, wanted: usize, wrappers: usize) -> Vec<Cell> {
    let placed = matches!(
        edit,
        Edit::InsertText { .. } | Edit::ReplaceTool { .. } | Edit::MoveText { .. }
    );
    let own_slot = matches!(variant, Variant::Context | Variant::Removed) || !placed;
    let placements: &[Placement] = match (own_slot, variant) {
        (true, _) => &[Placement::Natural],
        // Moved to where it already stands it would not have moved.
        (false, Variant::Moved) => &[Placement::Start, Placement::End],
        (false, _) => &[Placement::Natural, Placement::Start, Placement::End],
    };
    let all = (0..wrappers.max(1)).flat_map(|w| placements.iter().map(move |p| (w, *p)));
    all.take(wanted)
        .map(|(wrapper, placement)| Cell {
            placement,
            wrapper: u8::try_from(wrapper).unwrap_or(0),
        })
        .collect()
}

/// Every cell has its own placebos, all distinct.
fn placebos(facts: &PlanFacts, edit: &Edit, cells: usize) -> Vec<Vec<Edit>> {
    if let Edit::ReplaceTool { .. } = edit {
        return match &facts.written.tool_placebo {
            Some(placebo) => vec![vec![placebo.clone()]; cells],
            None => Vec::new(),
        };
    }
    let target = changed_text(edit);
    let picked = pick_placebos(
        facts.stock,
        &target,
        cells * PLACEBOS_A_CELL,
        facts.count,
        facts.seed,
    );
    if picked.len() < cells {
        return Vec::new();
    }
    let mut out = vec![Vec::new(); cells];
    for (i, placebo) in picked.into_iter().enumerate() {
        if let Some(cell) = out.get_mut(i % cells.max(1)) {
            cell.push(in_place_of(edit, placebo.text));
        }
    }
    out
}

/// What a reviewer wrote must be evidence, not the answer; the register's own words may be quoted.
fn check_leaks(facts: &PlanFacts) -> Result<(), PlanError> {
    let held: Vec<&str> = facts
        .context
        .messages
        .iter()
        .filter_map(|m| m.content.as_deref())
        .chain(facts.documents.iter().flatten().map(|d| d.text.as_str()))
        .collect();
    let restored = facts.written.restored.as_ref().map(changed_text);
    let tool = facts.written.tool.as_ref().map(changed_text);
    let texts = [
        ("written document", facts.written.document.as_ref()),
        ("restored text", restored.as_ref()),
        ("tool text", tool.as_ref()),
    ];
    for (what, text) in texts {
        let words = text.and_then(|t| leaked_words(t, facts.corrected, &held));
        if let Some(words) = words {
            return Err(PlanError::Leak { what, words });
        }
    }
    Ok(())
}
