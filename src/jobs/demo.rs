//! The demo's workspace: the sample logs of the program, imported into a folder that is thrown away.

use super::{ImportOptions, JobError, SAMPLES, import, import_documents, import_tasks, index};
use crate::domain::Progress;
use crate::paths;
use crate::store::Store;
use std::path::{Path, PathBuf};

/// Folder of the samples in the demo's folder.
const LOGS: &str = "sample-logs";

/// Writes the sample logs into `folder`, imports them and both registers, and returns the workspace's file.
pub fn demo_workspace(
    folder: &Path,
    now_us: i64,
    progress: &Progress,
) -> Result<PathBuf, JobError> {
    let logs = folder.join(LOGS);
    for sample in SAMPLES {
        let path = logs.join(sample.path);
        write(&path, sample.bytes)?;
    }
    let file = paths::new_workspace(folder);
    let mut store = Store::create(&file)?;
    import_documents(&mut store, &logs.join("documents.jsonl"))?;
    import_tasks(&mut store, &logs.join("tasks.jsonl"))?;
    let runs = [logs.join("runs")];
    import(
        &mut store,
        &runs,
        &ImportOptions::default(),
        now_us,
        progress,
        &mut |_| {},
    )?;
    index(&mut store, progress)?;
    Ok(file)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), JobError> {
    let written = paths::ensure_parent(path).and_then(|()| std::fs::write(path, bytes));
    written.map_err(|error| JobError::Raw {
        file: path.display().to_string(),
        why: error.to_string(),
    })
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
}
