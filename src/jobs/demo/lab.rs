//! The demo's experiments: a probe of one failure with the embedded model, and two graders before the hack suite.

use super::Stage;
use crate::domain::{Filter, Progress};
use crate::jobs::{AskedGrader, AuditOptions, JobError, ProbeModel, ProbeOptions};
use crate::reward::built_in_graders;
use crate::store::Store;
use crate::text;
use serde_json::{Value, json};

/// The failure that is probed: it never got the valid version.
const PROBED: &str = "teach-index-03";
/// One grader that must lose, one that must win (S-67, S-68).
const GRADERS: [&str; 2] = ["source-marker", "policy-evidence"];

pub(super) fn probe(
    store: &mut Store,
    model: &mut dyn ProbeModel,
    now_us: i64,
    progress: &Progress,
) -> Result<Stage, JobError> {
    let run = store.resolve(PROBED)?;
    let register = crate::jobs::register(store)?;
    let options = ProbeOptions {
        quick: true,
        ..ProbeOptions::default()
    };
    let found = crate::jobs::probe(store, model, &run, &register, &options, now_us, progress)?;
    let effects = &found.report.effects;
    let mut said = vec![format!(
        "{run}, step {}: {} changed contexts with {}, one cell: a look, no verdict (`triagent probe RUN` does twelve); corrected action by {}",
        found.step,
        effects.len(),
        found.binding.model,
        found.corrected_by
    )];
    said.extend(effects.iter().map(|e| {
        format!(
            "  {}: margin of the corrected action {:+.2} → {:+.2} nats, {:+.2} over placebo",
            e.variant.word(),
            e.margin.0,
            e.margin.1,
            e.effect
        )
    }));
    said.push(format!("  {}", found.trust.why));
    let effects: Vec<Value> = effects
        .iter()
        .map(|e| json!({"variant": e.variant.word(), "effect": e.effect, "margin": e.margin}))
        .collect();
    Ok(Stage {
        stage: "probe",
        said,
        result: json!({
            "run": run, "step": found.step, "effects": effects, "cells": 1, "heeded": found.trust.heeded,
        }),
    })
}

pub(super) fn audit(
    store: &mut Store,
    now_us: i64,
    progress: &Progress,
) -> Result<Stage, JobError> {
    let (mut said, mut rows) = (Vec::new(), Vec::new());
    let options = AuditOptions {
        filter: Filter::default(),
        stands_for: None,
        version: None,
    };
    let built_in = built_in_graders();
    for grader in built_in
        .iter()
        .filter(|g| GRADERS.contains(&g.name.as_str()))
    {
        let asked = AskedGrader::Rules(grader.clone());
        let found = crate::jobs::audit_grader(store, &asked, &options, now_us, progress)?;
        said.push(format!("{}: {}", grader.name, found.report.words));
        let first = found.report.rows.iter().find(|r| r.fooled);
        if let Some(row) = first {
            said.push(format!(
                "  {}: {:?} got success",
                row.hack.words(),
                text::one_line(&row.diff.1, 80)
            ));
        }
        rows.push(json!({
            "grader": grader.name, "hacks": found.report.hacks, "fooled": found.report.fooled, "refused": found.report.refused,
        }));
    }
    Ok(Stage {
        stage: "audit",
        said,
        result: json!({ "graders": rows }),
    })
}
