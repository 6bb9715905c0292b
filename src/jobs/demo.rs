//! The demo: the whole path on the sample logs in a workspace of its own, decisions taken from `EXPECTED.json`.
//!
//! Every stage is the same function that a user's command calls. Nothing here is a recorded result.

mod decide;
mod lab;
mod results;
mod script;

pub use script::{Script, ScriptError};

use super::{ImportOptions, JobError, SAMPLES, import, import_documents, import_tasks};
use crate::domain::Progress;
use crate::score::Scorer;
use crate::store::Store;
use crate::text;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Whose decisions the demo records.
pub const DEMO_REVIEWER: &str = "demo";

/// What one stage did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    /// Its name.
    pub stage: &'static str,
    /// What happened, in lines for people.
    pub said: Vec<String>,
    /// The same for programs.
    pub result: Value,
}

/// A demo under way.
pub struct Demo {
    /// Its workspace.
    pub store: Store,
    folder: PathBuf,
    script: Script,
    now_us: i64,
}

impl Demo {
    /// Unpacks the sample logs into `folder` and makes a workspace beside them.
    pub fn start(folder: &Path, now_us: i64) -> Result<Self, JobError> {
        for sample in SAMPLES {
            let path = folder.join("sample-logs").join(sample.path);
            let write = || -> std::io::Result<()> {
                crate::paths::ensure_parent(&path)?;
                std::fs::write(&path, sample.bytes)
            };
            write().map_err(|e| JobError::Raw {
                file: path.display().to_string(),
                why: e.to_string(),
            })?;
        }
        Ok(Self {
            store: Store::create(&crate::paths::new_workspace(folder))?,
            folder: folder.to_path_buf(),
            script: Script::embedded()?,
            now_us,
        })
    }

    /// Where the sample logs lie.
    pub fn logs(&self) -> PathBuf {
        self.folder.join("sample-logs")
    }

    /// Reads logs and registers, the broken ones too.
    pub fn import(&mut self, progress: &Progress) -> Result<Stage, JobError> {
        let logs = self.logs();
        let mut skipped = Vec::new();
        let mut each = |report: &super::UnitReport| skipped.extend(report.skipped.clone());
        let paths = [logs.join("runs"), logs.join("broken")];
        let totals = import(
            &mut self.store,
            &paths,
            &ImportOptions::default(),
            self.now_us,
            progress,
            &mut each,
        )?;
        let documents = import_documents(&mut self.store, &logs.join("documents.jsonl"))?;
        let tasks = import_tasks(&mut self.store, &logs.join("tasks.jsonl"))?;
        super::index(&mut self.store, progress)?;
        let mut said = vec![format!(
            "{} stored from {}, {} duplicate; {} and {} registered",
            text::plural(totals.stored, "run"),
            text::plural(totals.units, "file"),
            totals.duplicates,
            text::plural(documents.stored, "document version"),
            text::plural(tasks.stored, "task"),
        )];
        said.extend(skipped.iter().map(|s| {
            let name = Path::new(&s.file)
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            format!("skipped {name}:{}: {}", s.line, s.reason)
        }));
        Ok(Stage {
            stage: "import",
            said,
            result: json!({"totals": totals, "documents": documents.stored, "tasks": tasks.stored, "skipped": skipped}),
        })
    }

    /// What became of each required document, and which layer the machine would suggest.
    pub fn evidence(&mut self, progress: &Progress) -> Result<Stage, JobError> {
        results::evidence(&self.store, &self.script, progress)
    }

    /// Labels and outcomes as a reviewer would decide them.
    pub fn label(&mut self) -> Result<Stage, JobError> {
        decide::labels(&mut self.store, &self.script, self.now_us)
    }

    /// Pairs: recorded against recorded, and sides that a reviewer wrote.
    pub fn pair(&mut self) -> Result<Stage, JobError> {
        decide::pairs(&mut self.store, &self.script, self.now_us)
    }

    /// Cleaning findings, and what a reviewer does with them.
    pub fn clean(&mut self, progress: &Progress) -> Result<Stage, JobError> {
        decide::clean(&mut self.store, self.now_us, progress)
    }

    /// Log-probs of both sides of every pair.
    pub fn score(&mut self, scorer: &mut Scorer, progress: &Progress) -> Result<Stage, JobError> {
        results::score(&mut self.store, scorer, self.now_us, progress)
    }

    /// One failure under changed contexts.
    pub fn probe(&mut self, scorer: &mut Scorer, progress: &Progress) -> Result<Stage, JobError> {
        lab::probe(&mut self.store, scorer, self.now_us, progress)
    }

    /// A grader that looks for a marker and one that reads the evidence, before the same hack suite.
    pub fn audit(&mut self, progress: &Progress) -> Result<Stage, JobError> {
        lab::audit(&mut self.store, self.now_us, progress)
    }

    /// Relative signal of the recorded groups.
    pub fn rewards(&mut self) -> Result<Stage, JobError> {
        results::rewards(&self.store)
    }

    /// Advice for the largest cohorts.
    pub fn advise(&mut self, progress: &Progress) -> Result<Stage, JobError> {
        results::advise(&mut self.store, self.now_us, progress)
    }

    /// Datasets that TRL reads, each in its own folder under `out`.
    pub fn export(&mut self, out: &Path, progress: &Progress) -> Result<Stage, JobError> {
        results::export(&self.store, out, progress)
    }
}

/// Makes the demo's workspace with its runs and registers, undecided, and returns its file: what tests and printed screens open.
pub fn demo_workspace(
    folder: &Path,
    now_us: i64,
    progress: &Progress,
) -> Result<PathBuf, JobError> {
    let demo = undecided(folder, now_us, progress)?;
    Ok(demo.store.path().to_path_buf())
}

/// The same with the labels of a second reviewer, so that whoever labels on the screen meets agreement, disputes and advice.
pub fn demo_for_screen(
    folder: &Path,
    now_us: i64,
    progress: &Progress,
) -> Result<PathBuf, JobError> {
    let mut demo = undecided(folder, now_us, progress)?;
    demo.label()?;
    Ok(demo.store.path().to_path_buf())
}

fn undecided(folder: &Path, now_us: i64, progress: &Progress) -> Result<Demo, JobError> {
    let mut demo = Demo::start(folder, now_us)?;
    demo.import(progress)?;
    Ok(demo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Filter;

    #[test]
    fn the_demo_has_the_runs_of_the_policy_desk() {
        let folder = tempfile::tempdir().unwrap();
        let file = demo_workspace(folder.path(), 1, &Progress::default()).unwrap();
        let store = Store::open(&file).unwrap();
        // sample-logs/ holds 20 failed runs of the teaching case alone.
        assert!(store.count_runs(&Filter::default()).unwrap() >= 20);
        assert!(!store.documents().unwrap().is_empty());
    }

    #[test]
    fn the_screen_finds_the_labels_of_a_second_reviewer() {
        let folder = tempfile::tempdir().unwrap();
        let file = demo_for_screen(folder.path(), 1, &Progress::default()).unwrap();
        let store = Store::open(&file).unwrap();
        assert!(!store.labelled_by(DEMO_REVIEWER).unwrap().is_empty());
        assert!(store.labelled_by("anna").unwrap().is_empty());
    }
}
