//! Shows how far a model is from the recorded policies.

use crate::cli::env::Env;
use crate::cli::output::{Cell, Table, Tone};
use crate::error::Result;
use crate::jobs::Drift;
use crate::text;
use serde_json::json;

/// One row a version, and how to read each.
pub(super) fn tell(found: &[Drift], env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return found.iter().try_for_each(|one| env.out.row(&json!(one)));
    }
    let mut table = Table::new(&[
        "policy",
        "calls",
        "tokens",
        "mean |d|",
        "max |d|",
        "correlation",
        "ratio 1 %",
        "50 %",
        "99 %",
        "out of clip",
        "near",
    ]);
    for one in found {
        table.push(row(one));
    }
    env.out.table(&table)?;
    for one in found {
        let readings = one.report.iter().flat_map(|r| r.reading.iter().cloned());
        let left = one
            .left_out
            .iter()
            .map(|(why, n)| format!("{n} calls left out: {why}"));
        for line in readings.chain(left) {
            env.out
                .line(text::visible(&format!("{}: {line}", one.version)))?;
        }
    }
    Ok(())
}

fn row(one: &Drift) -> Vec<Cell> {
    let mut cells = vec![Cell::new(text::visible(&one.version).into_owned())];
    let Some(report) = &one.report else {
        cells.push(Cell::new("nothing to compare").tone(Tone::Dim));
        return cells;
    };
    let [low, _, middle, _, high] = report.ratio_quantiles;
    let correlation = report.correlation.map(|r| format!("{r:.4}"));
    cells.extend([
        Cell::number(Some(report.calls)),
        Cell::number(Some(report.tokens)),
        Cell::number(Some(format!("{:.4}", report.mean_abs))),
        Cell::number(Some(format!("{:.4}", report.max_abs))),
        Cell::number(correlation),
        Cell::number(Some(format!("{low:.3}"))),
        Cell::number(Some(format!("{middle:.3}"))),
        Cell::number(Some(format!("{high:.3}"))),
        Cell::number(Some(format!("{:.1} %", report.outside_clip * 100.0))),
        if report.passes {
            Cell::new("✓ yes").tone(Tone::Good)
        } else {
            Cell::new("✗ no").tone(Tone::Bad)
        },
    ]);
    cells
}
