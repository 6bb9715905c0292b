//! Rewards: groups with their advantages, groups without a signal explained, and what fooled which grader.

use super::{audits, bars};
use crate::domain::{RewardStatus, RunId};
use crate::jobs::JudgedGroup;
use crate::jobs::desk::RewardPage;
use crate::reward::{GroupMember, GroupReport, GroupsSummary, Signal};
use crate::text::{pad, pad_left, per_cent, plural};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn rewards(page: &RewardPage) -> Filling {
    let groups = &page.groups.groups;
    let mut rows: Vec<Row> = groups
        .iter()
        .map(|g| row(g, &page.groups.summary))
        .collect();
    rows.extend(page.audits.iter().map(audits::row));
    Filling {
        heads: vec![("group", 3), ("members", 1), ("rewards", 3), ("signal", 3)],
        rows,
        note: note(page),
        empty: (
            "No task was run twice, so nothing can be compared inside a group.".to_owned(),
            "Sample several runs of one task, then press I to import them".to_owned(),
        ),
    }
}

fn note(page: &RewardPage) -> String {
    let groups = &page.groups.groups;
    let is_told = |g: &&JudgedGroup| {
        let report = g.report.as_ref();
        report.is_some_and(|r| r.advantages.signal == Signal::Relative)
    };
    let with = groups.iter().filter(is_told).count();
    let more = match page.groups.not_read {
        0 => String::new(),
        n => format!(" ({n} more: `triagent rewards groups`)"),
    };
    let audits = match page.audits.len() {
        0 => "no grader has met the hack suite yet: a shows it to one".to_owned(),
        n => format!(
            "{} at the end of the list; a audits another",
            plural(n as u64, "audited grader")
        ),
    };
    format!(
        "relative signal only: {with} of {} can tell members apart{more}; {audits}",
        plural(groups.len() as u64, "group")
    )
}

fn row(group: &JudgedGroup, summary: &GroupsSummary) -> Row {
    let (ink, signal) = match (&group.report, &group.refused) {
        (Some(r), _) if r.advantages.signal == Signal::Relative => {
            (Ink::Pass, "✓ relative signal".to_owned())
        }
        (Some(r), _) => (Ink::Unsure, format!("? {}", r.advantages.signal_words)),
        (None, why) => {
            let why = why.as_deref().unwrap_or_default();
            (
                Ink::Fail,
                format!("✗ {}", why.lines().next().unwrap_or_default()),
            )
        }
    };
    let members = group.report.iter().flat_map(|r| &r.members);
    let rewards: Vec<String> = members.map(reward).collect();
    Row {
        cells: vec![
            (Ink::Strong, group.group.clone()),
            (Ink::Dim, group.runs.len().to_string()),
            (Ink::Text, rewards.join(" ")),
            (ink, signal),
        ],
        page: page(group, summary),
        target: group.runs.first().map_or(Target::None, |run| {
            Target::Run(RunId::from(run.as_str()), group.seq, 0)
        }),
    }
}

fn reward(member: &GroupMember) -> String {
    match (member.reward, member.status) {
        (Some(value), RewardStatus::Ok) => value.to_string(),
        (_, status) => status.word().to_owned(),
    }
}

fn page(group: &JudgedGroup, summary: &GroupsSummary) -> Doc {
    let mut doc = Doc::default();
    doc.line(Ink::Strong, &group.group);
    if let Some(cohort) = &group.cohort {
        doc.line(Ink::Dim, cohort);
    }
    match (&group.report, &group.refused) {
        (Some(report), _) => computed(&mut doc, report),
        (None, why) => {
            doc.line(Ink::Fail, why.as_deref().unwrap_or_default());
        }
    }
    together(&mut doc, summary);
    doc
}

fn computed(doc: &mut Doc, report: &GroupReport) {
    let advantages = &report.advantages;
    doc.field("mean", Ink::Text, &number(advantages.mean));
    doc.field("std", Ink::Text, &number(advantages.std));
    doc.field("convention", Ink::Text, advantages.convention.word());
    doc.field("formula", Ink::Text, &advantages.formula);
    doc.line(Ink::Warn, &advantages.signal_words);
    if !report.checks.is_empty() {
        doc.heading("check in this order");
    }
    for (n, check) in (1..).zip(&report.checks) {
        let (ink, word) = match check.holds {
            Some(true) => (Ink::Fail, "yes"),
            Some(false) => (Ink::Dim, "no"),
            None => (Ink::Unsure, "look"),
        };
        doc.push(Ink::Text, &format!("{n}. {}: ", check.asks));
        doc.push(ink, word)
            .line(Ink::Text, &format!(", {}", check.shown));
    }
    members(doc, report);
    for what in &report.unverified {
        doc.line(Ink::Unsure, &format!("not verified: {what}"));
    }
    if report.excluded > 0 {
        let words = format!(
            "{} left out: contaminated or untrusted, which is not 0",
            plural(report.excluded as u64, "reward")
        );
        doc.line(Ink::Unsure, &words);
    }
    doc.heading("how length enters");
    for note in &report.length_notes {
        doc.line(Ink::Text, note);
    }
    doc.heading("a full update still needs");
    for needed in &advantages.missing {
        doc.line(Ink::Text, &format!("☐ {needed}"));
    }
}

fn members(doc: &mut Doc, report: &GroupReport) {
    doc.heading("members: reward and place inside the group");
    let advantages = &report.advantages.advantages;
    let most = advantages
        .iter()
        .flatten()
        .fold(0.0, |m: f64, v| m.max(v.abs()));
    for (member, advantage) in report.members.iter().zip(advantages) {
        let bar = bars::signed(advantage.unwrap_or(0.0), most);
        doc.push(Ink::Text, &pad(&member.run, 22));
        doc.push(Ink::Text, &pad_left(&reward(member), 9))
            .push(Ink::Bar, &format!(" {bar} "));
        let tokens = member
            .output_tokens
            .map_or_else(String::new, |t| format!(", {t} tokens"));
        let about = format!(
            "{}  {} characters{tokens}, {}, {} of {} failed",
            pad_left(&number(*advantage), 6),
            member.output_chars,
            plural(member.calls as u64, "call"),
            member.tool_failures,
            plural(member.tool_results as u64, "tool result")
        );
        doc.line(Ink::Dim, &about);
    }
    doc.line(
        Ink::Dim,
        "an advantage is a place inside its group, never a quality label",
    );
}

fn together(doc: &mut Doc, s: &GroupsSummary) {
    let share = |v: Option<f64>| v.map_or_else(|| "n/a".to_owned(), per_cent);
    doc.heading("all groups together");
    let kinds = format!(
        "{} mixed, {} all wrong, {} all right",
        s.mixed, s.all_zero, s.all_one
    );
    doc.field("groups", Ink::Text, &kinds);
    let mixed = format!(
        "measured {}, expected {}",
        share(s.mixed_measured),
        share(s.mixed_expected)
    );
    doc.field("mixed", Ink::Text, &mixed);
    doc.field("pass@1", Ink::Text, &share(s.pass_at_1));
    doc.field(&format!("pass@{}", s.k), Ink::Text, &share(s.pass_at_k));
}

fn number(v: Option<f64>) -> String {
    v.map_or_else(|| "?".to_owned(), |v| format!("{v:.3}"))
}
