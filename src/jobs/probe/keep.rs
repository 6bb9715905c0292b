//! What a probe leaves in the workspace: its plan before the first score, every cell as it comes, its report.

use super::fill::Memory;
use super::subject::Subject;
use super::trim::Answer;
use super::{Probe, ProbeOptions};
use crate::domain::{Binding, ChatMessage, RunId, ScoreSubject, StepRef};
use crate::jobs::JobError;
use crate::store::Store;
use crate::triage::{ProbePlan, ProbeSettings};
use serde::{Deserialize, Serialize};

const PLAN: &str = "probe-plan";
const CELL: &str = "probe-cell";
const REPORT: &str = "probe";

/// A plan as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Planned {
    at: StepRef,
    pub(super) hash: String,
    recorded: ChatMessage,
    corrected: Vec<ChatMessage>,
    corrected_by: String,
    settings: ProbeSettings,
    pub(super) plan: ProbePlan,
}

impl Planned {
    pub(super) fn new(subject: &Subject, plan: ProbePlan, options: &ProbeOptions) -> Self {
        let mut out = Self {
            at: subject.at.clone(),
            hash: String::new(),
            recorded: subject.recorded.clone(),
            corrected: subject.corrected.clone(),
            corrected_by: subject.corrected_by.clone(),
            settings: options.settings.clone(),
            plan,
        };
        out.hash = short_hash(&out);
        out
    }

    /// Keeps the plan unless it is there already. Returns when it was kept first, and how many plans there are.
    pub(super) fn register(&self, store: &mut Store, now_us: i64) -> Result<(i64, u32), JobError> {
        let subject = self.at.to_string();
        let kept = |store: &Store| -> Result<Vec<(String, i64)>, JobError> {
            let all = store.results::<Self>(PLAN, Some(&subject))?;
            Ok(all.into_iter().map(|(_, key, at, _)| (key, at)).collect())
        };
        if !kept(store)?.iter().any(|(key, _)| *key == self.hash) {
            store.put_result(PLAN, &subject, &self.hash, now_us, self)?;
        }
        let all = kept(store)?;
        let first = all.iter().find(|(key, _)| *key == self.hash);
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        Ok((first.map_or(now_us, |(_, at)| *at), count))
    }
}

/// Answers of one plan under one model.
pub(super) struct Shelf<'a> {
    store: &'a mut Store,
    subject: String,
    prefix: String,
    now_us: i64,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(
        store: &'a mut Store,
        planned: &Planned,
        binding: &Binding,
        now_us: i64,
    ) -> Self {
        Self {
            store,
            subject: planned.at.to_string(),
            prefix: format!("{} {}", binding_key(binding), planned.hash),
            now_us,
        }
    }

    fn key(&self, context: &str) -> String {
        format!("{} {context}", self.prefix)
    }
}

impl Memory for Shelf<'_> {
    fn recall(&self, context: &str) -> Result<Option<Answer>, JobError> {
        Ok(self.store.result(CELL, &self.subject, &self.key(context))?)
    }

    fn keep(&mut self, context: &str, answer: &Answer) -> Result<(), JobError> {
        let key = self.key(context);
        Ok(self
            .store
            .put_result(CELL, &self.subject, &key, self.now_us, answer)?)
    }
}

/// Keeps a report; the same plan under the same model replaces its own older one and no other.
pub(super) fn keep(store: &mut Store, probe: &Probe, now_us: i64) -> Result<(), JobError> {
    let key = format!(
        "{:08} {} {}",
        probe.step,
        binding_key(&probe.binding),
        probe.plan
    );
    Ok(store.put_result(REPORT, probe.run.as_str(), &key, now_us, probe)?)
}

/// All probes of a run, newest first.
pub fn probes_of(store: &Store, run: &RunId) -> Result<Vec<Probe>, JobError> {
    let mut all: Vec<Probe> = store
        .results(REPORT, Some(run.as_str()))?
        .into_iter()
        .map(|(_, _, _, probe)| probe)
        .collect();
    all.sort_by(|a, b| b.at_us.cmp(&a.at_us).then_with(|| a.plan.cmp(&b.plan)));
    Ok(all)
}

/// What tells one model's numbers from another's; names and paths do not.
pub(in crate::jobs) fn binding_key(binding: &Binding) -> String {
    short_hash(&(
        &binding.weights,
        &binding.tokenizer,
        &binding.template,
        &binding.dtype,
        binding.numerics,
    ))
}

/// Log-probs that the log holds beside ours of the same actions, for the drift gate.
pub(super) fn logged_and_scored(
    store: &Store,
    run: &RunId,
    binding: &Binding,
) -> Result<Vec<(f64, f64)>, JobError> {
    let calls = store.calls(run)?;
    if calls.iter().all(|c| c.logprobs.is_none()) {
        return Ok(Vec::new());
    }
    let steps = store.steps(run)?;
    let mut out = Vec::new();
    for score in store.scores_of_run(run)? {
        let ScoreSubject::Step(at) = &score.subject else {
            continue;
        };
        let call = steps
            .iter()
            .find(|s| s.index == at.step)
            .and_then(|s| s.call);
        let logged = calls
            .iter()
            .find(|c| Some(c.index) == call)
            .and_then(|c| c.logprobs.as_ref());
        if let Some(logged) = logged.filter(|_| binding_key(&score.binding) == binding_key(binding))
        {
            out.push((logged.iter().sum(), score.logp_sum));
        }
    }
    Ok(out)
}

fn short_hash<T: Serialize>(value: &T) -> String {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    blake3::hash(&bytes).to_hex().chars().take(16).collect()
}
