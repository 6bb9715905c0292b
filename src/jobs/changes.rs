//! The ledger with what became of each change. A decision binds the entry that was looked at, not its name.

mod sides;

pub use sides::{ChangeSide, ChangeSides};

use super::JobError;
use super::cohort::cohorts;
use crate::domain::{Change, ChangeState, Decision, DecisionRecord, Filter};
use crate::store::Store;
use std::collections::BTreeMap;

/// More decisions on changes than any team makes.
const MOST: u32 = 100_000;

/// A change, who recorded it, and what was decided on it since, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// The entry's own row of the log.
    pub record: DecisionRecord,
    /// The change.
    pub change: Change,
    /// What was decided on this very entry.
    pub settled: Vec<DecisionRecord>,
    /// Runs before and after, where runs carry what was changed.
    pub sides: Option<ChangeSides>,
}

impl LedgerEntry {
    /// What holds now: the newest decision, whoever made it.
    pub fn state(&self) -> Option<ChangeState> {
        self.settled
            .iter()
            .rev()
            .find_map(|record| match record.decision {
                Decision::ChangeState { state, .. } => Some(state),
                _ => None,
            })
    }
}

/// Returns the ledger, oldest first.
pub fn ledger(store: &Store) -> Result<Vec<LedgerEntry>, JobError> {
    let mut settled: BTreeMap<String, Vec<DecisionRecord>> = BTreeMap::new();
    for record in store.live("change_state", None, MOST)? {
        if let Decision::ChangeState { entry, .. } = &record.decision {
            settled.entry(entry.0.clone()).or_default().push(record);
        }
    }
    let records = store.own("change")?;
    let all = if records.is_empty() {
        Vec::new()
    } else {
        cohorts(store, &Filter::default())?
    };
    Ok(records
        .into_iter()
        .filter_map(|record| match record.decision.clone() {
            Decision::Change(change) => Some(LedgerEntry {
                settled: settled.remove(record.id.as_str()).unwrap_or_default(),
                sides: sides::sides(&change, &all),
                change: *change,
                record,
            }),
            _ => None,
        })
        .collect())
}
