//! Bars, drawn with boxes: they scale with the page, print, and every one of them has its number beside it.

use super::html::Escaped;
use super::{Count, Share, total};
use crate::text;
use std::fmt::{self, Write};

/// Bars of counts, the longest as wide as the column.
pub(super) fn counts(out: &mut String, rows: &[Count]) -> fmt::Result {
    let most = rows.iter().map(|r| r.count).max().unwrap_or(0);
    let all = total(rows);
    out.push_str("<div class=\"bars\">\n");
    for row in rows {
        let told = format!(
            "{} ({})",
            text::grouped(row.count),
            text::per_cent(ratio(row.count, all))
        );
        bar(out, &row.name, ratio(row.count, most), None, &told)?;
    }
    out.push_str("</div>\n");
    Ok(())
}

/// Bars of shares, with whiskers for their intervals.
pub(super) fn shares(out: &mut String, rows: &[Share]) -> fmt::Result {
    out.push_str("<div class=\"bars\">\n");
    for row in rows {
        let told = format!("{} of {}", text::grouped(row.count), text::grouped(row.of));
        let (share, whisker) = row
            .share
            .map_or((0.0, None), |(share, low, high)| (share, Some((low, high))));
        bar(out, &row.name, share, whisker, &told)?;
    }
    out.push_str("</div>\n");
    Ok(())
}

fn bar(
    out: &mut String,
    name: &str,
    share: f64,
    whisker: Option<(f64, f64)>,
    told: &str,
) -> fmt::Result {
    write!(
        out,
        "<span class=\"name\">{}</span><span class=\"track\"><span class=\"bar\" style=\"width:{:.1}%\"></span>",
        Escaped(name),
        share.clamp(0.0, 1.0) * 100.0
    )?;
    let mut told = told.to_owned();
    if let Some((low, high)) = whisker {
        let (low, high) = (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0));
        write!(
            out,
            "<span class=\"whisker\" style=\"left:{:.1}%;width:{:.1}%\"></span>",
            low * 100.0,
            (high - low).max(0.0) * 100.0
        )?;
        write!(
            told,
            ": {} ({}–{})",
            text::per_cent(share),
            text::per_cent(low),
            text::per_cent(high)
        )?;
    }
    writeln!(out, "</span><span class=\"told\">{}</span>", Escaped(&told))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of runs are far below 2^53"
)]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
