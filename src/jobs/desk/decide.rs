//! Questions that write: decisions, undo, drafts.

use super::lists::QUEUE;
use super::question::Ask;
use super::reply::Answer;
use crate::domain::{Decision, DecisionRecord, Verdict};
use crate::jobs::{JobError, adjudication};
use crate::store::{Act, Store};

/// Writes what a question asks to write.
pub(super) fn write(store: &mut Store, ask: Ask) -> Result<Answer, JobError> {
    match ask {
        Ask::Decide {
            reviewer,
            now_us,
            codebook,
            decisions,
        } => {
            let act = Act {
                reviewer: &reviewer,
                now_us,
                codebook: &codebook,
            };
            let records = match decisions.as_slice() {
                [one] => vec![store.decide(act, one)?],
                many => store.decide_batch(act, many)?,
            };
            Ok(Answer::Decided(records))
        }
        Ask::Adjudicate {
            run,
            layer,
            note,
            reviewer,
            now_us,
            codebook,
        } => {
            let decision = adjudication(store, &run, layer, &note)?;
            let act = Act {
                reviewer: &reviewer,
                now_us,
                codebook: &codebook,
            };
            Ok(Answer::Decided(vec![store.decide(act, &decision)?]))
        }
        Ask::Undo { reviewer, now_us } => {
            let records = store.undo(act(&reviewer, now_us))?;
            let stands = stands(store, &records, &reviewer)?.map(Box::new);
            Ok(Answer::Undone { records, stands })
        }
        Ask::Redo { reviewer, now_us } => Ok(Answer::Redone(store.redo(act(&reviewer, now_us))?)),
        Ask::KeepDraft {
            reviewer,
            subject,
            text,
            now_us,
        } => {
            store.put_draft(&reviewer, &subject, &text, now_us)?;
            Ok(Answer::Kept)
        }
        Ask::SaveQueue {
            name,
            filter,
            now_us,
        } => {
            store.put_result(QUEUE, &name, "filter", now_us, &filter)?;
            Ok(Answer::Queues(super::lists::queues(store)?))
        }
        other => Ok(Answer::failed(other.what(), &"it does not write")),
    }
}

/// The label that an undo of one label leaves in force.
fn stands(
    store: &Store,
    undone: &[DecisionRecord],
    reviewer: &str,
) -> Result<Option<Verdict>, JobError> {
    let [one] = undone else { return Ok(None) };
    let Decision::Verdict(verdict) = &one.decision else {
        return Ok(None);
    };
    let live = store.live_on("verdict", verdict.run.as_str())?;
    let own = live.into_iter().rev().find(|r| r.reviewer == reviewer);
    Ok(own.and_then(|record| match record.decision {
        Decision::Verdict(verdict) => Some(verdict),
        _ => None,
    }))
}

fn act(reviewer: &str, now_us: i64) -> Act<'_> {
    Act {
        reviewer,
        now_us,
        codebook: "",
    }
}
