//! Finds secrets, personal data, near-duplicates, template repetition, tampering and false evidence.
//!
//! It reports; people decide. It changes no log, and it never stores the words that it found.

mod checks;
mod duplicates;
mod evidence;
mod rules;
mod scan;
mod sensitive;
mod tamper;
mod templates;

pub use duplicates::{LOOK, NearTasks, SAME, TaskText, duplicate_findings, jaccard, near_tasks};
pub use evidence::Register;
pub use rules::{Rules, RulesError};
pub use sensitive::{Cleaner, RunText};
pub use tamper::reward_status;
pub use templates::{TemplateReport, template_findings, templates};

use crate::domain::{Finding, Task};

impl Cleaner {
    /// Everything that can be found in one run, in the order of SCIENCE part 6: sensitive words, evidence,
    /// tampering.
    pub fn run(
        &self,
        run: RunText<'_>,
        register: &Register<'_>,
        task: Option<&Task>,
    ) -> Vec<Finding> {
        let mut findings = self.sensitive(run);
        findings.extend(register.false_evidence(run, task));
        findings.extend(tamper::tampering(&self.rules, run));
        findings
    }
}
