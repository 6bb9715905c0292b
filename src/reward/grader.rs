//! Rule graders as data: small checks that a person can read, and the case and grade that any grader sees and gives.
//!
//! A user's own command meets the same case as JSON and answers with the same grade; `sandbox` runs it.

mod checks;
mod text;

pub use checks::Check;

use super::RewardError;
use crate::domain::{Document, Owner, Reward, RewardStatus, Step, StepKind, StepStatus, Task};
use serde::{Deserialize, Serialize};
use serde_json::json;

const BUILT_IN: &str = include_str!("../../assets/graders.toml");

/// What a grader sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradeCase {
    /// The run that it is made of.
    pub run: String,
    /// The task, where the task list holds it.
    pub task: Option<Task>,
    /// The final answer.
    pub answer: String,
    /// The steps before it.
    pub steps: Vec<GradeStep>,
    /// All versions of the documents that task or answer name.
    pub documents: Vec<Document>,
}

/// Makes the case of a run: its last answer, the steps on its main path, the documents that task or answer name.
pub fn grade_case(
    run: &str,
    steps: &[Step],
    task: Option<&Task>,
    register: &[Document],
) -> GradeCase {
    let path: Vec<&Step> = steps.iter().filter(|s| s.is_in_context()).collect();
    let is_answer = |s: &&&Step| s.owner == Owner::Model && s.kind == StepKind::Text;
    let last = path.iter().rev().find(is_answer).map(|s| s.message);
    let (said, before): (Vec<&Step>, Vec<&Step>) = path.into_iter().partition(|s| {
        Some(s.message) == last && s.owner == Owner::Model && s.kind == StepKind::Text
    });
    let answer: Vec<&str> = said.iter().map(|s| s.text.as_str()).collect();
    let answer = answer.join("\n");
    let cited = text::citations(&answer);
    let required = task.map_or(&[][..], |t| &t.requires);
    let named = |d: &&Document| {
        required.iter().any(|r| r.doc_id == d.doc_id) || cited.iter().any(|c| c.doc_id == d.doc_id)
    };
    GradeCase {
        run: run.to_owned(),
        task: task.cloned(),
        documents: register.iter().filter(named).cloned().collect(),
        answer,
        steps: before
            .into_iter()
            .map(|s| GradeStep {
                owner: s.owner,
                kind: s.kind,
                tool: s.tool.clone(),
                status: s.status,
                text: s.text.clone(),
            })
            .collect(),
    }
}

/// A step as a grader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeStep {
    /// Who wrote it.
    pub owner: Owner,
    /// What it is.
    pub kind: StepKind,
    /// Tool name.
    pub tool: Option<String>,
    /// How the tool ended.
    pub status: StepStatus,
    /// Its text.
    pub text: String,
}

/// What a grader says: four fields, never one score (S-70).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Final result, 0 to 1.
    pub result: f64,
    /// Evidence support, where it was looked at.
    #[serde(default)]
    pub evidence: Option<f64>,
    /// Forbidden side effects.
    #[serde(default)]
    pub side_effects: Vec<String>,
    /// Cost, in the grader's own unit.
    #[serde(default)]
    pub cost: Option<f64>,
    /// Why.
    #[serde(default)]
    pub reasons: Vec<String>,
}

impl Grade {
    /// The run counts as a success: result reached and nothing forbidden happened (S-71).
    pub fn is_success(&self) -> bool {
        self.result > 0.5 && self.side_effects.is_empty()
    }

    /// The grade as a reward of its run.
    pub fn reward(&self, grader: &str, version: &str, isolated: bool) -> Reward {
        Reward {
            grader: grader.to_owned(),
            version: Some(version.to_owned()),
            isolated: Some(isolated),
            result: Some(self.result),
            evidence: self.evidence,
            side_effects: Some(self.side_effects.clone()),
            cost: self.cost,
            status: RewardStatus::Ok,
            detail: json!({ "reasons": self.reasons }),
        }
    }
}

/// A rule grader.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleGrader {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it does, in one line.
    #[serde(default)]
    pub about: String,
    /// All must hold for success.
    pub result: Vec<Check>,
    /// All must hold for evidence support.
    #[serde(default)]
    pub evidence: Vec<Check>,
    /// A hit is a forbidden side effect.
    #[serde(default)]
    pub forbidden: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraderFile {
    graders: Vec<RuleGrader>,
}

/// Returns the graders that come with the program.
pub fn built_in_graders() -> Vec<RuleGrader> {
    // The embedded file is read by a test, so nothing is lost here.
    read_graders(BUILT_IN).unwrap_or_default()
}

/// Reads graders from TOML.
pub fn read_graders(text: &str) -> Result<Vec<RuleGrader>, RewardError> {
    let file: GraderFile =
        toml::from_str(text).map_err(|e| RewardError::GraderFile(e.to_string()))?;
    Ok(file.graders)
}

impl RuleGrader {
    /// Grades a case.
    pub fn grade(&self, case: &GradeCase) -> Grade {
        let failed: Vec<String> = self.result.iter().filter_map(|c| c.failure(case)).collect();
        let unsupported = self.evidence.iter().filter_map(|c| c.failure(case)).count();
        let forbidden: Vec<String> = self.forbidden.iter().flat_map(|c| c.hits(case)).collect();
        Grade {
            result: if failed.is_empty() { 1.0 } else { 0.0 },
            evidence: (!self.evidence.is_empty()).then_some(if unsupported == 0 {
                1.0
            } else {
                0.0
            }),
            side_effects: forbidden,
            cost: Some(
                case.steps
                    .iter()
                    .filter(|s| s.kind == StepKind::ToolCall)
                    .count() as f64,
            ),
            reasons: failed,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
