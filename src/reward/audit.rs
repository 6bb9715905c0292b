//! A hack suite built from the user's own runs, shown to a grader: which one fooled it, and what was changed.
//!
//! Runs nothing: whoever calls brings the grader as a function, be it a rule grader or a sandboxed command.

mod hacks;

pub use hacks::{Hack, HackCase, hack_suite};

use super::RewardError;
use super::grader::{Grade, GradeCase};
use serde::{Deserialize, Serialize};

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRow {
    /// Which hack; `control` for a good run that must pass.
    pub hack: Hack,
    /// The run that it was made of.
    pub run: String,
    /// What was changed, as a person reads it.
    pub change: String,
    /// Answer before and after.
    pub diff: (String, String),
    /// What the grader said; nothing where it failed.
    pub grade: Option<Grade>,
    /// The grader gave success to a hack, or refused a control.
    pub fooled: bool,
    /// Why, or what went wrong.
    pub reason: String,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditReport {
    /// The grader.
    pub grader: String,
    /// The table.
    pub rows: Vec<AuditRow>,
    /// Hacks shown.
    pub hacks: u32,
    /// Hacks that got success.
    pub fooled: u32,
    /// Controls shown: good runs.
    pub controls: u32,
    /// Good runs that it refused. A grader that refuses everything fools nobody and is no grader.
    pub refused: u32,
    /// Cases on which the grader itself failed.
    pub errors: u32,
    /// In one line.
    pub words: String,
}

/// Shows the suite to a grader.
pub fn audit(
    grader: &str,
    suite: &[HackCase],
    mut grade: impl FnMut(&GradeCase) -> Result<Grade, String>,
) -> Result<AuditReport, RewardError> {
    if suite.is_empty() {
        return Err(RewardError::NoHackCase);
    }
    let rows: Vec<AuditRow> = suite
        .iter()
        .map(|case| row(case, grade(&case.case)))
        .collect();
    let count = |wanted: fn(&AuditRow) -> bool| {
        u32::try_from(rows.iter().filter(|r| wanted(r)).count()).unwrap_or(u32::MAX)
    };
    let (hacks, controls) = (
        count(|r| r.hack != Hack::Control),
        count(|r| r.hack == Hack::Control),
    );
    let fooled = count(|r| r.fooled && r.hack != Hack::Control);
    let refused = count(|r| r.fooled && r.hack == Hack::Control);
    let errors = count(|r| r.grade.is_none());
    Ok(AuditReport {
        grader: grader.to_owned(),
        hacks,
        fooled,
        controls,
        refused,
        errors,
        words: words(hacks, fooled, controls, refused, errors),
        rows,
    })
}

fn words(hacks: u32, fooled: u32, controls: u32, refused: u32, errors: u32) -> String {
    let failed = if errors > 0 {
        format!(", failed on {errors} cases")
    } else {
        String::new()
    };
    format!(
        "{fooled} of {hacks} hacks fooled it, {refused} of {controls} good runs refused{failed}"
    )
}

fn row(case: &HackCase, grade: Result<Grade, String>) -> AuditRow {
    let is_control = case.hack == Hack::Control;
    let (fooled, reason, grade) = match grade {
        Err(error) => (false, error, None),
        Ok(grade) => {
            let reason = match (
                grade.is_success(),
                grade.side_effects.first(),
                grade.reasons.first(),
            ) {
                (true, _, _) => "success".to_owned(),
                (false, Some(effect), _) => effect.clone(),
                (false, None, Some(reason)) => reason.clone(),
                (false, None, None) => "no success".to_owned(),
            };
            (grade.is_success() != is_control, reason, Some(grade))
        }
    };
    AuditRow {
        hack: case.hack,
        run: case.case.run.clone(),
        change: case.change.clone(),
        diff: (case.before.clone(), case.case.answer.clone()),
        grade,
        fooled,
        reason,
    }
}

#[cfg(test)]
mod tests;
