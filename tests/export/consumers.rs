//! Leaves one folder a format where `scripts/consume_all.sh` asks for them, and feeds TRL where its packages are.

use super::fixtures::*;
use std::path::PathBuf;
use triagent::domain::Progress;
use triagent::export::{Format, Options, Shape, write};

/// `TRIAGENT_CONSUME_DIR` keeps the files for the real trainers; else they go to a temporary folder.
#[test]
fn every_format_writes_the_four_endings() {
    let kept = std::env::var_os("TRIAGENT_CONSUME_DIR").map(PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    let root = kept.unwrap_or_else(|| temporary.path().to_owned());
    let runs: Vec<_> = four().into_iter().chain(wide()).collect();
    let plain = Format::ALL
        .iter()
        .map(|f| (f.word().to_owned(), Options::new(*f)));
    let talks = Options {
        shape: Shape::Messages,
        ..Options::new(Format::TrlSft)
    };
    for (format, options) in plain.chain([("trl-sft-messages".to_owned(), talks)]) {
        let out = root.join(&format);
        let manifest = write(
            input(&runs, &pairs(&runs)),
            &options,
            &out,
            &Progress::default(),
        )
        .unwrap();
        let rows: u64 = manifest.rows.values().sum();
        assert!(rows > 0, "{format} wrote nothing");
        assert!(out.join("manifest.json").is_file() && out.join("README.md").is_file());
    }
}
