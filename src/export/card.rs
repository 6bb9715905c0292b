//! The dataset card: the manifest in words, for people.

use super::manifest::{Bound, Manifest};
use std::fmt::Write as _;

/// Name of the card.
pub const CARD: &str = "README.md";
/// Left-out rows that the card names one by one; the manifest names all.
const MAX_TOLD: usize = 20;

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
        &m.filter
    };
    line(out, format_args!("- filter: `{filter}`"));
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
        line(out, format_args!("- **blocked** by {block}"));
    }
    for name in &m.missing_bindings {
        line(out, format_args!("- **missing version**: {name}"));
    }
    for warning in &m.warnings {
        line(out, format_args!("- warning: {warning}"));
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
            format_args!("| {} | {} | {} | `{}` |", f.name, f.rows, f.bytes, f.sha256),
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
        .map(|v| format!("`{}`", cell(v)))
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
                "- {name}: {} {} ({} items)",
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
            format_args!("- {}: {}", cell(&row.subject), cell(&row.reason)),
        );
    }
}

/// Keeps a value on one line and inside its table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{text}");
}
