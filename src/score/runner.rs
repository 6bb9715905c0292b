//! Runs plans on a decoder: what is known is not computed again, the rest goes in bounded chunks.

use super::decoder::Decoder;
use super::engine::{Engine, RowScore};
use super::error::ScoreError;
use super::prompt::Plan;
use super::tree::{Path, Tree};
use crate::domain::Progress;
use std::ops::Range;

/// Tokens of contexts and actions so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Went through the model.
    pub computed: u64,
    /// Were known from before.
    pub reused: u64,
}

/// Something that computes the scores of a plan's tokens from `first` on.
pub(super) trait Run: Send {
    /// Plans of one request: all begin with the same tokens up to `first`.
    fn run(
        &mut self,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Vec<Result<Vec<RowScore>, ScoreError>>;
    /// What was done so far.
    fn work(&self) -> Work;
}

/// A decoder with the prefixes that it has seen.
pub(super) struct Runner<E: Engine> {
    decoder: Decoder<E>,
    tree: Tree<E::Segment>,
    chunk: usize,
    max_tokens: usize,
    work: Work,
}

/// The tokens of an action that go through the decoder: the last one of the prompt, and all of its
/// own but the last, which nothing follows.
fn rows_of(plan: &Plan) -> Range<usize> {
    plan.first.saturating_sub(1)..plan.ids.len() - 1
}

impl<E: Engine> Runner<E> {
    /// Keeps at most `max_tokens` tokens of keys and values.
    pub(super) fn new(decoder: Decoder<E>, chunk: usize, max_tokens: usize) -> Self {
        Self {
            decoder,
            tree: Tree::new(max_tokens),
            chunk,
            max_tokens,
            work: Work::default(),
        }
    }

    fn did(&mut self, tokens: usize) {
        self.work.computed += tokens as u64;
    }

    /// Computes a prefix as far as it is not known, and returns the way to it.
    fn prefix(&mut self, tokens: &[u32], progress: &Progress) -> Result<Path, ScoreError> {
        let mut path = self.tree.find(tokens);
        self.work.reused += path.len as u64;
        while path.len < tokens.len() {
            if progress.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let count = self.chunk.min(tokens.len() - path.len);
            let next = &tokens[path.len..path.len + count];
            self.tree.make_room(count, &path);
            let branch = self.tree.branch(&path, 0..count);
            let (_, fresh) = self.decoder.forward(next, &[branch])?;
            for segment in fresh {
                path = self.tree.grow(&path, next, segment);
            }
            self.did(count);
        }
        Ok(path)
    }

    /// Scores actions that fit one batch together.
    fn batch(
        &mut self,
        prefix: &Path,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Result<Vec<Vec<RowScore>>, ScoreError> {
        if progress.is_cancelled() {
            return Err(ScoreError::Cancelled);
        }
        let mut ids = Vec::new();
        let mut branches = Vec::new();
        let mut wanted = Vec::new();
        for plan in plans {
            let rows = rows_of(plan);
            let at = ids.len();
            branches.push(self.tree.branch(prefix, at..at + rows.len()));
            wanted.extend(rows.clone().map(|i| (at + i - rows.start, plan.ids[i + 1])));
            ids.extend_from_slice(&plan.ids[rows]);
        }
        let (rows, fresh) = self.decoder.forward(&ids, &branches)?;
        let scores = self.decoder.score(&rows, &wanted)?;
        drop(branches);
        self.did(ids.len());
        let mut scores = scores.into_iter();
        let mut out = Vec::new();
        for (plan, segment) in plans.iter().zip(fresh) {
            let tokens = &plan.ids[rows_of(plan)];
            out.push(scores.by_ref().take(tokens.len()).collect());
            // What the run did next is the context of its next decision.
            self.tree.make_room(tokens.len(), prefix);
            self.tree.grow(prefix, tokens, segment);
        }
        Ok(out)
    }

    /// Scores an action that is longer than a batch.
    fn long(
        &mut self,
        prefix: &Path,
        plan: &Plan,
        progress: &Progress,
    ) -> Result<Vec<RowScore>, ScoreError> {
        let all = rows_of(plan);
        let mut path = prefix.clone();
        let mut scores = Vec::new();
        for start in all.clone().step_by(self.chunk) {
            if progress.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let rows = start..all.end.min(start + self.chunk);
            let next = &plan.ids[rows.clone()];
            self.tree.make_room(next.len(), &path);
            let branch = self.tree.branch(&path, 0..next.len());
            let (hidden, fresh) = self.decoder.forward(next, &[branch])?;
            let wanted: Vec<_> = rows.map(|i| (i - start, plan.ids[i + 1])).collect();
            scores.extend(self.decoder.score(&hidden, &wanted)?);
            self.did(next.len());
            for segment in fresh {
                path = self.tree.grow(&path, next, segment);
            }
        }
        Ok(scores)
    }

    /// Gathers actions in batches of at most a chunk; a longer one goes alone.
    fn actions(
        &mut self,
        prefix: &Path,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Vec<Result<Vec<RowScore>, ScoreError>> {
        let mut out = Vec::new();
        let mut waiting = plans;
        while let Some(first) = waiting.first() {
            let mut rows = rows_of(first).len();
            if rows > self.chunk {
                out.push(self.long(prefix, first, progress));
                waiting = &waiting[1..];
                continue;
            }
            let more = waiting[1..].iter().take_while(|plan| {
                rows += rows_of(plan).len();
                rows <= self.chunk
            });
            let count = 1 + more.count();
            match self.batch(prefix, &waiting[..count], progress) {
                Ok(scores) => out.extend(scores.into_iter().map(Ok)),
                Err(error) => out.extend((0..count).map(|_| Err(error.clone()))),
            }
            waiting = &waiting[count..];
        }
        out
    }

    /// Refuses before the work what would not fit in the middle of it.
    fn check(&self, plans: &[&Plan]) -> Result<(), ScoreError> {
        let longest = plans.iter().map(|p| p.ids.len()).max().unwrap_or(0);
        if longest <= self.max_tokens {
            return Ok(());
        }
        let mib = |tokens: usize| (tokens as u64 * self.decoder.shape().kv_bytes_per_token()) >> 20;
        Err(ScoreError::Memory {
            need_mib: mib(longest).max(1),
            limit_mib: mib(self.max_tokens),
            hint: "raise the memory limit, or score with a smaller model".to_owned(),
        })
    }
}

impl<E> Run for Runner<E>
where
    E: Engine + Send,
    Decoder<E>: Send,
    E::Segment: Send,
{
    fn run(
        &mut self,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Vec<Result<Vec<RowScore>, ScoreError>> {
        let Some(first) = plans.first() else {
            return Vec::new();
        };
        let all = |error: ScoreError| plans.iter().map(|_| Err(error.clone())).collect();
        if let Err(error) = self.check(plans) {
            return all(error);
        }
        match self.prefix(&first.ids[..rows_of(first).start], progress) {
            Ok(path) => self.actions(&path, plans, progress),
            Err(error) => all(error),
        }
    }

    fn work(&self) -> Work {
        self.work
    }
}
