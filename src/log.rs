//! The log file: what went wrong where no screen could say it. Bounded, local, never sent anywhere.
//!
//! It holds crashes and failed jobs only; decisions live in the store, and nothing from a user's logs is copied here.

use crate::paths;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Past this the file starts anew and the old one is kept once as `.old`.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// Appends one entry. Failing to write is no reason to fail: the caller is already in trouble.
pub fn note(now: jiff::Timestamp, what: &str) {
    if let Some(file) = paths::log_file() {
        let _ = append(&file, now, what);
    }
}

fn append(file: &Path, now: jiff::Timestamp, what: &str) -> std::io::Result<()> {
    paths::ensure_parent(file)?;
    if std::fs::metadata(file).is_ok_and(|m| m.len() > MAX_LOG_BYTES) {
        std::fs::rename(file, file.with_extension("log.old"))?;
    }
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(out, "{now} {}", what.replace('\n', "\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_appended_and_the_file_stays_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/triagent.log");
        let now = jiff::Timestamp::UNIX_EPOCH;
        append(&file, now, "first\nsecond line").unwrap();
        append(&file, now, "again").unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            "1970-01-01T00:00:00Z first\n    second line\n1970-01-01T00:00:00Z again\n"
        );
        let limit = usize::try_from(MAX_LOG_BYTES).unwrap();
        std::fs::write(&file, vec![b'x'; limit + 1]).unwrap();
        append(&file, now, "fresh").unwrap();
        assert!(std::fs::metadata(&file).unwrap().len() < 100);
        assert!(file.with_extension("log.old").is_file());
    }
}
