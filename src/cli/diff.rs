//! `triagent diff`: runs side by side, each with the first: where they part, and which layer differs.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::domain::RunId;
use crate::error::Result;
use crate::jobs::{self, Compared};
use crate::text;
use crate::triage::{DiffRow, LayerState, RowKind};
use serde_json::json;

/// Compare runs, each with the first: aligned by content, first divergence, and which layer differs
///
/// Layers (index, context, tool text, prompt, parameters, harness) are compared by fingerprint: versions and hashes in the log, never
/// by the answer. Where a log does not tell, the layer is unknown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// First run
    #[arg(value_name = "A")]
    a: String,
    /// The run beside it; with more than one, each in turn
    #[arg(value_name = "B", required = true)]
    others: Vec<String>,
    /// Also show the steps that are equal
    #[arg(long)]
    all: bool,
}

/// Columns of a step that a row shows, on each side.
const STEP_COLUMNS: usize = 60;

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    let a = store.resolve(&args.a)?;
    for (at, other) in args.others.iter().enumerate() {
        let b = store.resolve(other)?;
        let compared = jobs::compare(&store, &a, &b)?;
        if args.others.len() > 1 && !env.out.is_json() {
            let gap = if at > 0 { "\n" } else { "" };
            env.out.line(text::visible(&format!("{gap}{a} and {b}")))?;
        }
        one(&a, &b, &compared, args.all, env)?;
    }
    Ok(Done::Whole)
}

fn one(a: &RunId, b: &RunId, compared: &Compared, all: bool, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        env.out.row(&json!({
            "a": a,
            "b": b,
            "first_divergence": compared.diff.first_divergence,
            "layers": compared.diff.layers,
            "note": compared.diff.note,
            "rows": compared.diff.rows,
        }))?;
        return Ok(());
    }
    layers(compared, env)?;
    steps(compared, all, env)?;
    divergence(compared, env)
}

fn layers(compared: &Compared, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["layer", "state", "a", "b"]);
    for layer in &compared.diff.layers {
        let state = match layer.state {
            LayerState::Same => Cell::new("= same").tone(Tone::Dim),
            LayerState::Differs => Cell::new("≠ different").tone(Tone::Warn),
            LayerState::Unknown => Cell::new("? unknown").tone(Tone::Dim),
        };
        table.push(vec![
            Cell::new(layer.layer.word()),
            state,
            Cell::new(&layer.a),
            Cell::new(&layer.b),
        ]);
    }
    env.out.table(&table)?;
    env.out.line(text::visible(&compared.diff.note))
}

fn steps(compared: &Compared, all: bool, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["", "a", "b", "owner", "a says", "b says"]);
    for row in &compared.diff.rows {
        if all || row.kind != RowKind::Same {
            table.push(cells(row, compared));
        }
    }
    if table.is_empty() {
        return env.out.line("all steps are equal");
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn cells(row: &DiffRow, compared: &Compared) -> Vec<Cell> {
    let (glyph, tone) = match row.kind {
        RowKind::Same => ("=", Tone::Dim),
        RowKind::Changed => ("≠", Tone::Warn),
        RowKind::OnlyA => ("‹", Tone::Bad),
        RowKind::OnlyB => ("›", Tone::Good),
    };
    let (a, b) = (
        row.a.and_then(|i| compared.a.get(i as usize)),
        row.b.and_then(|i| compared.b.get(i as usize)),
    );
    let says = |step: Option<&crate::domain::Step>| {
        let text = step.map_or_else(String::new, |s| match &s.tool {
            Some(tool) => format!("{tool} {}", s.text),
            None => s.text.clone(),
        });
        Cell::new(text::one_line(&text, STEP_COLUMNS))
    };
    vec![
        Cell::new(glyph).tone(tone),
        Cell::number(row.a),
        Cell::number(row.b),
        Cell::maybe(a.or(b).map(|s| s.owner)),
        says(a),
        says(b),
    ]
}

fn divergence(compared: &Compared, env: &mut Env) -> Result<()> {
    let Some(first) = &compared.diff.first_divergence else {
        return Ok(());
    };
    let at = |step: Option<u32>| step.map_or_else(|| "its end".to_owned(), |s| format!("step {s}"));
    let line = format!(
        "\nthey part at {} of a and {} of b ({}): {}",
        at(first.a),
        at(first.b),
        first.owner,
        first.meaning
    );
    env.out.line(text::visible(&line))
}
