//! The sample logs inside the program, so that the demo works from any folder and offline.
//!
//! The list is written out: a build must not depend on what lies in a folder. A test compares it with the folder.

/// A file of `sample-logs/`.
#[derive(Debug, Clone, Copy)]
pub struct SampleFile {
    /// Its path inside `sample-logs/`.
    pub path: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

macro_rules! samples {
    ($($path:literal),+ $(,)?) => {
        &[$(SampleFile {
            path: $path,
            bytes: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/sample-logs/", $path)),
        }),+]
    };
}

/// Every file, sorted by path.
pub const SAMPLES: &[SampleFile] = samples![
    "EXPECTED.json",
    "broken/empty.jsonl",
    "broken/half.trajectory.json",
    "broken/mixed.jsonl",
    "broken/not-a-log.txt",
    "documents.jsonl",
    "runs/demonstrations.chat.jsonl",
    "runs/four/four-correct-citation.trajectory.json",
    "runs/four/four-correct-clarification.trajectory.json",
    "runs/four/four-missing-but-sure.trajectory.json",
    "runs/four/four-stale-citation.trajectory.json",
    "runs/four/four-well-formatted.trajectory.json",
    "runs/gateway/gateway-fake-citation.trajectory.json",
    "runs/gateway/gateway.events.jsonl",
    "runs/groups/group-mixed-0.trajectory.json",
    "runs/groups/group-mixed-1.trajectory.json",
    "runs/groups/group-mixed-2.trajectory.json",
    "runs/groups/group-mixed-3.trajectory.json",
    "runs/groups/group-zero-0.trajectory.json",
    "runs/groups/group-zero-1.trajectory.json",
    "runs/groups/group-zero-2.trajectory.json",
    "runs/groups/group-zero-3.trajectory.json",
    "runs/layers/layer-context.trajectory.json",
    "runs/layers/layer-environment.trajectory.json",
    "runs/layers/layer-grader.trajectory.json",
    "runs/layers/layer-tool.trajectory.json",
    "runs/refund-desk.tau.json",
    "runs/shell/rebuild-index-tampered.traj.json",
    "runs/shell/rebuild-index.traj.json",
    "runs/teaching/teach-index-01.trajectory.json",
    "runs/teaching/teach-index-02.trajectory.json",
    "runs/teaching/teach-index-03.trajectory.json",
    "runs/teaching/teach-index-04.trajectory.json",
    "runs/teaching/teach-index-05.trajectory.json",
    "runs/teaching/teach-index-06.trajectory.json",
    "runs/teaching/teach-index-07.trajectory.json",
    "runs/teaching/teach-index-08.trajectory.json",
    "runs/teaching/teach-index-09.trajectory.json",
    "runs/teaching/teach-index-10.trajectory.json",
    "runs/teaching/teach-model-01.trajectory.json",
    "runs/teaching/teach-model-02.trajectory.json",
    "runs/teaching/teach-model-03.trajectory.json",
    "runs/teaching/teach-model-04.trajectory.json",
    "runs/teaching/teach-model-05.trajectory.json",
    "runs/teaching/teach-model-06.trajectory.json",
    "runs/teaching/teach-model-07.trajectory.json",
    "runs/teaching/teach-model-08.trajectory.json",
    "runs/teaching/teach-model-09.trajectory.json",
    "runs/teaching/teach-model-10.trajectory.json",
    "runs/teaching/teach-pass-condition.trajectory.json",
    "runs/teaching/teach-pass-new-index.trajectory.json",
    "runs/teaching/teach-pass-search-again.trajectory.json",
    "tasks.jsonl",
];

/// Returns the bytes of one file.
pub fn sample(path: &str) -> Option<&'static [u8]> {
    SAMPLES.iter().find(|f| f.path == path).map(|f| f.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn walk(folder: &Path, found: &mut Vec<String>, top: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found, top);
            } else {
                found.push(path.strip_prefix(top).unwrap().display().to_string());
            }
        }
    }

    #[test]
    fn the_list_holds_every_file_of_the_folder() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-logs");
        let mut found = Vec::new();
        walk(&top, &mut found, &top);
        found.retain(|f| f != "README.md");
        found.sort();
        let listed: Vec<&str> = SAMPLES.iter().map(|f| f.path).collect();
        assert_eq!(listed, found);
    }
}
