//! The rows of a run before they are written. Most runs are short: they are written once, when their end is known and in their
//! final form, and a run that turns out to be known already is not written at all. A long one is written in parts.

use super::super::StoreError;
use super::rows;
use crate::domain::{Call, ForeignLabel, Reward, Step};
use rusqlite::Connection;

/// Steps that wait at the most.
const MAX_STEPS: usize = 512;
/// Bytes of calls that wait at the most; the texts of steps are written at once.
const MAX_CALL_BYTES: usize = 1 << 20;

/// A step whose text is stored.
struct HeldStep {
    step: Box<Step>,
    body: i64,
    size: usize,
}

/// Rows that wait, each with its place in the run.
#[derive(Default)]
pub(super) struct Held {
    steps: Vec<HeldStep>,
    calls: Vec<(Box<Call>, Vec<u8>)>,
    rewards: Vec<(u32, Box<Reward>)>,
    labels: Vec<(u32, Box<ForeignLabel>)>,
    call_bytes: usize,
}

impl Held {
    pub(super) fn step(&mut self, step: Box<Step>, body: i64, size: usize) {
        self.steps.push(HeldStep { step, body, size });
    }

    pub(super) fn call(&mut self, call: Box<Call>, blob: Vec<u8>) {
        self.call_bytes += blob.len();
        self.calls.push((call, blob));
    }

    pub(super) fn reward(&mut self, at: u32, reward: Box<Reward>) {
        self.rewards.push((at, reward));
    }

    pub(super) fn label(&mut self, at: u32, label: Box<ForeignLabel>) {
        self.labels.push((at, label));
    }

    pub(super) fn is_full(&self) -> bool {
        let others = self.calls.len() + self.rewards.len() + self.labels.len();
        self.steps.len().max(others) >= MAX_STEPS || self.call_bytes >= MAX_CALL_BYTES
    }

    /// Writes what waits as rows of the run `seq`.
    pub(super) fn write(&mut self, db: &Connection, seq: i64) -> Result<(), StoreError> {
        let mut insert = db.prepare_cached(rows::STEP)?;
        for held in self.steps.drain(..) {
            rows::insert_step(&mut insert, seq, &held.step, held.body, held.size)?;
        }
        for (call, blob) in self.calls.drain(..) {
            rows::insert_call(db, seq, &call, &blob)?;
        }
        for (at, reward) in self.rewards.drain(..) {
            rows::insert_reward(db, seq, at, &reward)?;
        }
        for (at, label) in self.labels.drain(..) {
            rows::insert_label(db, seq, at, &label)?;
        }
        self.call_bytes = 0;
        Ok(())
    }
}
