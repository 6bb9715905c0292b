//! Scores the decisions of runs and the sides of pairs with one model, and keeps the scores.
//!
//! Work that was done before with the same binding is not done again. What cannot be scored is told with its reason;
//! the rest goes on.

use super::JobError;
use super::check::findings_of;
use crate::domain::chat::{context_before, decision_at, decisions};
use crate::domain::{
    Candidate, ChatMessage, DecisionId, Filter, FindingAction, Pair, Progress, Rollout, RunId,
    Score, ScoreSubject, Side, Step, StepRef,
};
use crate::score::{Request, ScoreError, Scorer};
use crate::store::{Store, StoreError};
use std::collections::HashSet;

/// What to score.
#[derive(Debug, Clone, Default)]
pub struct ScoreOptions {
    /// Runs that pass, and pairs whose candidates belong to them.
    pub filter: Filter,
    /// Leave the decisions of runs out.
    pub pairs_only: bool,
    /// Leave pairs out.
    pub runs_only: bool,
    /// Score again what has a score of this very model.
    pub again: bool,
}

/// What came of one action.
#[derive(Debug, Clone, PartialEq)]
pub enum Scored {
    /// A score; `fresh` = made now.
    Score {
        /// The score.
        score: Box<Score>,
        /// Made now, not read from the workspace.
        fresh: bool,
        /// What the template left out or changed.
        warnings: Vec<String>,
        /// Words of its run leave an export as placeholders: this is the score of the words as logged, before redaction.
        before_redaction: bool,
    },
    /// It could not be scored.
    Failed {
        /// What.
        subject: ScoreSubject,
        /// Why.
        error: ScoreError,
    },
}

/// Sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScoreTotals {
    /// Made now.
    pub scored: u64,
    /// Found in the workspace.
    pub known: u64,
    /// Could not be scored.
    pub failed: u64,
}

/// Scores runs and pairs of the workspace; `each` hears of every action, in order.
pub fn score(
    store: &mut Store,
    scorer: &mut Scorer,
    options: &ScoreOptions,
    now_us: i64,
    progress: &Progress,
    each: &mut dyn FnMut(&Scored),
) -> Result<ScoreTotals, JobError> {
    let runs = runs_that_pass(store, &options.filter)?;
    let pairs = pairs_among(store, &runs)?;
    let (of_runs, of_pairs) = (!options.pairs_only, !options.runs_only);
    let total = if of_runs { runs.len() } else { 0 } + if of_pairs { pairs.len() } else { 0 };
    progress.set_total(total as u64);
    let mut desk = Desk {
        store,
        scorer,
        now_us,
        again: options.again,
        progress,
        totals: ScoreTotals::default(),
        before_redaction: false,
        each,
    };
    for run in runs.iter().filter(|_| of_runs) {
        desk.run(run)?;
    }
    for (id, pair) in pairs.iter().filter(|_| of_pairs) {
        desk.pair(id, pair)?;
    }
    Ok(desk.totals)
}

fn runs_that_pass(store: &Store, filter: &Filter) -> Result<Vec<RunId>, JobError> {
    let mut runs = Vec::new();
    store.each_run(filter, |row| {
        runs.push(row.id);
        Ok::<(), StoreError>(())
    })?;
    Ok(runs)
}

fn pairs_among(store: &Store, runs: &[RunId]) -> Result<Vec<(DecisionId, Pair)>, JobError> {
    let passing: HashSet<&RunId> = runs.iter().collect();
    let pairs = store
        .pairs()?
        .into_iter()
        .map(|(record, pair)| (record.id, pair));
    Ok(pairs
        .filter(|(_, p)| passing.contains(&p.a.at().run))
        .collect())
}

struct Desk<'a> {
    store: &'a mut Store,
    scorer: &'a mut Scorer,
    now_us: i64,
    again: bool,
    progress: &'a Progress,
    totals: ScoreTotals,
    /// The run at hand has words that shall leave as placeholders.
    before_redaction: bool,
    each: &'a mut dyn FnMut(&Scored),
}

impl Desk<'_> {
    fn run(&mut self, run: &RunId) -> Result<(), JobError> {
        let (head, steps) = (self.store.rollout(run)?, self.store.steps(run)?);
        let known = self.store.scores_of_run(run)?;
        self.before_redaction = is_redacted(self.store, run)?;
        for step in decisions(&steps) {
            let at = StepRef {
                run: run.clone(),
                step,
            };
            let Some(action) = decision_at(&steps, step) else {
                continue;
            };
            let subject = ScoreSubject::Step(at);
            self.actions(&head, &steps, step, vec![(subject, action)], &known)?;
        }
        self.progress.add(1);
        Ok(())
    }

    /// Both sides go into one request: they share the context's work, and TRL's prompt length depends on both.
    fn pair(&mut self, id: &DecisionId, pair: &Pair) -> Result<(), JobError> {
        let at = pair.a.at();
        let (head, steps) = (self.store.rollout(&at.run)?, self.store.steps(&at.run)?);
        let known = self.store.scores_of_pair(id)?;
        self.before_redaction =
            is_redacted(self.store, &at.run)? || is_redacted(self.store, &pair.b.at().run)?;
        let mut actions = Vec::new();
        for (side, candidate) in [(Side::A, &pair.a), (Side::B, &pair.b)] {
            let subject = ScoreSubject::PairSide {
                pair: id.clone(),
                side,
            };
            match self.message(candidate)? {
                Some(message) => actions.push((subject, message)),
                None => self.fail(
                    subject,
                    ScoreError::Action("it is no decision of the model".to_owned()),
                ),
            }
        }
        self.actions(&head, &steps, at.step, actions, &known)?;
        self.progress.add(1);
        Ok(())
    }

    fn message(&self, candidate: &Candidate) -> Result<Option<ChatMessage>, JobError> {
        match candidate {
            Candidate::Human { message, .. } => Ok(Some(message.clone())),
            Candidate::Recorded { at } => {
                let steps = self.store.steps(&at.run)?;
                Ok(decision_at(&steps, at.step))
            }
        }
    }

    fn actions(
        &mut self,
        head: &Rollout,
        steps: &[Step],
        before: u32,
        actions: Vec<(ScoreSubject, ChatMessage)>,
        known: &[Score],
    ) -> Result<(), JobError> {
        if self.progress.is_cancelled() {
            return Err(JobError::Cancelled);
        }
        let binding = self.scorer.binding().clone();
        let find = |subject: &ScoreSubject| {
            known
                .iter()
                .find(|s| s.subject == *subject && s.binding == binding)
        };
        if !self.again && actions.iter().all(|(subject, _)| find(subject).is_some()) {
            for score in actions.iter().filter_map(|(subject, _)| find(subject)) {
                self.totals.known += 1;
                self.tell(score.clone(), false, Vec::new());
            }
            return Ok(());
        }
        let context = context_before(steps, before);
        let (subjects, messages): (Vec<_>, Vec<_>) = actions.into_iter().unzip();
        let request = Request {
            context: &context,
            tools: &head.tools,
            actions: &messages,
            now_us: head.started_us,
        };
        let results = self.scorer.score(&request, self.progress);
        self.keep(&head.id, subjects, results)
    }

    fn keep(
        &mut self,
        run: &RunId,
        subjects: Vec<ScoreSubject>,
        results: Vec<Result<crate::score::ActionScore, ScoreError>>,
    ) -> Result<(), JobError> {
        let (mut fresh, mut gone) = (Vec::new(), None);
        for (subject, result) in subjects.into_iter().zip(results) {
            match result {
                Ok(found) => {
                    let warnings = found.warnings.clone();
                    let binding = self.scorer.binding().clone();
                    let score = found.into_score(subject, binding, self.scorer.device());
                    fresh.push((score, warnings));
                }
                Err(ScoreError::Cancelled) => return Err(JobError::Cancelled),
                Err(error @ ScoreError::ServerGone { .. }) => gone = Some(error),
                Err(error) => self.fail(subject, error),
            }
        }
        let scores: Vec<Score> = fresh.iter().map(|(score, _)| score.clone()).collect();
        self.store.put_scores(run, &scores, self.now_us)?;
        for (score, warnings) in fresh {
            self.totals.scored += 1;
            self.tell(score, true, warnings);
        }
        gone.map_or(Ok(()), |error| {
            let (done, total) = self.progress.seen();
            Err(JobError::ServerGone {
                error,
                left: total.saturating_sub(done),
                total,
            })
        })
    }

    fn tell(&mut self, score: Score, fresh: bool, warnings: Vec<String>) {
        (self.each)(&Scored::Score {
            score: Box::new(score),
            fresh,
            warnings,
            before_redaction: self.before_redaction,
        });
    }

    fn fail(&mut self, subject: ScoreSubject, error: ScoreError) {
        self.totals.failed += 1;
        (self.each)(&Scored::Failed { subject, error });
    }
}

/// Somebody decided that words of this run leave as placeholders.
fn is_redacted(store: &Store, run: &RunId) -> Result<bool, JobError> {
    let findings = findings_of(store, run)?;
    Ok(findings
        .iter()
        .any(|f| f.action == Some(FindingAction::Redact)))
}
