//! Who labels what next: seeded random order, a shared part for agreement, blinded re-tests, swapped re-shows.
//!
//! Order and shares come from hashes of seed and item, so new items join without moving the old ones.

use crate::domain::Side;
use crate::stats::Chance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DAY_US: i64 = 86_400_000_000;

/// How a queue is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueuePlan {
    /// Its seed; stored, so that the draw can be repeated.
    pub seed: u64,
    /// Share of items that every reviewer gets.
    pub overlap: f64,
    /// Share of a reviewer's own items shown again.
    pub retest: f64,
    /// Days before an item is shown again.
    pub retest_days: u32,
    /// Share of decided pairs shown again with sides swapped.
    pub swap: f64,
}

impl Default for QueuePlan {
    fn default() -> Self {
        Self {
            seed: 1,
            overlap: 0.2,
            retest: 0.05,
            retest_days: 7,
            swap: 0.05,
        }
    }
}

/// Why an item is in a queue. Never shown to the reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To be labelled by this reviewer alone.
    First,
    /// To be labelled by every reviewer.
    Shared,
    /// To be labelled again, as if for the first time.
    Retest,
}

/// One item of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueItem {
    /// The run or pair.
    pub subject: String,
    /// Why it is here.
    pub purpose: Purpose,
}

/// A label that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The run or pair.
    pub subject: String,
    /// Who.
    pub reviewer: String,
    /// When, microseconds UTC.
    pub at_us: i64,
}

/// What is left for one reviewer, and how far everybody is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Queue {
    /// Items in the order in which they are shown.
    pub items: Vec<QueueItem>,
    /// This reviewer's first labels that exist.
    pub done: usize,
    /// This reviewer's first labels in all.
    pub total: usize,
    /// Labels of all reviewers.
    pub by_reviewer: BTreeMap<String, usize>,
}

/// Draws a reviewer's queue. `reviewers` are all who take part; with none named the reviewer gets everything.
pub fn draw_queue(
    subjects: &[String],
    reviewer: &str,
    reviewers: &[String],
    done: &[Done],
    plan: &QueuePlan,
    now_us: i64,
) -> Queue {
    let mine: Vec<&Done> = done.iter().filter(|d| d.reviewer == reviewer).collect();
    let times = |subject: &str| mine.iter().filter(|d| d.subject == subject).count();
    let assigned: Vec<(&String, Purpose)> = subjects
        .iter()
        .filter_map(|s| purpose(s, reviewer, reviewers, plan).map(|p| (s, p)))
        .collect();
    let finished = assigned.iter().filter(|(s, _)| times(s) > 0).count();
    let open = assigned.iter().filter(|(s, _)| times(s) == 0).copied();
    let again = assigned
        .iter()
        .filter(|(s, _)| is_due_again(s, &mine, plan, now_us))
        .map(|(s, _)| (*s, Purpose::Retest));
    let mut drawn: Vec<(u64, &String, Purpose)> = open
        .chain(again)
        .map(|(s, p)| (key(plan.seed, "order", s), s, p))
        .collect();
    drawn.sort();
    let mut by_reviewer: BTreeMap<String, usize> = BTreeMap::new();
    for d in done.iter().filter(|d| subjects.contains(&d.subject)) {
        *by_reviewer.entry(d.reviewer.clone()).or_default() += 1;
    }
    Queue {
        items: drawn
            .into_iter()
            .map(|(_, subject, purpose)| QueueItem {
                subject: subject.clone(),
                purpose,
            })
            .collect(),
        done: finished,
        total: assigned.len(),
        by_reviewer,
    }
}

fn purpose(
    subject: &str,
    reviewer: &str,
    reviewers: &[String],
    plan: &QueuePlan,
) -> Option<Purpose> {
    if reviewers.len() < 2 {
        return Some(Purpose::First);
    }
    if fraction(plan.seed, "overlap", subject) < plan.overlap {
        return Some(Purpose::Shared);
    }
    // Highest hash takes it: a reviewer who joins or leaves moves only the items that must move.
    let owner = reviewers
        .iter()
        .max_by_key(|r| (key(plan.seed, r, subject), r.as_str()))?;
    (owner == reviewer).then_some(Purpose::First)
}

fn is_due_again(subject: &str, mine: &[&Done], plan: &QueuePlan, now_us: i64) -> bool {
    let mut labels = mine.iter().filter(|d| d.subject == subject);
    let (Some(first), None) = (labels.next(), labels.next()) else {
        return false;
    };
    let age = now_us.saturating_sub(first.at_us);
    age >= i64::from(plan.retest_days).saturating_mul(DAY_US)
        && fraction(plan.seed, "retest", subject) < plan.retest
}

/// Which candidate stands left for this reviewer. A re-show swaps the sides.
pub fn left_side(seed: u64, reviewer: &str, pair: &str, shown_before: u32) -> Side {
    let heads = Chance::named(seed, &format!("side\u{1f}{reviewer}\u{1f}{pair}")).coin();
    if heads == shown_before.is_multiple_of(2) {
        Side::A
    } else {
        Side::B
    }
}

/// Whether a decided pair is shown again with sides swapped.
pub fn is_reshown(plan: &QueuePlan, reviewer: &str, pair: &str) -> bool {
    fraction(plan.seed, &format!("swap\u{1f}{reviewer}"), pair) < plan.swap
}

fn key(seed: u64, use_: &str, subject: &str) -> u64 {
    Chance::named(seed, &format!("{use_}\u{1f}{subject}")).next_u64()
}

/// A number in [0, 1) that belongs to the item.
fn fraction(seed: u64, use_: &str, subject: &str) -> f64 {
    (key(seed, use_, subject) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("run-{i}")).collect()
    }

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|n| (*n).to_owned()).collect()
    }

    fn draw(n: usize, who: &str, done: &[Done], now: i64) -> Queue {
        draw_queue(
            &subjects(n),
            who,
            &names(&["ann", "bob"]),
            done,
            &QueuePlan::default(),
            now,
        )
    }

    #[test]
    fn order_is_random_seeded_and_stable_when_items_join() {
        let order = |n: usize| -> Vec<String> {
            draw(n, "ann", &[], 0)
                .items
                .into_iter()
                .map(|i| i.subject)
                .collect()
        };
        assert_eq!(order(200), order(200));
        assert_ne!(order(200), {
            let mut s = order(200);
            s.sort();
            s
        });
        let grown = order(220);
        let old: Vec<String> = grown
            .into_iter()
            .filter(|s| subjects(200).contains(s))
            .collect();
        assert_eq!(old, order(200));
        let other = QueuePlan {
            seed: 2,
            ..QueuePlan::default()
        };
        let second = draw_queue(
            &subjects(200),
            "ann",
            &names(&["ann", "bob"]),
            &[],
            &other,
            0,
        );
        assert_ne!(
            order(200),
            second
                .items
                .into_iter()
                .map(|i| i.subject)
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_item_has_a_reviewer_and_a_share_has_both() {
        let (a, b) = (draw(1000, "ann", &[], 0), draw(1000, "bob", &[], 0));
        let shared = a
            .items
            .iter()
            .filter(|i| i.purpose == Purpose::Shared)
            .count();
        // 20% of 1,000; four standard deviations of a binomial are ±51.
        assert!((149..=251).contains(&shared), "{shared}");
        assert_eq!(a.total + b.total - shared, 1000);
        let alone = draw_queue(&subjects(10), "ann", &[], &[], &QueuePlan::default(), 0);
        assert_eq!(alone.total, 10);
    }

    #[test]
    fn own_items_come_back_once_after_a_week() {
        let done: Vec<Done> = subjects(1000)
            .into_iter()
            .map(|subject| Done {
                subject,
                reviewer: "ann".into(),
                at_us: 0,
            })
            .collect();
        assert!(draw(1000, "ann", &done, 6 * DAY_US).items.is_empty());
        let again = draw(1000, "ann", &done, 7 * DAY_US);
        assert!(
            !again.items.is_empty() && again.items.iter().all(|i| i.purpose == Purpose::Retest)
        );
        assert_eq!(again.done, again.total);
        let mut twice = done.clone();
        twice.extend(done);
        assert!(draw(1000, "ann", &twice, 30 * DAY_US).items.is_empty());
    }

    #[test]
    fn sides_are_balanced_per_reviewer_and_swap_on_a_reshow() {
        let left = (0..1000)
            .filter(|i| left_side(1, "ann", &format!("p{i}"), 0) == Side::A)
            .count();
        assert!((437..=563).contains(&left), "{left}");
        for i in 0..20 {
            let pair = format!("p{i}");
            assert_ne!(left_side(1, "ann", &pair, 0), left_side(1, "ann", &pair, 1));
        }
        let plan = QueuePlan::default();
        let shown = (0..1000)
            .filter(|i| is_reshown(&plan, "ann", &format!("p{i}")))
            .count();
        assert!((22..=78).contains(&shown), "{shown}");
    }
}
