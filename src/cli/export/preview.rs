//! The first rows of an export, piece by piece: what the loss counts, and what only conditions it.

use super::super::env::Env;
use super::super::output::Tone;
use crate::error::Result;
use crate::export::{Preview, PreviewRow, Segment};
use crate::text;

/// Characters of a condition that are printed; a target is printed whole.
const CONDITION_CHARS: usize = 400;
/// Between two tokens.
const SEAM: char = '│';

/// Prints the rows; with `--json` each row with its segments.
pub(super) fn print(shown: &Preview, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return shown.rows.iter().try_for_each(|row| env.out.row(row));
    }
    if shown.rows.is_empty() {
        return env.out.say("no row would leave");
    }
    env.out
        .line("▶ the loss counts it   ░ it only conditions the model")?;
    for (at, row) in shown.rows.iter().enumerate() {
        let name = format!("row {} of {}", at + 1, row.file);
        let head = env.out.tone(Tone::Bold, &name);
        env.out.line(format!("\n{head}"))?;
        sides(row, env)?;
    }
    env.out.line("")
}

fn sides(row: &PreviewRow, env: &mut Env) -> Result<()> {
    if row.segments.is_empty() {
        // No trainer reads it as a target: a task, or a copy for other tools.
        let json: serde_json::Value = serde_json::from_str(&row.line)?;
        return env
            .out
            .line(text::visible(&serde_json::to_string_pretty(&json)?));
    }
    let is_pair = row.segments.len() > 1;
    for (at, side) in row.segments.iter().enumerate() {
        if is_pair {
            let word = if at == 0 { "chosen" } else { "rejected" };
            env.out.line(format!("  {word}"))?;
        }
        for stretch in side.chunk_by(|a, b| a.owner == b.owner && a.trained == b.trained) {
            stretch_of(stretch, env)?;
        }
    }
    Ok(())
}

fn stretch_of(stretch: &[Segment], env: &mut Env) -> Result<()> {
    let Some(first) = stretch.first() else {
        return Ok(());
    };
    let words = joined(stretch);
    let (sign, shown) = if first.trained {
        ('▶', words)
    } else {
        ('░', shortened(&words))
    };
    let safe = text::visible(&shown).replace('\n', "\n             ");
    let safe = if first.trained {
        safe
    } else {
        env.out.tone(Tone::Dim, &safe)
    };
    env.out.line(format!("  {sign} {:<8} {safe}", first.owner))
}

/// Tokens with a seam between them; a line break shows as one.
fn joined(stretch: &[Segment]) -> String {
    let mut out = String::new();
    for (at, segment) in stretch.iter().enumerate() {
        if at > 0 {
            out.push(SEAM);
        }
        out.push_str(&segment.text);
    }
    out
}

fn shortened(words: &str) -> String {
    let all = words.chars().count();
    if all <= CONDITION_CHARS {
        return words.to_owned();
    }
    let half = CONDITION_CHARS / 2;
    let start: String = words.chars().take(half).collect();
    let end: String = words.chars().skip(all - half).collect();
    format!("{start} … {} more characters … {end}", all - 2 * half)
}
