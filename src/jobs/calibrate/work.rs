//! The work: a look at every failure, all cells on a sample, then both compared with the rules alone.

use super::suite::{Case, cases, edition};
use super::{CalibrateError, Calibration, CaseResult, Comparison, known, pick::pick};
use crate::domain::chat::{context_before, decision_at, decisions};
use crate::domain::{Document, Layer, Progress};
use crate::jobs::JobError;
use crate::jobs::probe::{
    Asked, FULL_CELLS, Forgetful, ProbeError, ProbeModel, Stock, binding_key, fill, uses_evidence,
};
use crate::store::Store;
use crate::triage::{
    Context, GateFacts, Judged, PlanFacts, ProbeReport, ProbeSettings, SuggestFacts, Suggestion,
    evaluate_probe, macro_f1_gain, plan_probe, quality, reliability, row_record, suggest,
};
use std::collections::BTreeMap;

/// Kind of result under which a case's report is kept, so that a stopped calibration goes on.
const CASE: &str = "calibration-case";

/// How to calibrate.
#[derive(Debug, Clone)]
pub struct CalibrateOptions {
    /// Failures that get all cells.
    pub full: usize,
    /// Draws the sample and the bootstrap.
    pub seed: u64,
    /// The user named the chat template.
    pub template_declared: bool,
    /// Thresholds.
    pub settings: ProbeSettings,
}

impl Default for CalibrateOptions {
    fn default() -> Self {
        Self {
            full: 20,
            seed: 20_250_701,
            template_declared: false,
            settings: ProbeSettings::default(),
        }
    }
}

/// Calibrates a model. With a workspace, what was done before a stop is not done again, and the result is kept.
pub fn calibrate(
    store: Option<&mut Store>,
    model: &mut dyn ProbeModel,
    options: &CalibrateOptions,
    now_us: i64,
    progress: &Progress,
) -> Result<Calibration, JobError> {
    let cases = cases()?;
    let sample = pick(&cases, options.full, options.seed);
    let mut desk = Desk {
        store,
        model,
        options,
        now_us,
        progress,
        stock: Stock::embedded().map_err(|e| ProbeError::Stock(e.to_string()))?,
    };
    // A case with all cells is about as much work as twelve looks.
    progress.set_total((cases.len() + sample.len() * FULL_CELLS) as u64);
    let all: Vec<&Case> = cases.iter().collect();
    let chosen: Vec<&Case> = sample.iter().filter_map(|i| cases.get(*i)).collect();
    let looks = desk.reports(&all, 1)?;
    refuse_nothing(&looks)?;
    let probes = desk.reports(&chosen, FULL_CELLS)?;
    let mut out = Calibration {
        binding: desk.model.binding().clone(),
        suite: edition(),
        seed: options.seed,
        settings: options.settings.clone(),
        screen: compare(&all, looks.clone(), 1, false, options),
        full: compare(&chosen, probes.clone(), FULL_CELLS, false, options),
        uses_evidence: false,
        ship: false,
        verdict: String::new(),
    };
    if uses_evidence(&out) {
        // Only now may rows 7 and 8 name model behaviour; index and context are judged by other rows.
        out.uses_evidence = true;
        out.screen = compare(&all, looks, 1, true, options);
        out.full = compare(&chosen, probes, FULL_CELLS, true, options);
    }
    decide(&mut out);
    if let Some(store) = desk.store {
        known::keep(store, &out, now_us)?;
    }
    Ok(out)
}

/// Ship rule: better than the rules alone, lower end above 0, on all failures with one cell and on the sample with all.
fn decide(out: &mut Calibration) {
    let proven = |c: &Comparison| c.gain.as_ref().is_some_and(super::Gain::is_proven);
    out.ship = proven(&out.screen) && proven(&out.full);
    let shown = |c: &Comparison| {
        let f1 = |q: &super::Quality| q.macro_f1.unwrap_or(0.0);
        let interval = c.gain.as_ref().and_then(|g| g.interval);
        let interval = interval.map_or_else(String::new, |i| {
            format!(", difference [{:+.2}, {:+.2}]", i.low, i.high)
        });
        format!(
            "macro-F1 {:.2} against {:.2} on {} cases{interval}",
            f1(&c.probe),
            f1(&c.rules),
            c.cases.len()
        )
    };
    let word = if out.ship { "beats" } else { "does not beat" };
    out.verdict = format!(
        "on the fault suite this model {word} the rules alone ({}; one cell: {})",
        shown(&out.full),
        shown(&out.screen)
    );
}

/// A report, or why there is none.
type Reported = Result<ProbeReport, String>;

struct Desk<'a> {
    store: Option<&'a mut Store>,
    model: &'a mut dyn ProbeModel,
    options: &'a CalibrateOptions,
    now_us: i64,
    progress: &'a Progress,
    stock: Stock,
}

impl Desk<'_> {
    fn reports(&mut self, cases: &[&Case], cells: usize) -> Result<Vec<Reported>, JobError> {
        cases.iter().map(|case| self.report(case, cells)).collect()
    }

    fn report(&mut self, case: &Case, cells: usize) -> Result<Reported, JobError> {
        let key = format!(
            "{} {} {cells} {:?}",
            binding_key(self.model.binding()),
            edition(),
            self.options.settings
        );
        if let Some(store) = &self.store
            && let Some(known) = store.result::<ProbeReport>(CASE, &case.id, &key)?
        {
            self.progress.add(cells as u64);
            return Ok(Ok(known));
        }
        let report = match self.probe(case, cells) {
            Ok(report) => report,
            Err(JobError::Cancelled) => return Err(JobError::Cancelled),
            Err(other) => return Ok(Err(other.to_string())),
        };
        if let Some(store) = &mut self.store {
            store.put_result(CASE, &case.id, &key, self.now_us, &report)?;
        }
        self.progress.add(cells as u64);
        Ok(Ok(report))
    }

    fn probe(&mut self, case: &Case, cells: usize) -> Result<ProbeReport, JobError> {
        let at = decisions(&case.steps).last().copied().unwrap_or(0);
        let recorded = decision_at(&case.steps, at).ok_or(ProbeError::Same)?;
        let context = Context {
            messages: context_before(&case.steps, at),
            tools: case.head.tools.clone(),
        };
        let corrected = case.corrected.first().ok_or(ProbeError::Same)?;
        let documents: Vec<Option<&Document>> = case.documents.iter().map(Some).collect();
        let settings = settings(&self.options.settings, cells);
        let model: &dyn ProbeModel = self.model;
        let plan = plan_probe(&PlanFacts {
            context: &context,
            corrected,
            is_tool_decision: !recorded.tool_calls.is_empty(),
            // The suite says itself what to change.
            evidence: &[],
            documents: &documents,
            written: &case.written,
            stock: &self.stock.named(&case.placebos),
            wrappers: &self.stock.wrappers(&context),
            count: &|text| model.count(text).unwrap_or(text.len()),
            seed: settings.seed,
            cells,
        })?;
        let actions: Vec<_> = std::iter::once(recorded)
            .chain(case.corrected.iter().cloned())
            .collect();
        let asked = Asked {
            context: &context,
            plan: &plan,
            actions: &actions,
            now_us: None,
        };
        // A case's tokens are not what the user waits for; cases are.
        let inner = Progress::default();
        if self.progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        let filled = fill(&asked, self.model, &mut Forgetful, &inner)?;
        let facts = GateFacts {
            fits_window: true,
            same_template: filled.unlike.is_empty(),
            template_declared: self.options.template_declared,
            logged: Vec::new(),
        };
        Ok(evaluate_probe(&filled.matrix, &facts, false, &settings))
    }
}

/// One cell allows no test: point values speak, and only here.
fn settings(of: &ProbeSettings, cells: usize) -> ProbeSettings {
    if cells >= of.min_cells {
        return of.clone();
    }
    ProbeSettings {
        min_cells: 1,
        level: 1.1,
        // First among its own three placebos.
        top_share: 0.25,
        ..of.clone()
    }
}

fn refuse_nothing(looks: &[Reported]) -> Result<(), CalibrateError> {
    match looks.first() {
        Some(Err(why)) if looks.iter().all(Result::is_err) => {
            Err(CalibrateError::Nothing(why.clone()))
        }
        _ => Ok(()),
    }
}

fn compare(
    cases: &[&Case],
    reports: Vec<Reported>,
    cells: usize,
    speaks: bool,
    options: &CalibrateOptions,
) -> Comparison {
    let (mut rules, mut probed, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for (case, report) in cases.iter().zip(reports) {
        let report = report.map(|r| ProbeReport {
            speaks_for_model: speaks,
            ..r
        });
        let alone = said(case, None);
        // Where the model cannot score, a user has the rules.
        let both = said(case, report.as_ref().ok());
        results.push(result(case, &alone, &both, &report));
        rules.push(judged(case, &alone));
        probed.push(judged(case, &both));
    }
    let mut failed_gates: BTreeMap<String, u32> = BTreeMap::new();
    for gate in results.iter().filter_map(|r| r.failed_gate.clone()) {
        *failed_gates.entry(gate).or_default() += 1;
    }
    Comparison {
        cells,
        gain: macro_f1_gain(&probed, &rules, options.settings.draws, options.seed),
        rules: quality(&rules),
        rows: row_record(&probed),
        reliability: reliability(&probed),
        probe: quality(&probed),
        failed_gates,
        cases: results,
    }
}

fn said(case: &Case, probe: Option<&ProbeReport>) -> Suggestion {
    suggest(&SuggestFacts {
        run: case.view(),
        evidence: &case.evidence,
        rewards: &case.rewards,
        reviewed: None,
        decisive: None,
        probe,
    })
}

fn judged(case: &Case, said: &Suggestion) -> Judged {
    Judged {
        id: case.id.clone(),
        group: case.group.clone(),
        truth: case.truth,
        said: said.layer,
        row: said.row.filter(|_| said.layer != Layer::Undetermined),
    }
}

fn result(case: &Case, rules: &Suggestion, probe: &Suggestion, report: &Reported) -> CaseResult {
    let effects = report.iter().flat_map(|r| &r.effects);
    // Thousandths of a nat are below what formatting moves.
    let rounded = |e: f64| (e * 1000.0).round() / 1000.0;
    let failed = report.as_ref().ok().and_then(ProbeReport::failed_gate);
    CaseResult {
        id: case.id.clone(),
        cause: case.cause.clone(),
        truth: case.truth,
        rules: rules.layer,
        probe: probe.layer,
        row: probe.row,
        failed_gate: failed.map(|g| g.name.clone()),
        effects: effects
            .map(|e| (e.variant.word().to_owned(), rounded(e.effect)))
            .collect(),
        not_scored: report.as_ref().err().cloned(),
    }
}
