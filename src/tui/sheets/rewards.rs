//! Groups: rewards and advantages, with the convention named and groups without a signal explained.

use super::bars;
use crate::jobs::desk::{Group, GroupMember};
use crate::reward::{Advantages, Signal};
use crate::text::{pad, pad_left};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn rewards(groups: &[Group]) -> Filling {
    let with = groups.iter().filter(|g| has_signal(g)).count();
    Filling {
        heads: vec![("group", 3), ("members", 1), ("rewards", 3), ("signal", 3)],
        rows: groups.iter().map(row).collect(),
        note: format!(
            "relative signal only: {with} of {} groups tell their members apart",
            groups.len()
        ),
        empty: (
            "No task was run twice, so nothing can be compared inside a group.".to_owned(),
            "Sample several rollouts of one task, then I imports them".to_owned(),
        ),
    }
}

fn has_signal(group: &Group) -> bool {
    group
        .advantages
        .as_ref()
        .is_ok_and(|a| a.signal == Signal::Relative)
}

fn row(group: &Group) -> Row {
    let rewards: Vec<String> = group.members.iter().map(reward).collect();
    let (ink, signal) = match &group.advantages {
        Ok(a) if a.signal == Signal::Relative => (Ink::Pass, "✓ relative signal".to_owned()),
        Ok(a) => (Ink::Unsure, format!("? {}", a.signal_words)),
        Err(why) => (Ink::Fail, format!("✗ {why}")),
    };
    Row {
        cells: vec![
            (Ink::Strong, group.name.clone()),
            (Ink::Dim, group.members.len().to_string()),
            (Ink::Text, rewards.join(" ")),
            (ink, signal),
        ],
        page: page(group),
        target: group
            .members
            .first()
            .map_or(Target::None, |m| Target::Run(m.run.clone(), m.seq, 0)),
    }
}

fn reward(member: &GroupMember) -> String {
    match (member.reward, member.status.as_str()) {
        (Some(value), "ok") => value.to_string(),
        (_, status) => status.to_owned(),
    }
}

fn page(group: &Group) -> Doc {
    let mut doc = Doc::default();
    doc.line(Ink::Strong, &group.name);
    match &group.advantages {
        Ok(advantages) => computed(&mut doc, group, advantages),
        Err(why) => {
            doc.line(Ink::Fail, why);
        }
    }
    doc
}

fn computed(doc: &mut Doc, group: &Group, advantages: &Advantages) {
    let number = |v: Option<f64>| v.map_or_else(|| "?".to_owned(), |v| format!("{v:.3}"));
    doc.field("mean", Ink::Text, &number(advantages.mean));
    doc.field("std", Ink::Text, &number(advantages.std));
    doc.field("convention", Ink::Text, advantages.convention.word());
    doc.field("formula", Ink::Text, &advantages.formula);
    doc.line(Ink::Warn, &advantages.signal_words);
    doc.heading("members: reward and place inside the group");
    let most = advantages
        .advantages
        .iter()
        .flatten()
        .fold(0.0, |m: f64, v| m.max(v.abs()));
    for (member, advantage) in group.members.iter().zip(&advantages.advantages) {
        let bar = bars::signed(advantage.unwrap_or(0.0), most);
        doc.push(Ink::Text, &pad(member.run.as_str(), 22));
        doc.push(Ink::Text, &pad_left(&reward(member), 9))
            .push(Ink::Bar, &format!(" {bar} "));
        let about = format!(
            "{}  {} steps, {} calls",
            number(*advantage),
            member.steps,
            member.calls
        );
        doc.line(Ink::Dim, &about);
    }
    doc.line(
        Ink::Dim,
        "an advantage is a place inside its group, never a quality label",
    );
    if advantages.signal == Signal::NoRelativeSignal {
        doc.heading("check in this order");
        for step in [
            "is the task too hard?",
            "do all tools fail?",
            "is the reward broken, or does it only look at the format?",
        ] {
            doc.line(Ink::Text, step);
        }
    }
    doc.heading("a full update still needs");
    for needed in &advantages.missing {
        doc.line(Ink::Text, &format!("☐ {needed}"));
    }
}
