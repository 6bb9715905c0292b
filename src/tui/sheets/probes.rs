//! A run's probes: for each changed context both log-probs, the effect with its interval, every cell, gates, exact diff, binding.

use crate::domain::ChatMessage;
use crate::jobs::Probe;
use crate::stats::Interval;
use crate::triage::{Placement, VariantEffect, VariantScores};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet: newest probe first, one row a changed context.
pub(crate) fn probes(all: &[Probe]) -> Filling {
    Filling {
        heads: vec![("context", 3), ("effect, 95 %", 4), ("says", 4)],
        rows: all.iter().flat_map(rows).collect(),
        note: "in nats; effect: how far the margin shifts, less what unrelated texts shift it; P probes again"
            .to_owned(),
        empty: (
            "This run was not probed.".to_owned(),
            "P scores the recorded and the corrected action in changed contexts".to_owned(),
        ),
    }
}

fn rows(probe: &Probe) -> Vec<Row> {
    let report = &probe.report;
    let row = |effect: &VariantEffect| {
        let (ink, says) = says(effect, report.screen_only);
        Row {
            cells: vec![
                (Ink::Strong, effect.variant.word().to_owned()),
                (
                    Ink::Text,
                    format!("{:+.2}{}", effect.effect, range(effect.interval)),
                ),
                (ink, says),
            ],
            page: page(probe, effect),
            target: Target::None,
        }
    };
    report.effects.iter().map(row).collect()
}

fn says(effect: &VariantEffect, one_look: bool) -> (Ink, String) {
    let (ink, word) = match (effect.shift, effect.falls) {
        (true, _) => (Ink::Pass, "↑ shifts"),
        (_, true) => (Ink::Warn, "↓ falls"),
        _ => (Ink::Dim, "no shift"),
    };
    let more = [
        (effect.flip, ", right action preferred"),
        (effect.fragile, ", fragile"),
        (one_look, ", one look"),
    ];
    let more = more
        .iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, word)| *word);
    let ink = if effect.fragile { Ink::Unsure } else { ink };
    (ink, std::iter::once(word).chain(more).collect())
}

fn page(probe: &Probe, effect: &VariantEffect) -> Doc {
    let mut page = Doc::default();
    page.line(Ink::Strong, effect.variant.word());
    page.field("by", Ink::Text, &effect.author);
    page.field("corrected", Ink::Text, &arrow(effect.corrected));
    page.field("recorded", Ink::Text, &arrow(effect.recorded));
    page.field("margin", Ink::Text, &arrow(effect.margin));
    page.field(
        "effect",
        Ink::Text,
        &format!("{:+.2}{}", effect.effect, range(effect.interval)),
    );
    page.field(
        "counts from",
        Ink::Text,
        &format!("{:.2}", probe.report.tau),
    );
    if let Some(p) = effect.holm_p.or(effect.p) {
        page.field("p (Holm)", Ink::Text, &format!("{p:.4}"));
    }
    if let Some((at, of)) = effect.placebo_rank {
        page.field(
            "rank",
            Ink::Text,
            &format!("{at} of {} with its placebos", of + 1),
        );
    }
    if let Some(scores) = probe
        .matrix
        .variants
        .iter()
        .find(|v| v.variant == effect.variant)
    {
        cells(&mut page, scores);
    }
    page.heading("what was changed");
    for line in effect.diff.lines() {
        page.line(diff_ink(line), line);
    }
    gates(&mut page, probe);
    basis(&mut page, probe);
    page
}

/// Each cell with both log-probs, before and after.
fn cells(page: &mut Doc, scores: &VariantScores) {
    page.heading("cells");
    page.line(
        Ink::Dim,
        "place, wrapper, corrected before → after, recorded before → after",
    );
    for (at, cell) in scores.cells.iter().enumerate() {
        let (Some(before), Some(after)) = (scores.baseline.get(at), scores.changed.get(at)) else {
            continue;
        };
        let place = match cell.placement {
            Placement::Start => "start",
            Placement::Natural => "natural",
            Placement::End => "end",
        };
        let line = format!(
            "{place:<8}{:<3}{:>9.2} → {:<9.2}{:>9.2} → {:.2}",
            cell.wrapper, before.corrected, after.corrected, before.recorded, after.recorded
        );
        page.line(Ink::Text, &line);
    }
}

fn gates(page: &mut Doc, probe: &Probe) {
    page.heading("gates");
    for gate in &probe.report.gates {
        let (ink, sign) = match gate.holds {
            Some(true) => (Ink::Pass, "✓"),
            Some(false) => (Ink::Fail, "✗"),
            None => (Ink::Unsure, "?"),
        };
        page.line(ink, &format!("{sign} {}: {}", gate.name, gate.shown));
        if gate.holds == Some(false) {
            page.line(Ink::Dim, &format!("  {}", gate.meaning));
        }
    }
}

/// What all of it rests on.
fn basis(page: &mut Doc, probe: &Probe) {
    page.heading("what it rests on");
    page.field("recorded", Ink::Quote, &words(&probe.recorded));
    for form in &probe.corrected {
        page.field(
            "corrected",
            Ink::Quote,
            &format!("{} ({})", words(form), probe.corrected_by),
        );
    }
    let binding = &probe.binding;
    page.field(
        "model",
        Ink::Text,
        &format!("{} ({}) on {}", binding.model, binding.dtype, probe.device),
    );
    page.field("weights", Ink::Text, &binding.weights);
    page.field("tokenizer", Ink::Text, &binding.tokenizer);
    page.field("template", Ink::Text, &binding.template);
    page.field(
        "plan",
        Ink::Text,
        &format!("{}, kept before any score", probe.plan),
    );
    if probe.plans > 1 {
        let tries = format!(
            "{} plans were kept here: one that works after many tries proves nothing",
            probe.plans
        );
        page.line(Ink::Warn, &tries);
    }
    for note in &probe.notes {
        page.line(Ink::Text, note);
    }
    page.line(Ink::Warn, &probe.trust.why);
}

fn words(message: &ChatMessage) -> String {
    let calls = message
        .tool_calls
        .iter()
        .map(|c| format!("{}({})", c.name, c.arguments));
    let all: Vec<String> = message.content.iter().cloned().chain(calls).collect();
    all.join(" ")
}

fn diff_ink(line: &str) -> Ink {
    match line.chars().next() {
        Some('+') => Ink::Added,
        Some('-') => Ink::Removed,
        _ => Ink::Quote,
    }
}

fn arrow((from, to): (f64, f64)) -> String {
    format!("{from:.2} → {to:.2}")
}

fn range(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |i| format!(" [{:+.2}, {:+.2}]", i.low, i.high))
}
