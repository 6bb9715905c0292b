//! What came through the door, in a shape that tests can compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use triagent::domain::{
    Call, ForeignLabel, Item, Owner, Progress, Reward, Rollout, Step, StepKind,
};
use triagent::import::{FileReport, Unit, read, read_bytes};

/// A run as it came out.
#[derive(Debug, Clone)]
pub(crate) struct SeenRun {
    pub(crate) head: Rollout,
    pub(crate) steps: Vec<Step>,
    pub(crate) calls: Vec<Call>,
    pub(crate) rewards: Vec<Reward>,
    pub(crate) labels: Vec<ForeignLabel>,
}

/// All that came out of one unit.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) report: FileReport,
    pub(crate) runs: Vec<SeenRun>,
}

impl Seen {
    /// Steps of all runs.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.runs.iter().flat_map(|r| &r.steps)
    }

    /// Calls of all runs.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.runs.iter().flat_map(|r| &r.calls)
    }

    /// Step counts by owner.
    pub(crate) fn owners(&self) -> BTreeMap<String, u64> {
        let mut owners = BTreeMap::new();
        for step in self.steps() {
            *owners.entry(step.owner.word().to_owned()).or_default() += 1;
        }
        owners
    }

    /// The model's tool calls. Those of a simulated user are not the agent's.
    pub(crate) fn tool_calls(&self) -> usize {
        let is_call = |s: &&Step| s.kind == StepKind::ToolCall && s.owner == Owner::Model;
        self.steps().filter(is_call).count()
    }

    /// One line a step: `owner kind text`, for small cases.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |s: &Step| format!("{} {} {}", s.owner, s.kind, s.text);
        self.steps().map(line).collect()
    }
}

/// Reads a unit.
pub(crate) fn see_unit(unit: &Unit, format: Option<&str>) -> Seen {
    let mut items: Vec<Item> = Vec::new();
    let report = read(unit, format, &mut items, &Progress::default());
    Seen {
        report,
        runs: runs(items),
    }
}

/// Reads a file.
pub(crate) fn see(path: &Path) -> Seen {
    see_unit(&Unit::file(path), None)
}

/// Reads bytes as a file of this name.
pub(crate) fn see_bytes(name: &str, bytes: &[u8]) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    see(&path)
}

/// Writes bytes to this path and reads them.
pub(crate) fn see_bytes_at(path: &Path, bytes: &[u8]) -> Seen {
    std::fs::write(path, bytes).unwrap();
    see(path)
}

/// Reads bytes without a file, as those that the program carries.
pub(crate) fn see_named(name: &str, bytes: &[u8]) -> Seen {
    see_with(name, bytes, None)
}

/// The same, as this format.
pub(crate) fn see_as(name: &str, bytes: &[u8], format: &str) -> Seen {
    see_with(name, bytes, Some(format))
}

fn see_with(name: &str, bytes: &[u8], format: Option<&str>) -> Seen {
    let mut items: Vec<Item> = Vec::new();
    let report = read_bytes(
        name,
        bytes.to_vec(),
        format,
        &mut items,
        &Progress::default(),
    );
    Seen {
        report,
        runs: runs(items),
    }
}

/// Packs bytes with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive of members that are stored as they are. Names may repeat, which libraries refuse to write.
pub(crate) fn zip_stored(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(members, 0)
}

/// The same, with members packed by deflate.
pub(crate) fn zip_deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(members, 8)
}

fn zip_of(members: &[(&str, &[u8])], method: u16) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let packed = pack(bytes, method);
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let (at, name) = (u32::try_from(out.len()).unwrap(), name.as_bytes());
        let mut fields = Vec::new();
        for short in [20_u16, 0, method, 0, 0] {
            fields.extend(short.to_le_bytes());
        }
        let sizes = [packed.len(), bytes.len()].map(|n| u32::try_from(n).unwrap());
        for long in [crc.sum(), sizes[0], sizes[1]] {
            fields.extend(long.to_le_bytes());
        }
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend([0, 0]);
        out.extend([&b"PK\x03\x04"[..], &fields, name, &packed].concat());
        let tail = [&[0; 10][..], &at.to_le_bytes()].concat();
        directory.extend([&b"PK\x01\x02\x14\0"[..], &fields, &tail, name].concat());
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let place = [directory.len(), out.len()].map(|n| u32::try_from(n).unwrap().to_le_bytes());
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count,
        &count,
        &place[0],
        &place[1],
        &[0, 0],
    ]
    .concat();
    [out, directory, end].concat()
}

fn pack(bytes: &[u8], method: u16) -> Vec<u8> {
    use std::io::Write;
    if method == 0 {
        return bytes.to_vec();
    }
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn runs(items: Vec<Item>) -> Vec<SeenRun> {
    let mut runs: Vec<SeenRun> = Vec::new();
    let mut is_open = false;
    for item in items {
        match item {
            Item::Begin(head) => {
                assert!(!is_open, "a run begins inside another");
                is_open = true;
                runs.push(SeenRun {
                    head: *head,
                    steps: Vec::new(),
                    calls: Vec::new(),
                    rewards: Vec::new(),
                    labels: Vec::new(),
                });
            }
            Item::End(head) => {
                assert!(is_open, "a run ends that has not begun");
                is_open = false;
                let run = runs.last_mut().unwrap();
                assert_eq!(run.head.id, head.id, "a run changes its id");
                run.head = *head;
            }
            Item::Skip(_) | Item::NotUnderstood { .. } => {}
            inside => {
                assert!(is_open, "an item outside any run: {inside:?}");
                add(runs.last_mut().unwrap(), inside);
            }
        }
    }
    assert!(!is_open, "the last run does not end");
    runs
}

fn add(run: &mut SeenRun, item: Item) {
    match item {
        Item::Step(step) => {
            assert_eq!(step.index as usize, run.steps.len());
            if let Some(call) = step.call {
                assert!(
                    (call as usize) < run.calls.len(),
                    "a step names a call that is not there"
                );
            }
            assert!(
                step.replaces.iter().all(|&r| r < step.index),
                "a step replaces a later one"
            );
            run.steps.push(*step);
        }
        Item::Call(call) => {
            assert_eq!(call.index as usize, run.calls.len());
            run.calls.push(*call);
        }
        Item::Reward(reward) => run.rewards.push(*reward),
        Item::Label(label) => run.labels.push(*label),
        _ => {}
    }
}

/// The folder of real logs, or nothing where it is not at hand.
pub(crate) fn real_logs() -> Option<PathBuf> {
    let path = std::env::var_os("TRIAGENT_REAL_LOGS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real-logs"),
        PathBuf::from,
    );
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no real logs; set TRIAGENT_REAL_LOGS to a folder that holds them");
    None
}
