//! Near-duplicate tasks: exact Jaccard decides; in a large set MinHash proposes what it looks at (SCIENCE part 6).

use super::sensitive::id;
use crate::domain::{Finding, FindingKind, TaskId};
use crate::text::words;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Words in a shingle; CJK goes by characters.
const SHINGLE: usize = 5;
/// Bands of the signature.
const BANDS: usize = 14;
/// Rows of a band: two texts meet with 1 − (1 − s^8)^14.
const ROWS: usize = 8;
/// From here on two tasks are taken for one.
pub const SAME: f64 = 0.8;
/// From here on a person should look.
pub const LOOK: f64 = 0.6;
/// Up to so many tasks every pair is compared, and nothing is missed.
const EXHAUSTIVE: usize = 1_000;
/// Tasks in one bucket that are compared with each other; more are boilerplate that says nothing.
const MAX_BUCKET: usize = 200;

/// A task as duplicates are looked for: its request, and the documents that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskText {
    /// The task.
    pub task: TaskId,
    /// Its request.
    pub text: String,
    /// Ids of required documents.
    pub documents: Vec<String>,
}

/// Two tasks that are nearly one.
#[derive(Debug, Clone, PartialEq)]
pub struct NearTasks {
    /// The first by name.
    pub a: TaskId,
    /// The second by name.
    pub b: TaskId,
    /// Exact Jaccard similarity of their shingles.
    pub similarity: f64,
}

/// Finds pairs of tasks whose exact similarity is at least `LOOK`.
pub fn near_tasks(tasks: &[TaskText]) -> Vec<NearTasks> {
    let shingles: Vec<HashSet<u64>> = tasks.iter().map(shingles).collect();
    let mut out: Vec<NearTasks> = Vec::new();
    let all = || (0..tasks.len()).flat_map(|a| (a + 1..tasks.len()).map(move |b| (a, b)));
    let proposed: Box<dyn Iterator<Item = (usize, usize)>> = match tasks.len() {
        0..=EXHAUSTIVE => Box::new(all()),
        _ => Box::new(candidates(&shingles).into_iter()),
    };
    for (a, b) in proposed {
        let similarity = jaccard(&shingles[a], &shingles[b]);
        if similarity >= LOOK && tasks[a].task != tasks[b].task {
            let (first, second) = if tasks[a].task <= tasks[b].task {
                (a, b)
            } else {
                (b, a)
            };
            let (a, b) = (tasks[first].task.clone(), tasks[second].task.clone());
            out.push(NearTasks { a, b, similarity });
        }
    }
    out.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    out.dedup_by(|x, y| x.a == y.a && x.b == y.b);
    out
}

/// The same as findings.
pub fn duplicate_findings(tasks: &[TaskText]) -> Vec<Finding> {
    near_tasks(tasks).into_iter().map(finding).collect()
}

fn finding(near: NearTasks) -> Finding {
    let NearTasks { a, b, similarity } = near;
    let rule = if similarity >= SAME {
        "near-duplicate"
    } else {
        "perhaps-duplicate"
    };
    Finding {
        id: id(&format!("{rule}\0{a}\0{b}")),
        kind: FindingKind::Duplicate,
        rule: rule.to_owned(),
        place: None,
        excerpt: format!("{a} and {b}"),
        tasks: vec![a, b],
        placeholder: None,
        reason: "two tasks ask nearly the same; they must not stand on two sides of a split"
            .to_owned(),
        score: Some((similarity * 1000.0).round() / 1000.0),
    }
}

/// Exact similarity of two sets.
pub fn jaccard<T: std::hash::Hash + Eq>(a: &HashSet<T>, b: &HashSet<T>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "set sizes are far below 2^52")]
    let share = both as f64 / either as f64;
    share
}

fn shingles(task: &TaskText) -> HashSet<u64> {
    let words = words(&task.text);
    let hash = |text: &str| {
        let bytes = blake3::hash(text.as_bytes());
        bytes
            .as_bytes()
            .iter()
            .take(8)
            .fold(0u64, |n, b| (n << 8) | u64::from(*b))
    };
    let mut out: HashSet<u64> = if words.len() < SHINGLE {
        words.iter().map(|w| hash(w)).collect()
    } else {
        words.windows(SHINGLE).map(|w| hash(&w.join(" "))).collect()
    };
    out.extend(
        task.documents
            .iter()
            .map(|d| hash(&format!("document\0{d}"))),
    );
    out
}

/// Pairs that share a band of their signatures.
fn candidates(shingles: &[HashSet<u64>]) -> BTreeSet<(usize, usize)> {
    let mut buckets: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for (at, set) in shingles
        .iter()
        .enumerate()
        .filter(|(_, set)| !set.is_empty())
    {
        let signature = signature(set);
        for (band, rows) in signature.chunks(ROWS).enumerate() {
            let key = rows.iter().fold(0u64, |n, h| mix(n ^ *h));
            buckets.entry((band, key)).or_default().push(at);
        }
    }
    let mut out = BTreeSet::new();
    for bucket in buckets.values() {
        let bucket = bucket.get(..MAX_BUCKET.min(bucket.len())).unwrap_or(bucket);
        for (n, a) in bucket.iter().enumerate() {
            out.extend(bucket.iter().skip(n + 1).map(|b| (*a, *b)));
        }
    }
    out
}

fn signature(set: &HashSet<u64>) -> Vec<u64> {
    let seeds: Vec<u64> = (0..BANDS * ROWS).map(|n| mix(n as u64 + 1)).collect();
    seeds
        .iter()
        .map(|seed| set.iter().map(|h| mix(h ^ seed)).min().unwrap_or(0))
        .collect()
}

/// SplitMix64's finaliser: spreads every bit over all.
fn mix(mut n: u64) -> u64 {
    n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of pairs that MinHash proposes follows 1 − (1 − s^8)^14 (SCIENCE part 6: .8 → .924).
    #[test]
    fn minhash_proposes_as_often_as_its_formula_says() {
        // By hand: 90 shared of 110 is s = 0.8182.
        let set = |n: u64, from: u64| {
            (from..from + 100)
                .map(|i| mix(n << 32 | i))
                .collect::<HashSet<u64>>()
        };
        let trials = 300;
        let found = (0..trials)
            .filter(|n| !candidates(&[set(*n, 0), set(*n, 10)]).is_empty())
            .count();
        let expected = 1.0 - (1.0 - (90.0_f64 / 110.0).powi(8)).powi(14);
        let share = f64::from(u32::try_from(found).unwrap()) / 300.0;
        // Three standard errors of a share of 300.
        let error = (expected * (1.0 - expected) / 300.0).sqrt();
        assert!((share - expected).abs() < 3.0 * error, "{share} {expected}");
    }
}
