//! A run between its beginning and its end: what is counted and hashed while its items pass.

use super::super::bodies::Hash;
use super::held::Held;
use super::identity::Known;
use crate::domain::{Call, ForeignLabel, Owner, Reward, Rollout, Step};
use std::collections::HashSet;

/// The run under way.
pub(super) struct OpenRun {
    /// What its beginning said of it.
    pub(super) begun: Box<Rollout>,
    /// Its row, once it was written in part.
    pub(super) seq: Option<i64>,
    /// That row has the name that the file gives it.
    pub(super) named: bool,
    pub(super) held: Held,
    pub(super) steps: u32,
    pub(super) calls: u32,
    pub(super) rewards: u32,
    pub(super) labels: u32,
    pub(super) errors: u32,
    pub(super) has_retry: bool,
    pub(super) has_rewrite: bool,
    pub(super) has_unknown: bool,
    logical: HashSet<String>,
    pub(super) reward: Option<(Option<f64>, &'static str)>,
    pub(super) chain: Hash,
    pub(super) facts: blake3::Hasher,
    pub(super) known: Vec<Known>,
}

impl OpenRun {
    pub(super) fn new(begun: Box<Rollout>, known: Vec<Known>) -> Self {
        Self {
            begun,
            seq: None,
            named: false,
            held: Held::default(),
            steps: 0,
            calls: 0,
            rewards: 0,
            labels: 0,
            errors: 0,
            has_retry: false,
            has_rewrite: false,
            has_unknown: false,
            logical: HashSet::new(),
            reward: None,
            chain: [0; 16],
            facts: blake3::Hasher::new(),
            known,
        }
    }

    /// Takes a step whose text is stored; `chain` is the hash of all steps up to it.
    pub(super) fn step(&mut self, mut step: Box<Step>, body: i64, size: usize, chain: Hash) {
        step.index = self.steps;
        self.steps += 1;
        self.chain = chain;
        self.errors += u32::from(step.is_failed());
        self.has_unknown |= step.owner == Owner::Unknown;
        self.has_rewrite |= !step.replaces.is_empty();
        for known in self.known.iter_mut().filter(|k| k.steps == self.steps) {
            known.is_prefix = known.chain == chain;
        }
        self.held.step(step, body, size);
    }

    pub(super) fn call(&mut self, mut call: Box<Call>, blob: Vec<u8>) {
        call.index = self.calls;
        self.calls += 1;
        self.has_rewrite |= call.context_rewrite;
        if let Some(logical) = &call.logical_request_id {
            self.has_retry |= !self.logical.insert(logical.clone());
        }
        self.facts.update(&blob);
        self.held.call(call, blob);
    }

    pub(super) fn reward(&mut self, reward: Box<Reward>) {
        let json = serde_json::to_vec(&reward).unwrap_or_default();
        self.facts.update(&json);
        // The last reward wins, as in Agent Lightning; one without a result does not hide one with.
        if reward.result.is_some() || self.reward.is_none() {
            self.reward = Some((reward.result, reward.status.word()));
        }
        self.held.reward(self.rewards, reward);
        self.rewards += 1;
    }

    pub(super) fn label(&mut self, label: Box<ForeignLabel>) {
        let json = serde_json::to_vec(&label).unwrap_or_default();
        self.facts.update(&json);
        self.held.label(self.labels, label);
        self.labels += 1;
    }
}
