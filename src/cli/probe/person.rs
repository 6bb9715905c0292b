//! A probe for people: what was changed, both log-probs, effects with intervals, gates, exact diffs, the suggestion.

use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::domain::ChatMessage;
use crate::error::Result;
use crate::jobs::Probe;
use crate::stats::Interval;
use crate::text;
use crate::triage::{Suggestion, VariantEffect};

pub(super) fn show(probe: &Probe, suggestion: &Suggestion, env: &mut Env) -> Result<()> {
    head(probe, env)?;
    effects(probe, env)?;
    gates(probe, env)?;
    diffs(probe, env)?;
    foot(probe, suggestion, env)
}

fn head(probe: &Probe, env: &mut Env) -> Result<()> {
    let title = env
        .out
        .tone(Tone::Bold, &format!("{}:{}", probe.run, probe.step));
    let binding = &probe.binding;
    env.out.line(format!(
        "{title}  {} ({}, weights {}, template {}) on {}",
        text::visible(&binding.model),
        binding.dtype,
        short(&binding.weights),
        short(&binding.template),
        probe.device
    ))?;
    env.out.line(line("recorded", &said(&probe.recorded)))?;
    for form in &probe.corrected {
        let words = format!("{} ({})", said(form), probe.corrected_by);
        env.out.line(line("corrected", &words))?;
    }
    let (fresh, known) = probe.contexts;
    let tries = match probe.plans {
        0 | 1 => String::new(),
        n => format!(
            "; {n} plans were kept for this decision: one that works after many tries proves nothing"
        ),
    };
    env.out.line(format!(
        "plan {} kept before any score; {fresh} contexts scored, {known} known, longest prompt {} tokens{tries}\n",
        short(&probe.plan),
        probe.longest_prompt
    ))
}

fn line(what: &str, words: &str) -> String {
    text::visible(&format!("{what:<10}{words}")).replace('\n', " ")
}

fn said(message: &ChatMessage) -> String {
    let words = message.content.iter().cloned();
    let calls = message
        .tool_calls
        .iter()
        .map(|c| format!("{}({})", c.name, c.arguments));
    words.chain(calls).collect::<Vec<_>>().join(" ")
}

fn short(hash: &str) -> String {
    hash.chars().take(8).collect()
}

fn effects(probe: &Probe, env: &mut Env) -> Result<()> {
    let heads = [
        "context",
        "by",
        "cells",
        "logp corrected",
        "logp recorded",
        "margin",
        "effect",
        "95%",
        "p",
        "rank",
        "says",
    ];
    let mut table = Table::new(&heads);
    for effect in &probe.report.effects {
        table.push(row(effect));
    }
    env.out.table(&table)?;
    let screen = if probe.report.screen_only {
        "; one look, no verdict"
    } else {
        ""
    };
    env.out.line(format!(
        "\nlog-probs in nats, recorded context → changed one; effect = shift less that of unrelated texts; counts from {:.2}{screen}",
        probe.report.tau
    ))
}

fn row(effect: &VariantEffect) -> Vec<Cell> {
    let arrow = |(from, to): (f64, f64)| Cell::number(Some(format!("{from:.2} → {to:.2}")));
    vec![
        Cell::new(effect.variant.word()),
        Cell::new(&effect.author),
        Cell::number(Some(effect.cells)),
        arrow(effect.corrected),
        arrow(effect.recorded),
        arrow(effect.margin),
        Cell::number(Some(format!("{:+.2}", effect.effect))),
        Cell::number(effect.interval.map(range)),
        Cell::number(effect.holm_p.or(effect.p).map(|p| format!("{p:.4}"))),
        Cell::number(
            effect
                .placebo_rank
                .map(|(at, of)| format!("{at}/{}", of + 1)),
        ),
        says(effect),
    ]
}

fn range(interval: Interval) -> String {
    format!("[{:+.2}, {:+.2}]", interval.low, interval.high)
}

fn says(effect: &VariantEffect) -> Cell {
    let mut words = Vec::new();
    if effect.shift {
        words.push("↑ shifts");
    }
    if effect.falls {
        words.push("↓ falls");
    }
    if effect.flip {
        words.push("right action preferred");
    }
    if effect.fragile {
        words.push("fragile");
    }
    let tone = match (effect.shift || effect.falls, effect.fragile) {
        (_, true) => Tone::Warn,
        (true, false) => Tone::Good,
        (false, false) => Tone::Dim,
    };
    if words.is_empty() {
        words.push("no shift");
    }
    Cell::new(words.join(", ")).tone(tone)
}

fn gates(probe: &Probe, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["gate", "state", "measured", "if it fails"]);
    for gate in &probe.report.gates {
        let state = match gate.holds {
            Some(true) => Cell::new("✓ holds").tone(Tone::Good),
            Some(false) => Cell::new("✗ fails").tone(Tone::Bad),
            None => Cell::new("? unmeasured").tone(Tone::Warn),
        };
        table.push(vec![
            Cell::new(&gate.name),
            state,
            Cell::new(&gate.shown),
            Cell::new(&gate.meaning),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn diffs(probe: &Probe, env: &mut Env) -> Result<()> {
    env.out.line("")?;
    for effect in &probe.report.effects {
        let name = env.out.tone(Tone::Bold, effect.variant.word());
        env.out.line(name)?;
        for part in effect.diff.lines() {
            env.out.line(format!("  {}", text::visible(part)))?;
        }
    }
    Ok(())
}

fn foot(probe: &Probe, suggestion: &Suggestion, env: &mut Env) -> Result<()> {
    env.out.line("")?;
    if let Some(r) = probe.reasoning {
        env.out.line(format!(
            "after the recorded reasoning the margin is {:.2}, without it {:.2}: {}",
            r.after.margin(),
            r.without.margin(),
            if r.after.margin() < r.without.margin() - probe.report.tau {
                "the reasoning had decided already"
            } else {
                "the reasoning alone did not decide"
            }
        ))?;
    }
    for note in &probe.notes {
        env.out.line(text::visible(&format!("note: {note}")))?;
    }
    env.out.line(text::visible(&probe.trust.why))?;
    let row = suggestion
        .row
        .map_or_else(String::new, |r| format!(" (row {r})"));
    let layer = env.out.tone(
        Tone::Bold,
        &format!("suggestion: {}{row}", suggestion.layer),
    );
    let reason = text::visible(&suggestion.reason).replace('\n', " ");
    env.out.line(format!("{layer}  {reason}"))
}
