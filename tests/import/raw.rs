//! `show --raw`: the bytes at a step's place are the step's own, whatever the file is wrapped in.

use super::seen::{real_logs, see, see_bytes_at, see_unit};
use std::path::Path;
use triagent::domain::{Owner, Step};
use triagent::import::{discover, read_raw};

const ROW: &str = r#"{"messages":[{"role":"user","content":"needle one"},{"role":"assistant","content":"needle two"}]}"#;

fn raw(path: &Path, member: Option<&str>, step: &Step) -> String {
    let bytes = read_raw(path, member, step.source).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Plain, gzip, UTF-16, and a list: the place is that of the unpacked text, and there the message stands.
#[test]
fn a_place_is_found_again_in_every_wrapping() {
    let utf16: Vec<u8> = ROW.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, Vec<u8>); 4] = [
        ("a.jsonl", format!("{ROW}\n{ROW}").into_bytes()),
        ("a.jsonl.gz", super::seen::gzip(ROW.as_bytes())),
        ("b.jsonl", utf16),
        ("c.json", format!("[{ROW}]").into_bytes()),
    ];
    for (name, bytes) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let seen = see_bytes_at(&path, &bytes);
        for run in &seen.runs {
            for step in &run.steps {
                let text = raw(&path, None, step);
                assert!(
                    text.contains(&step.text) && text.starts_with('{'),
                    "{name}: {text}"
                );
            }
            let whole = read_raw(&path, None, run.head.span).unwrap();
            assert_eq!(String::from_utf8(whole).unwrap(), ROW, "{name}");
        }
    }
}

/// Folders and archives: the head names the file or member, or the line tells which event.
#[test]
fn a_place_is_found_again_in_folders_archives_and_tables() {
    let Some(root) = real_logs() else { return };
    let units = [
        "harbor-trial/sum-file__fail",
        "openhands-events/conversation-pwd",
        "inspect-eval/newest-zstd-nested-id-retry.eval",
        "inspect-eval/deflate-log_formats.eval",
        "trl-completions/chat_completions_00001.parquet",
        "art-trajectories/0003.parquet",
    ];
    for name in units {
        let found = discover(&[root.join(name)]);
        let seen = see_unit(&found.units[0], None);
        let mut checked = 0;
        for run in &seen.runs {
            let member = run.head.extra.get("member").and_then(|m| m.as_str());
            // A sample's prompts stand in a pool; their place is the call that points to them.
            let is_inspect = |s: &&Step| {
                seen.report.format.as_deref() != Some("inspect") || s.owner == Owner::Model
            };
            let placed = run
                .steps
                .iter()
                .filter(|s| s.source.len > 0)
                .filter(is_inspect);
            for step in placed {
                let text = raw(&root.join(name), member, step);
                let word = step
                    .text
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .find(|w| w.len() > 3);
                assert!(
                    word.is_none_or(|w| text.contains(w)),
                    "{name}: {:?} is not in {text:.200}",
                    step.text
                );
                checked += 1;
            }
        }
        assert!(checked > 0, "{name}: only {checked} steps have a place");
    }
}

/// A member that leads out of the folder is refused.
#[test]
fn a_member_outside_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("secret"), "x").unwrap();
    let span = see_row(&inner);
    assert!(read_raw(&inner, Some("../secret"), span).is_err());
    assert!(read_raw(&inner, Some("/etc/hostname"), span).is_err());
}

fn see_row(folder: &Path) -> triagent::domain::SourceSpan {
    let path = folder.join("a.jsonl");
    std::fs::write(&path, ROW).unwrap();
    see(&path).runs[0].steps[0].source
}
