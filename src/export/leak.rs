//! Long word runs that stand in a training request and in a held-out one (S-77). Boilerplate that many requests
//! share is not a leak; it is counted.

use super::input::RunHead;
use super::split::{Part, Plan};
use crate::text::words;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Words in a row that count as one passage (GPT-3's contamination check); CJK counts characters.
const GRAM: usize = 13;
/// A passage in more requests than this, and in more than a fifth of them, is boilerplate.
const BOILERPLATE_REQUESTS: u32 = 5;
/// Leaks that are told one by one.
const MAX_TOLD: usize = 100;

/// One passage on two sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leak {
    /// The run that trains.
    pub train: String,
    /// The run that is held out.
    pub held_out: String,
    /// The passage.
    pub passage: String,
}

/// What the check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeakReport {
    /// Requests compared.
    pub requests: usize,
    /// Passages that are boilerplate.
    pub boilerplate: usize,
    /// Held-out requests that share a passage with a training one.
    pub leaks: Vec<Leak>,
}

struct Seen {
    requests: u32,
    held_out: usize,
    train: Option<usize>,
}

/// Compares the requests of both sides.
pub(crate) fn check(heads: &[RunHead], plan: &Plan) -> LeakReport {
    let distinct = distinct(heads, plan);
    let mut seen: HashMap<u64, Seen> = HashMap::new();
    for (at, _) in distinct
        .iter()
        .enumerate()
        .filter(|(_, (_, part))| *part != Part::Train)
    {
        for (hash, _) in grams(&heads[distinct[at].0].request) {
            seen.entry(hash).or_insert(Seen {
                requests: 0,
                held_out: at,
                train: None,
            });
        }
    }
    for (at, (head, part)) in distinct.iter().enumerate() {
        let once: BTreeSet<u64> = grams(&heads[*head].request).map(|(hash, _)| hash).collect();
        for hash in once {
            if let Some(gram) = seen.get_mut(&hash) {
                gram.requests += 1;
                if *part == Part::Train {
                    gram.train.get_or_insert(at);
                }
            }
        }
    }
    tell(heads, &distinct, &seen)
}

fn tell(heads: &[RunHead], distinct: &[(usize, Part)], seen: &HashMap<u64, Seen>) -> LeakReport {
    let common = u32::try_from(distinct.len() / 5)
        .unwrap_or(u32::MAX)
        .max(BOILERPLATE_REQUESTS);
    let mut report = LeakReport {
        requests: distinct.len(),
        ..LeakReport::default()
    };
    report.boilerplate = seen
        .values()
        .filter(|s| s.train.is_some() && s.requests > common)
        .count();
    for (at, (head, part)) in distinct.iter().enumerate() {
        if *part == Part::Train || report.leaks.len() >= MAX_TOLD {
            continue;
        }
        let leak = grams(&heads[*head].request).find_map(|(hash, passage)| {
            let gram = seen.get(&hash).filter(|s| s.requests <= common)?;
            let train = gram.train?;
            Some((train, passage)).filter(|_| gram.held_out <= at)
        });
        if let Some((train, passage)) = leak {
            report.leaks.push(Leak {
                train: heads[distinct[train].0].run.to_string(),
                held_out: heads[*head].run.to_string(),
                passage,
            });
        }
    }
    report
}

/// One run for each distinct request on each side.
fn distinct(heads: &[RunHead], plan: &Plan) -> Vec<(usize, Part)> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for (at, head) in heads.iter().enumerate() {
        let part = plan.part(&head.run);
        if !head.request.is_empty()
            && seen.insert((*blake3::hash(head.request.as_bytes()).as_bytes(), part))
        {
            out.push((at, part));
        }
    }
    out
}

/// Every run of `GRAM` words with its hash.
fn grams(text: &str) -> impl Iterator<Item = (u64, String)> {
    let words = words(text);
    let windows: Vec<(u64, String)> = words
        .windows(GRAM)
        .map(|w| {
            let passage = w.join(" ");
            let hash = blake3::hash(passage.as_bytes());
            let hash = hash
                .as_bytes()
                .iter()
                .take(8)
                .fold(0u64, |n, b| (n << 8) | u64::from(*b));
            (hash, passage)
        })
        .collect();
    windows.into_iter()
}
