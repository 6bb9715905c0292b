//! Properties: whatever the bytes, reading ends, never panics, and no good row before the damage is lost. The inputs are
//! arbitrary bytes, and real and sample logs of every format that were cut, flipped, lengthened, or thinned out.

use super::seen::{Seen, real_logs, see_named};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Far above what any of these small files takes, even in a debug build on a busy machine.
const TOO_LONG: Duration = Duration::from_secs(30);

fn read_in_time(name: &str, bytes: &[u8]) -> Seen {
    let start = Instant::now();
    let seen = see_named(name, bytes);
    assert!(
        start.elapsed() < TOO_LONG,
        "{name} took {:?}",
        start.elapsed()
    );
    seen
}

/// Where and how a file is damaged; places are shares of its length.
#[derive(Debug, Clone)]
enum Damage {
    Cut(f64),
    Flip(f64, u8),
    Insert(f64, Vec<u8>),
    Delete(f64, usize),
    Double(f64, usize),
}

fn damages() -> impl Strategy<Value = Damage> {
    let at = || 0.0..1.0_f64;
    let tokens = prop::sample::select(vec![
        &b"\""[..],
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b"\\ud800",
        b"NaN",
        b"null",
        b"\n",
        b"\0",
        b"\xff",
        b"1e999",
        b"{\"type\":1}",
        b"\xef\xbb\xbf",
    ]);
    prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), 1..=255_u8).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        (at(), tokens).prop_map(|(at, t)| Damage::Insert(at, t.to_vec())),
        (at(), 1..64_usize).prop_map(|(at, n)| Damage::Delete(at, n)),
        (at(), 1..256_usize).prop_map(|(at, n)| Damage::Double(at, n)),
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a small file's length"
)]
fn place(len: usize, share: f64) -> usize {
    ((len as f64 * share) as usize).min(len)
}

/// The damaged bytes, and how many bytes at the start are untouched.
fn damaged(bytes: &[u8], damage: &Damage) -> (Vec<u8>, usize) {
    let mut out = bytes.to_vec();
    let (Damage::Cut(share)
    | Damage::Flip(share, _)
    | Damage::Insert(share, _)
    | Damage::Delete(share, _)
    | Damage::Double(share, _)) = damage;
    let at = place(out.len(), *share);
    match damage {
        Damage::Cut(_) => out.truncate(at),
        Damage::Flip(_, bits) => {
            if let Some(byte) = out.get_mut(at) {
                *byte ^= bits;
            }
        }
        Damage::Insert(_, more) => drop(out.splice(at..at, more.iter().copied())),
        Damage::Delete(_, n) => drop(out.drain(at..(at + n).min(bytes.len()))),
        Damage::Double(_, n) => {
            let part = bytes[at..(at + n).min(bytes.len())].to_vec();
            drop(out.splice(at..at, part));
        }
    }
    (out, at)
}

/// Small logs of every format: those at hand, and those of the sample folder, which are always there.
fn small_logs() -> Vec<(String, Vec<u8>)> {
    const SMALL: u64 = 48 << 10;
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-logs/runs");
    let mut open: Vec<PathBuf> = real_logs().into_iter().collect();
    open.extend(["four", "gateway"].map(|f| samples.join(f)));
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().path());
        for path in entries {
            let is_text = path.extension().is_some_and(|e| e == "txt" || e == "md");
            if path.is_dir() && !path.ends_with("LICENSES") {
                open.push(path);
            } else if path.is_file() && !is_text && path.metadata().unwrap().len() < SMALL {
                files.push(path);
            }
        }
    }
    files.sort();
    let named = |p: PathBuf| {
        (
            p.file_name().unwrap().to_string_lossy().into_owned(),
            std::fs::read(&p).unwrap(),
        )
    };
    files.into_iter().map(named).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_read_to_the_end(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        read_in_time("file", &bytes);
    }

    /// Bytes behind each magic number, so that every decoder sees nonsense.
    #[test]
    fn nonsense_behind_a_magic_number_is_read_to_the_end(
        magic in prop::sample::select(vec![&b"PK\x03\x04"[..], b"\x1f\x8b\x08\0", b"PAR1", b"\xff\xfe", b"\xfe\xff", b"{\"", b"[{", b"SQLite format 3\0"]),
        bytes in prop::collection::vec(any::<u8>(), 0..1024),
    ) {
        read_in_time("file", &[magic, &bytes].concat());
    }

    /// JSON-like text out of brackets, quotes and keys that formats look for.
    #[test]
    fn arbitrary_json_like_text_is_read_to_the_end(
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\n", "\"messages\":", "\"role\":\"user\"", "\"content\":", "\"type\":\"user\"",
            "\"sessionId\":\"s\"", "\"uuid\":\"u\"", "\"payload\":", "\"steps\":", "\"schema_version\":\"ATIF-v1.6\"", "null", "1", "\"x\"",
            "\"trace_id\":\"t\"", "\"spans\":", "\"projectHash\":\"p\"", "\"history\":", "\"reward\":NaN",
        ]), 0..60)
    ) {
        read_in_time("file.json", parts.concat().as_bytes());
    }
}

/// Every small log of every format under one to four damages at once: never a panic, never a hang. Whoever has changed a
/// parser lets it run longer: `TRIAGENT_FUZZ_SECONDS=120 cargo test --test triagent import::property`.
#[test]
fn damaged_logs_of_every_format_are_read_to_the_end() {
    const ROUNDS: u32 = 4;
    let told = std::env::var("TRIAGENT_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let end = Instant::now() + Duration::from_secs(told.unwrap_or(0));
    let logs = small_logs();
    let mut runner = match told {
        Some(_) => proptest::test_runner::TestRunner::default(),
        None => proptest::test_runner::TestRunner::deterministic(),
    };
    let several = prop::collection::vec(damages(), 1..5);
    let mut rounds = 0;
    while rounds < ROUNDS || Instant::now() < end {
        for (name, bytes) in &logs {
            let all = several.new_tree(&mut runner).unwrap().current();
            let hurt = all
                .iter()
                .fold(bytes.clone(), |bytes, d| damaged(&bytes, d).0);
            let kept = hurt.clone();
            let read = std::panic::catch_unwind(move || drop(read_in_time(name, &hurt)));
            if read.is_err() {
                let path = std::env::temp_dir().join(format!("triagent-fuzz-{name}"));
                std::fs::write(&path, kept).unwrap();
                panic!("{name} after {all:?}; the bytes are in {}", path.display());
            }
        }
        rounds += 1;
    }
}

/// Rows that stand whole before the damage come out as they did without it.
#[test]
fn good_rows_before_the_damage_are_never_lost() {
    let row = |i: usize| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"question {i}\"}},{{\"role\":\"assistant\",\"content\":\"answer {i}\"}}]}}\n"
        )
    };
    let rows: Vec<String> = (0..20).map(row).collect();
    let bytes = rows.concat().into_bytes();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..300 {
        let damage = damages().new_tree(&mut runner).unwrap().current();
        let (hurt, untouched) = damaged(&bytes, &damage);
        let whole = bytes[..untouched].iter().filter(|&&b| b == b'\n').count();
        let seen = read_in_time("rows.jsonl", &hurt);
        let said: Vec<String> = seen.steps().map(|s| s.text.clone()).collect();
        for i in 0..whole {
            assert!(
                said.contains(&format!("answer {i}")),
                "row {i} is lost after {damage:?}"
            );
        }
    }
}

/// The same for real logs of every line format: what whole lines before the damage said, is said after it.
#[test]
fn real_rows_before_the_damage_are_never_lost() {
    const EACH: u32 = 6;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let logs = small_logs()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".jsonl"));
    let mut checked = 0;
    for (name, bytes) in logs {
        let Some(format) = see_named(&name, &bytes).report.format else {
            continue;
        };
        // A tool's own span stands in only until a later prompt shows the answer, in other words.
        if format == "otel" {
            continue;
        }
        for _ in 0..EACH {
            let damage = damages().new_tree(&mut runner).unwrap().current();
            let (hurt, untouched) = damaged(&bytes, &damage);
            let whole = bytes[..untouched]
                .iter()
                .rposition(|&b| b == b'\n')
                .map_or(0, |at| at + 1);
            let before = super::seen::see_as(&name, &bytes[..whole], &format);
            let after = super::seen::see_as(&name, &hurt, &format);
            let mut said: std::collections::HashMap<&str, i32> = std::collections::HashMap::new();
            after
                .steps()
                .for_each(|s| *said.entry(s.text.as_str()).or_default() += 1);
            for step in before.steps() {
                let left = said.entry(step.text.as_str()).or_default();
                *left -= 1;
                assert!(
                    *left >= 0,
                    "{name}: {:?} is lost after {damage:?}",
                    step.text
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 0 || real_logs().is_none(), "nothing was checked");
}
