//! The dataset card: the manifest in words, for people.

use super::manifest::{Bound, Manifest};
use crate::text;
use std::fmt::Write as _;

/// Name of the card.
pub const CARD: &str = "README.md";
/// Left-out rows that the card names one by one; the manifest names all.
const MAX_TOLD: usize = 20;
/// Longest value of a log, in columns.
const CELL_COLUMNS: usize = 120;
/// Longest sentence, in columns.
const PROSE_COLUMNS: usize = 1_000;

/// Returns the card.
pub(crate) fn card(manifest: &Manifest) -> String {
    let mut out = String::new();
    head(&mut out, manifest);
    files(&mut out, manifest);
    settings(&mut out, manifest);
    bindings(&mut out, manifest);
    coverage(&mut out, manifest);
    agreement(&mut out, manifest);
    left_out(&mut out, manifest);
    out
}

fn head(out: &mut String, m: &Manifest) {
    let total: u64 = m.rows.values().sum();
    line(
        out,
        format_args!("# Dataset for {} ({})\n", m.method, m.format),
    );
    let verdict = if m.acceptable_for_training {
        "Acceptable for training: nothing blocks it, every version is bound."
    } else {
        "**Not acceptable for training.** See below what is missing."
    };
    line(out, format_args!("{verdict}\n"));
    line(
        out,
        format_args!("- rows: {total}; left out: {}", m.left_out.len()),
    );
    line(
        out,
        format_args!(
            "- made by: triagent {}, shape `{}`, purpose `{}`",
            m.triagent, m.shape, m.purpose
        ),
    );
    let filter = if m.filter.is_empty() {
        "(everything)"
    } else {
        m.filter.as_str()
    };
    line(out, format_args!("- filter: `{}`", code(filter)));
    line(
        out,
        format_args!(
            "- one row is: {}; attempts: {}",
            m.units.rows, m.units.attempts
        ),
    );
    if let Some(told) = m.units.generation() {
        line(out, format_args!("- {told}"));
    }
    for block in &m.blocked {
        line(
            out,
            format_args!("- **blocked** by {}", prose(&block.to_string())),
        );
    }
    for name in &m.missing_bindings {
        line(out, format_args!("- **missing version**: {}", prose(name)));
    }
    for warning in &m.warnings {
        line(out, format_args!("- warning: {}", prose(warning)));
    }
    out.push('\n');
}

fn files(out: &mut String, m: &Manifest) {
    line(
        out,
        format_args!("## Files\n\n| file | rows | bytes | SHA-256 |\n| --- | --- | --- | --- |"),
    );
    for f in &m.files {
        line(
            out,
            format_args!(
                "| {} | {} | {} | `{}` |",
                cell(&f.name),
                f.rows,
                f.bytes,
                f.sha256
            ),
        );
    }
    out.push('\n');
}

fn settings(out: &mut String, m: &Manifest) {
    if m.trainer_settings.is_empty() {
        return;
    }
    line(out, format_args!("## Tell the trainer\n"));
    for (name, value) in &m.trainer_settings {
        line(out, format_args!("- `{name}`: {value}"));
    }
    out.push('\n');
}

fn bindings(out: &mut String, m: &Manifest) {
    line(
        out,
        format_args!("## Bound to\n\n| what | version | rows without |\n| --- | --- | --- |"),
    );
    for (name, bound) in &m.bindings {
        line(
            out,
            format_args!("| {name} | {} | {} |", values(bound), bound.missing),
        );
    }
    out.push('\n');
}

fn values(bound: &Bound) -> String {
    if let Some(why) = bound.not_applicable {
        return format!("not applicable: {why}");
    }
    if bound.values.is_empty() {
        return "unknown".to_owned();
    }
    let few: Vec<String> = bound
        .values
        .iter()
        .take(5)
        .map(|v| format!("`{}`", code(v)))
        .collect();
    let more = bound.values.len().saturating_sub(few.len());
    let tail = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{tail}", few.join(", "))
}

fn coverage(out: &mut String, m: &Manifest) {
    if m.coverage.matrix.is_empty() {
        return;
    }
    line(
        out,
        format_args!("## Covers\n\n| scenario | normal | clarification | boundary | recovery |"),
    );
    line(out, format_args!("| --- | --- | --- | --- | --- |"));
    for (name, cells) in &m.coverage.matrix {
        let of = |cell: &str| cells.get(cell).copied().unwrap_or(0);
        let (n, c) = (of("normal"), of("clarification"));
        let (b, r) = (of("boundary"), of("recovery"));
        line(
            out,
            format_args!("| {} | {n} | {c} | {b} | {r} |", cell(name)),
        );
    }
    out.push('\n');
}

/// The headline of each set of labels; a statistic that is undefined says why.
fn agreement(out: &mut String, m: &Manifest) {
    let sets = m.agreement.as_object().into_iter().flatten();
    let headlines: Vec<String> = sets
        .filter_map(|(name, set)| {
            let first = set["statistics"].as_array()?.first()?;
            let said = match (first["value"].as_f64(), first["reason"].as_str()) {
                (Some(value), _) => format!("{value:.3}"),
                (None, Some(why)) => why.to_owned(),
                (None, None) => return None,
            };
            Some(format!(
                "- {}: {} {} ({} items)",
                cell(name),
                first["statistic"].as_str()?,
                cell(&said),
                first["n"]
            ))
        })
        .collect();
    if !headlines.is_empty() {
        line(
            out,
            format_args!("## Reviewers agree\n\n{}\n", headlines.join("\n")),
        );
    }
}

fn left_out(out: &mut String, m: &Manifest) {
    if m.left_out.is_empty() {
        return;
    }
    line(
        out,
        format_args!("## Left out\n\n| reason | rows |\n| --- | --- |"),
    );
    for (code, n) in &m.left_out_by_reason {
        line(out, format_args!("| {code} | {n} |"));
    }
    line(
        out,
        format_args!("\nThe first of them (`manifest.json` has all):\n"),
    );
    for row in m.left_out.iter().take(MAX_TOLD) {
        line(
            out,
            format_args!("- {}: {}", cell(&row.subject), prose(&row.reason)),
        );
    }
}

/// A value of a log as harmless words on one line, inside its table cell: no tag, link, image or code.
fn cell(value: &str) -> String {
    let shown = text::one_line(value, CELL_COLUMNS);
    let mut out = String::with_capacity(shown.len());
    for c in shown.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A value inside backticks, where nothing but a backtick or a cell's end has a meaning.
fn code(value: &str) -> String {
    let shown = text::one_line(value, CELL_COLUMNS);
    shown.replace('`', "'").replace('|', "\\|")
}

/// A sentence of ours that may quote a log: its own code marks stay.
fn prose(sentence: &str) -> String {
    let shown = text::one_line(sentence, PROSE_COLUMNS);
    shown
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('|', "\\|")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_words_on_a_card_are_words() {
        let hostile = "a\u{1b}[31m|`x`\n<img src=x>&lt;![i](http://h)";
        assert_eq!(
            cell(hostile),
            r"a␛\[31m\|\`x\` &lt;img src=x&gt;&amp;lt;!\[i\](http://h)"
        );
        assert_eq!(code("a`b|c"), r"a'b\|c");
        assert_eq!(prose("`--force` <b>"), "`--force` &lt;b>");
        for shown in [cell(&"x".repeat(9_999)), code(&"x".repeat(9_999))] {
            assert_eq!(text::width(&shown), CELL_COLUMNS);
        }
    }
}
