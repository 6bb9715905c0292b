//! Changed contexts for the probe, as text: insert, restore, remove, move, rewrite, hint, placebo; planned before any
//! score is seen.
//!
//! Builds contexts; scores nothing and judges nothing.

mod edit;
mod leak;
mod placebo;
mod plan;
mod wording;

pub(super) use edit::tool_name;
pub use edit::{Context, Edit, EditError, TextEdit, ToolEdit, apply_edit};
pub use leak::{LEAK_WORDS, leaked_words};
pub use placebo::{PlaceboText, pick_placebos};
pub use plan::{
    PlanError, PlanFacts, PlannedCell, PlannedVariant, ProbePlan, WrittenTexts, plan_probe,
};

#[cfg(test)]
mod tests;
