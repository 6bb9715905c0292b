//! Pairs for the screen: which there are, one with both sides, and writing a decision down.

use super::pages::{MaskedPair, PairPage, PairRow, PairSide, PairWrite};
use super::read::mask;
use super::reply::Answer;
use crate::clean::Cleaner;
use crate::domain::chat::{context_before, decision_at};
use crate::domain::{
    Candidate, ChatMessage, Choice, Decision, DecisionRecord, Filter, Outcome, Pair, RunId, StepRef,
};
use crate::jobs::{JobError, PairWords, SideName, build_pair};
use crate::store::{Act, Store, StoreError};
use crate::triage::{
    PairProblem, QueuePlan, RunView, Standard, is_blocked, is_reshown, left_side, suggest_pairings,
};
use std::collections::BTreeMap;

/// Pairs that are suggested at the most.
const MAX_SUGGESTED: usize = 300;
/// Runs of one task that are laid against each other.
const MAX_RUNS: usize = 8;

/// Decided pairs of the reviewer, then pairings worth deciding.
pub(super) fn pairings(store: &Store, reviewer: &str) -> Result<Vec<PairRow>, JobError> {
    let decided: Vec<(DecisionRecord, Pair)> = store
        .pairs()?
        .into_iter()
        .filter(|(record, _)| record.reviewer == reviewer)
        .collect();
    let known = |a: &StepRef, b: &StepRef| {
        decided.iter().any(|(_, p)| {
            let pair = (p.a.at(), p.b.at());
            pair == (a, b) || pair == (b, a)
        })
    };
    let mut rows: Vec<PairRow> = suggested(store)?
        .into_iter()
        .filter(|row| match (&row.a, &row.b) {
            (SideName::At(a), SideName::At(b)) => !known(a, b),
            _ => true,
        })
        .collect();
    for (record, pair) in &decided {
        if is_due_again(store, record, reviewer)? {
            rows.push(PairRow {
                choice: None,
                again: true,
                ..decided_row(store, pair)?
            });
        }
    }
    for (_, pair) in &decided {
        rows.push(decided_row(store, pair)?);
    }
    Ok(rows)
}

/// A share of the decided pairs is shown once more, with its sides swapped: who prefers a side prefers it again.
fn is_due_again(store: &Store, record: &DecisionRecord, reviewer: &str) -> Result<bool, JobError> {
    let subject = record.decision.subject();
    if !is_reshown(&QueuePlan::default(), reviewer, &subject) {
        return Ok(false);
    }
    let shown = store.history(&subject)?;
    Ok(shown.iter().filter(|(r, _)| r.reviewer == reviewer).count() == 1)
}

fn decided_row(store: &Store, pair: &Pair) -> Result<PairRow, JobError> {
    let task = store.run_row(&pair.a.at().run)?.task;
    Ok(PairRow {
        a: name_of(&pair.a),
        b: name_of(&pair.b),
        task: task.unwrap_or_default(),
        why: pair.reason.clone(),
        choice: Some(pair.choice),
        again: false,
    })
}

/// The name under which a candidate is found again.
fn name_of(candidate: &Candidate) -> SideName {
    match candidate {
        Candidate::Recorded { at } => SideName::At(at.clone()),
        Candidate::Human { message, .. } => SideName::Written(Box::new(message.clone())),
    }
}

/// Pairings of passed and failed runs of one task.
fn suggested(store: &Store) -> Result<Vec<PairRow>, JobError> {
    let mut tasks: BTreeMap<String, Vec<(RunId, Outcome)>> = BTreeMap::new();
    store.each_run(&Filter::default(), |row| {
        if let Some(task) = row.task {
            tasks.entry(task).or_default().push((row.id, row.outcome));
        }
        Ok::<(), StoreError>(())
    })?;
    let mut rows = Vec::new();
    for (task, runs) in tasks {
        let has = |wanted: Outcome| runs.iter().any(|(_, outcome)| *outcome == wanted);
        if has(Outcome::Pass) && has(Outcome::Fail) {
            rows.extend(of_task(store, &task, &runs)?);
        }
        if rows.len() >= MAX_SUGGESTED {
            rows.truncate(MAX_SUGGESTED);
            break;
        }
    }
    Ok(rows)
}

fn of_task(store: &Store, task: &str, runs: &[(RunId, Outcome)]) -> Result<Vec<PairRow>, JobError> {
    let mut read = Vec::new();
    for (run, outcome) in runs.iter().take(MAX_RUNS) {
        let mut rollout = store.rollout(run)?;
        // A reviewer's word goes before the file's.
        rollout.outcome = *outcome;
        read.push((rollout, store.steps(run)?));
    }
    let views: Vec<RunView> = read
        .iter()
        .map(|(rollout, steps)| RunView {
            rollout,
            steps,
            calls: &[],
        })
        .collect();
    Ok(suggest_pairings(&views)
        .into_iter()
        .map(|found| PairRow {
            a: SideName::At(found.pair.a),
            b: SideName::At(found.pair.b),
            task: task.to_owned(),
            why: found.why,
            choice: None,
            again: false,
        })
        .collect())
}

/// Two candidates with everything that the screen shows.
pub(super) fn page(
    store: &Store,
    cleaner: Option<&Cleaner>,
    a: &SideName,
    b: &SideName,
    reviewer: &str,
    again: bool,
) -> Result<PairPage, JobError> {
    // Not comparable is the one choice that asks for nothing, so the candidates come back whatever they are.
    let probe = words(Choice::NotComparable, reviewer);
    let (pair, _) = build_pair(store, a, b, probe)?;
    let (checked, problems) = match build_pair(store, a, b, words(Choice::Tie, reviewer)) {
        Ok(ok) => ok,
        Err(_) => (pair, vec![PairProblem::DifferentRequests]),
    };
    let is_comparable = !problems.contains(&PairProblem::DifferentRequests);
    let subject = format!("{}|{}", checked.a.at(), checked.b.at());
    let history = store.history(&subject)?;
    let mine = history
        .iter()
        .filter(|(record, _)| record.reviewer == reviewer);
    let decided = mine
        .clone()
        .filter(|(_, live)| *live)
        .map(|(r, _)| r.clone())
        .next_back();
    let seed = QueuePlan::default().seed;
    // One that was taken back does not count: its sides stay where they were.
    let before = u32::try_from(mine.filter(|(_, live)| *live).count()).unwrap_or(u32::MAX);
    // A decided pair is shown as it was decided; one that comes back is shown swapped, and blind once more.
    let decided: Option<DecisionRecord> = decided.filter(|_| !again);
    let left = match decided.as_ref().map(|record| &record.decision) {
        Some(Decision::Pair(pair)) => pair.left,
        _ => None,
    };
    let at = checked.a.at().clone();
    let task = match store.rollout(&at.run)?.task {
        Some(id) => store.task(&id)?,
        None => None,
    };
    let context = context_before(&store.steps(&at.run)?, at.step);
    let sides = [side(store, checked.a)?, side(store, checked.b)?];
    Ok(PairPage {
        masked: masked(cleaner, &context, &sides),
        context,
        is_comparable,
        standard: task.as_ref().and_then(Standard::of),
        task,
        left: left.unwrap_or_else(|| left_side(seed, reviewer, &subject, before)),
        seed,
        decided,
        sides,
    })
}

/// The texts with secrets masked, where they hold some.
fn masked(
    cleaner: Option<&Cleaner>,
    context: &[ChatMessage],
    sides: &[PairSide; 2],
) -> Option<Box<MaskedPair>> {
    let mut found = false;
    let mut of = |message: &ChatMessage| {
        let mut copy = message.clone();
        let texts = copy.content.iter_mut();
        let calls = copy.tool_calls.iter_mut().map(|call| &mut call.arguments);
        for text in texts.chain(calls) {
            if let Some(masked) = mask(cleaner, text) {
                *text = masked;
                found = true;
            }
        }
        copy
    };
    let masked = MaskedPair {
        context: context.iter().map(&mut of).collect(),
        sides: [of(&sides[0].message), of(&sides[1].message)],
    };
    found.then(|| Box::new(masked))
}

fn words(choice: Choice, reviewer: &str) -> PairWords {
    PairWords {
        choice,
        criteria: Vec::new(),
        reason: "?".to_owned(),
        evidence: None,
        standard: None,
        author: reviewer.to_owned(),
        shown: None,
    }
}

fn side(store: &Store, candidate: Candidate) -> Result<PairSide, JobError> {
    let at = candidate.at().clone();
    let message = match &candidate {
        Candidate::Human { message, .. } => Some(message.clone()),
        Candidate::Recorded { .. } => decision_at(&store.steps(&at.run)?, at.step),
    };
    let empty = || ChatMessage::text(crate::domain::Role::Assistant, "");
    let scores = match candidate {
        Candidate::Recorded { .. } => store.scores_of_run(&at.run)?,
        Candidate::Human { .. } => Vec::new(),
    };
    let of_step = crate::domain::ScoreSubject::Step(at.clone());
    Ok(PairSide {
        name: name_of(&candidate),
        message: message.unwrap_or_else(empty),
        row: store.run_row(&at.run)?,
        scores: scores
            .into_iter()
            .filter(|s| s.subject == of_step)
            .collect(),
        candidate,
    })
}

/// Writes a pair down, unless something forbids it.
pub(super) fn save(store: &mut Store, write: PairWrite) -> Result<Answer, JobError> {
    let said = PairWords {
        choice: write.choice,
        criteria: write.criteria,
        reason: write.reason,
        evidence: write.evidence,
        standard: None,
        author: write.reviewer.clone(),
        shown: Some(write.shown),
    };
    let (mut pair, problems) = build_pair(store, &write.a, &write.b, said)?;
    if is_blocked(&problems) {
        return Ok(Answer::PairRefused(problems));
    }
    pair.active_ms = Some(write.active_ms);
    let act = Act {
        reviewer: &write.reviewer,
        now_us: write.now_us,
        codebook: &write.codebook,
    };
    let record = store.decide(act, &Decision::Pair(Box::new(pair)))?;
    Ok(Answer::Decided(vec![record]))
}
