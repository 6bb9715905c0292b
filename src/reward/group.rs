//! Groups of rollouts: the contract that makes rewards comparable, their signal, and what an equal group means.

use super::RewardError;
use super::advantage::{Advantages, Convention, Signal, advantages};
use crate::domain::RewardStatus;
use serde::Serialize;
use std::collections::BTreeSet;

/// One member of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMember {
    /// The run.
    pub run: String,
    /// What was asked: hash of the request.
    pub question: String,
    /// State that the environment started in, where the log says.
    pub initial_state: Option<String>,
    /// Grader and version.
    pub grader: String,
    /// The reward's result; `None` = missing, which is not 0.
    pub reward: Option<f64>,
    /// Whether the reward can be used.
    pub status: RewardStatus,
    /// Characters that the model wrote.
    pub output_chars: u64,
    /// Tokens that the model wrote, where counted.
    pub output_tokens: Option<u64>,
    /// Real inferences.
    pub calls: u32,
    /// Tool results.
    pub tool_results: u32,
    /// Of those, failed.
    pub tool_failures: u32,
}

/// A group and what its rewards say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupReport {
    /// Its name: the task or the group id.
    pub group: String,
    /// Members, in the order of their runs.
    pub members: Vec<GroupMember>,
    /// Advantages; missing and unusable rewards have none.
    pub advantages: Advantages,
    /// Rewards that were left out because they are contaminated or untrusted (S-52).
    pub excluded: usize,
    /// For a group without signal: what to check, in this order (S-61).
    pub checks: Vec<GroupCheck>,
    /// Parts of the contract that the log does not tell.
    pub unverified: Vec<String>,
    /// How length enters, by loss.
    pub length_notes: Vec<String>,
}

/// One thing to check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupCheck {
    /// The question.
    pub asks: String,
    /// Whether it is so; `None` = the log cannot tell.
    pub holds: Option<bool>,
    /// What was seen and what to do.
    pub shown: String,
}

/// Reports on a group, or refuses where its rewards cannot be compared (S-64).
pub fn group_report(
    group: &str,
    members: Vec<GroupMember>,
    convention: Convention,
    batch: Option<&[f64]>,
) -> Result<GroupReport, RewardError> {
    let mut members = members;
    members.sort_by(|a, b| a.run.cmp(&b.run));
    contract(group, &members)?;
    let usable = |m: &GroupMember| m.reward.filter(|_| m.status == RewardStatus::Ok);
    let rewards: Vec<Option<f64>> = members.iter().map(usable).collect();
    let advantages = advantages(&rewards, convention, batch)?;
    let spoilt = |m: &&GroupMember| {
        matches!(
            m.status,
            RewardStatus::Contaminated | RewardStatus::Untrusted
        )
    };
    Ok(GroupReport {
        group: group.to_owned(),
        excluded: members.iter().filter(spoilt).count(),
        checks: checks(&members, &rewards, advantages.signal),
        unverified: unverified(&members),
        length_notes: length_notes(&members),
        advantages,
        members,
    })
}

/// Same question, same initial state, same grader version.
fn contract(group: &str, members: &[GroupMember]) -> Result<(), RewardError> {
    let parts: [(&'static str, BTreeSet<&str>); 3] = [
        (
            "question",
            members.iter().map(|m| m.question.as_str()).collect(),
        ),
        (
            "initial state",
            members
                .iter()
                .filter_map(|m| m.initial_state.as_deref())
                .collect(),
        ),
        (
            "grader version",
            members
                .iter()
                .filter(|m| m.reward.is_some())
                .map(|m| m.grader.as_str())
                .collect(),
        ),
    ];
    for (part, values) in parts {
        if values.len() > 1 {
            let values: Vec<&str> = values.into_iter().collect();
            return Err(RewardError::Contract {
                group: group.to_owned(),
                part,
                values: values.join(" / "),
            });
        }
    }
    Ok(())
}

fn unverified(members: &[GroupMember]) -> Vec<String> {
    let silent = members.iter().filter(|m| m.initial_state.is_none()).count();
    let mut out = Vec::new();
    if silent > 0 {
        out.push(format!(
            "initial state: {silent} of {} members do not name it",
            members.len()
        ));
    }
    out
}

/// The order of S-61: too hard, tools failing, reward broken. Sampling more is never the first hint.
fn checks(members: &[GroupMember], rewards: &[Option<f64>], signal: Signal) -> Vec<GroupCheck> {
    if signal != Signal::NoRelativeSignal {
        return Vec::new();
    }
    let known: Vec<f64> = rewards.iter().flatten().copied().collect();
    if known.iter().any(|r| *r > 0.5) {
        return vec![
            check(
                "too easy: every member succeeds",
                Some(true),
                "nothing to tell apart here; take harder tasks",
            ),
            check(
                "reward broken or format-only",
                None,
                "show the hack suite to the grader: triagent rewards audit",
            ),
        ];
    }
    let down = members
        .iter()
        .filter(|m| m.tool_results > 0 && m.tool_failures == m.tool_results)
        .count();
    let all_down = down == members.len() && down > 0;
    let silent = members.iter().all(|m| m.tool_results == 0);
    let hard = if all_down { None } else { Some(down == 0) };
    let hard_words = match hard {
        Some(true) if silent => {
            "no tool answered and nobody succeeds: take easier steps, give demonstrations, or check the data"
        }
        Some(true) => {
            "the tools worked and nobody succeeds: take easier steps, give demonstrations, or check the data"
        }
        Some(false) | None => "cannot be judged while tools fail",
    };
    vec![
        check("task too hard", hard, hard_words),
        check(
            "tools all failing",
            Some(all_down),
            &tools_words(down, members.len(), silent, all_down),
        ),
        check(
            "reward broken or format-only",
            if all_down { Some(false) } else { None },
            "read one answer yourself, and show the hack suite to the grader: triagent rewards audit",
        ),
    ]
}

fn tools_words(down: usize, members: usize, silent: bool, all_down: bool) -> String {
    if silent {
        return "no member holds a tool result".to_owned();
    }
    let then = if all_down {
        ": mend the tools, then run the group again"
    } else {
        ""
    };
    format!("every tool result failed in {down} of {members} members{then}")
}

fn check(asks: &str, holds: Option<bool>, shown: &str) -> GroupCheck {
    GroupCheck {
        asks: asks.to_owned(),
        holds,
        shown: shown.to_owned(),
    }
}

/// S-63: members of unequal length do not weigh alike, and how depends on the loss.
fn length_notes(members: &[GroupMember]) -> Vec<String> {
    let lengths = members
        .iter()
        .map(|m| m.output_tokens.unwrap_or(m.output_chars));
    let (shortest, longest) = (
        lengths.clone().min().unwrap_or(0),
        lengths.max().unwrap_or(0),
    );
    let unit = if members.iter().all(|m| m.output_tokens.is_some()) {
        "tokens"
    } else {
        "characters"
    };
    vec![
        format!("outputs run from {shortest} to {longest} {unit}; the advantage itself knows no length"),
        "GRPO's mean per sequence: a token of a long answer weighs less, so long wrong answers are punished mildly".to_owned(),
        "DAPO's mean over all tokens: long answers weigh more".to_owned(),
        "Dr. GRPO's fixed divisor: every token weighs the same".to_owned(),
        "several calls in one rollout: one advantage for the rollout; split rows must not count it twice".to_owned(),
    ]
}

/// Unbiased pass@k from `correct` of `n` (Chen et al., 2107.03374); nothing where k exceeds n.
pub fn pass_at_k(n: u32, correct: u32, k: u32) -> Option<f64> {
    if k == 0 || k > n || correct > n {
        return None;
    }
    // 1 − C(n−c, k)/C(n, k), as a product so that nothing overflows.
    let miss: f64 = (0..k)
        .map(|i| (f64::from(n - correct) - f64::from(i)).max(0.0) / f64::from(n - i))
        .product();
    Some(1.0 - miss)
}

/// Chance that a group of `size` holds both right and wrong answers at pass rate `p`.
pub fn mixed_share(p: f64, size: u32) -> f64 {
    let g = f64::from(size);
    1.0 - p.powf(g) - (1.0 - p).powf(g)
}

/// All groups together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GroupsSummary {
    /// Groups of at least two known rewards.
    pub groups: usize,
    /// With both right and wrong.
    pub mixed: usize,
    /// All wrong.
    pub all_zero: usize,
    /// All right.
    pub all_one: usize,
    /// Measured share of mixed groups.
    pub mixed_measured: Option<f64>,
    /// Share expected from the pass rates at the groups' own sizes.
    pub mixed_expected: Option<f64>,
    /// Mean pass@1.
    pub pass_at_1: Option<f64>,
    /// Mean pass@k over groups with at least k rewards.
    pub pass_at_k: Option<f64>,
    /// That k.
    pub k: u32,
}

/// Summarises groups by their known rewards; success is a reward above one half.
pub fn summarise_groups(groups: &[Vec<f64>], k: u32) -> GroupsSummary {
    let counted: Vec<(u32, u32)> = groups
        .iter()
        .filter(|g| g.len() > 1)
        .map(|g| {
            (
                count(g.len()),
                count(g.iter().filter(|r| **r > 0.5).count()),
            )
        })
        .collect();
    let mean = |values: Vec<f64>| crate::stats::mean(&values);
    let mixed = counted.iter().filter(|(n, c)| *c > 0 && c < n).count();
    let share = |x: usize| (!counted.is_empty()).then(|| x as f64 / counted.len() as f64);
    let rate = |(n, c): &(u32, u32)| f64::from(*c) / f64::from(*n);
    GroupsSummary {
        groups: counted.len(),
        mixed,
        all_zero: counted.iter().filter(|(_, c)| *c == 0).count(),
        all_one: counted.iter().filter(|(n, c)| c == n).count(),
        mixed_measured: share(mixed),
        mixed_expected: mean(counted.iter().map(|g| mixed_share(rate(g), g.0)).collect()),
        pass_at_1: mean(counted.iter().map(rate).collect()),
        pass_at_k: mean(
            counted
                .iter()
                .filter_map(|(n, c)| pass_at_k(*n, *c, k))
                .collect(),
        ),
        k,
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(run: &str, reward: f64, failures: u32) -> GroupMember {
        GroupMember {
            run: run.into(),
            question: "q".into(),
            initial_state: Some("s0".into()),
            grader: "evidence 1".into(),
            reward: Some(reward),
            status: RewardStatus::Ok,
            output_chars: 100,
            output_tokens: None,
            calls: 2,
            tool_results: 2,
            tool_failures: failures,
        }
    }

    fn report(members: Vec<GroupMember>) -> GroupReport {
        group_report("g", members, Convention::Population, None).unwrap()
    }

    #[test]
    fn s64_a_group_that_breaks_its_contract_is_refused() {
        let broken: [fn(&mut GroupMember); 3] = [
            |m| m.question = "other".into(),
            |m| m.initial_state = Some("s1".into()),
            |m| m.grader = "evidence 2".into(),
        ];
        for (break_it, part) in broken
            .iter()
            .zip(["question", "initial state", "grader version"])
        {
            let mut odd = member("b", 1.0, 0);
            break_it(&mut odd);
            let error = group_report("g", vec![member("a", 0.0, 0), odd], Convention::Trl, None)
                .unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let mut silent = member("b", 1.0, 0);
        silent.initial_state = None;
        let ok = report(vec![member("a", 0.0, 0), silent]);
        assert_eq!(ok.unverified.len(), 1);
    }

    #[test]
    fn s61_all_zero_is_explained_in_order_and_never_by_sampling_more() {
        let down = report((0..4).map(|i| member(&i.to_string(), 0.0, 2)).collect());
        let asks: Vec<&str> = down.checks.iter().map(|c| c.asks.as_str()).collect();
        assert_eq!(
            asks,
            [
                "task too hard",
                "tools all failing",
                "reward broken or format-only"
            ]
        );
        let holds: Vec<_> = down.checks.iter().map(|c| c.holds).collect();
        assert_eq!(holds, [None, Some(true), Some(false)]);
        let hard = report((0..4).map(|i| member(&i.to_string(), 0.0, 0)).collect());
        assert_eq!(hard.checks[0].holds, Some(true));
        for c in down.checks.iter().chain(&hard.checks) {
            assert!(!c.shown.contains("sample more") && !c.shown.contains("more samples"));
        }
        assert_eq!(
            report(vec![member("a", 0.0, 0), member("b", 1.0, 0)]).checks,
            []
        );
    }

    #[test]
    fn s52_contaminated_rewards_are_left_out_and_counted() {
        let mut spoilt = member("b", 1.0, 0);
        spoilt.status = RewardStatus::Contaminated;
        let mut missing = member("c", 0.0, 0);
        (missing.reward, missing.status) = (None, RewardStatus::Missing);
        let r = report(vec![
            member("a", 0.0, 0),
            spoilt,
            missing,
            member("d", 1.0, 0),
        ]);
        assert_eq!(r.excluded, 1);
        assert_eq!(r.advantages.advantages, [Some(-1.0), None, None, Some(1.0)]);
    }

    #[test]
    fn s63_length_and_calls_stand_beside_the_advantage() {
        let mut long = member("b", 1.0, 0);
        long.output_chars = 900;
        let r = report(vec![member("a", 0.0, 0), long]);
        assert!(r.length_notes[0].contains("100 to 900 characters"));
        assert!(r.length_notes.iter().any(|n| n.contains("Dr. GRPO")));
    }

    #[test]
    fn pass_at_k_and_mixed_share() {
        // Chen et al.: n = 4, c = 1: pass@1 = 1/4, pass@2 = 1 − C(3,2)/C(4,2) = 1/2, pass@4 = 1.
        assert!((pass_at_k(4, 1, 1).unwrap() - 0.25).abs() < 1e-12);
        assert!((pass_at_k(4, 1, 2).unwrap() - 0.5).abs() < 1e-12);
        assert!((pass_at_k(4, 1, 4).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(pass_at_k(4, 1, 5), None);
        // SCIENCE part 4, R4: G=4 p=.05→.186, .1→.344, .25→.680, .5→.875; G=8 .337, .570, .900, .992.
        for (g, shares) in [
            (4, [0.186, 0.344, 0.680, 0.875]),
            (8, [0.337, 0.570, 0.900, 0.992]),
        ] {
            for (p, want) in [0.05, 0.1, 0.25, 0.5].into_iter().zip(shares) {
                assert!((mixed_share(p, g) - want).abs() < 6e-4, "G={g} p={p}");
            }
        }
    }

    #[test]
    fn a_summary_counts_groups_by_kind() {
        let s = summarise_groups(
            &[
                vec![0., 0., 1., 1.],
                vec![0., 0., 0., 0.],
                vec![1., 1.],
                vec![1.],
            ],
            4,
        );
        assert_eq!((s.groups, s.mixed, s.all_zero, s.all_one), (3, 1, 1, 1));
        // By hand: pass@1 (1/2 + 0 + 1)/3; pass@4 over the two groups of four: (1 + 0)/2; expected (7/8 + 0 + 0)/3.
        assert!((s.pass_at_1.unwrap() - 0.5).abs() < 1e-12);
        assert!((s.pass_at_k.unwrap() - 0.5).abs() < 1e-12);
        assert!((s.mixed_expected.unwrap() - 0.875 / 3.0).abs() < 1e-12);
        assert_eq!(summarise_groups(&[], 4).mixed_measured, None);
    }
}
