//! The operations that a decoder is made of. Two sets of hands: candle tensors on any device, and
//! our own kernels on the CPU.
//!
//! An engine knows nothing of model families, prompts or trees; it gets numbers and gives numbers.

mod bytes;
mod lanes;
pub(super) mod panels;
mod simd;
pub(super) mod tensors;
mod vnni;

use super::error::ScoreError;
use super::shape::{Activation, Shape};
use candle_core::Tensor;
use std::ops::Range;

/// Some rows of a batch that follow one another in one conversation.
#[derive(Debug)]
pub(super) struct Branch<'a, S> {
    /// Which rows of the batch.
    pub rows: Range<usize>,
    /// Position of the first row in its conversation.
    pub start: usize,
    /// What stands before: segments in order, and which of their positions.
    pub past: Vec<(&'a S, Range<usize>)>,
}

/// Where attention looks, for one layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub layer: usize,
    /// Only so many last positions are seen, itself included.
    pub window: Option<usize>,
}

/// What the head says about one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RowScore {
    pub logp: f32,
    /// A server does not tell these two.
    pub entropy: Option<f32>,
    pub rank: Option<u32>,
}

/// What a matrix is for. The fast mode rounds each as finely as its place needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Only looked up.
    Embedding,
    /// Looked up, and the head as well.
    Tied,
    Head,
    Attention,
    Inner,
}

/// Kernels on one device. `Rows` are activations: one row a token.
pub(super) trait Engine {
    type Rows;
    type Matrix;
    type Norm;
    /// Keys and values of some consecutive positions, all layers.
    type Segment;
    /// Cosines and sines of a batch, computed once for all layers.
    type Turns;

    /// Takes weights over; several matrices of one input are stacked.
    fn matrix(
        &self,
        weights: Vec<Tensor>,
        biases: Vec<Tensor>,
        of: Use,
    ) -> Result<Self::Matrix, ScoreError>;
    fn norm_weights(&self, weights: &Tensor) -> Result<Self::Norm, ScoreError>;
    fn turns(
        &self,
        shape: &Shape,
        branches: &[Branch<'_, Self::Segment>],
    ) -> Result<Self::Turns, ScoreError>;
    /// A segment without layers yet.
    fn segment(&self, len: usize) -> Self::Segment;

    fn embed(
        &self,
        table: &Self::Matrix,
        ids: &[u32],
        scale: Option<f32>,
    ) -> Result<Self::Rows, ScoreError>;
    fn norm(&self, rows: &Self::Rows, weights: &Self::Norm) -> Result<Self::Rows, ScoreError>;
    fn linear(&self, rows: &Self::Rows, matrix: &Self::Matrix) -> Result<Self::Rows, ScoreError>;
    fn add(&self, rows: Self::Rows, more: &Self::Rows) -> Result<Self::Rows, ScoreError>;
    /// Gate and value stand side by side in each row.
    fn gate(&self, rows: Self::Rows, activation: Activation) -> Result<Self::Rows, ScoreError>;
    /// Norms and rotates queries and keys, adds the new keys and values to `fresh` (one segment a
    /// branch), and lets every row see what stands before it.
    fn attend(
        &self,
        qkv: Self::Rows,
        heads: &Heads<'_, Self>,
        turns: &Self::Turns,
        branches: &[Branch<'_, Self::Segment>],
        fresh: &mut [Self::Segment],
    ) -> Result<Self::Rows, ScoreError>;
    /// Log-prob of each target, with entropy and rank; never holds rows × vocabulary.
    fn head(
        &self,
        rows: &Self::Rows,
        wanted: &[(usize, u32)],
        head: &Self::Matrix,
    ) -> Result<Vec<RowScore>, ScoreError>;
}

/// What attention needs to know of a layer.
#[derive(Debug)]
pub(super) struct Heads<'a, E: Engine + ?Sized> {
    pub shape: &'a Shape,
    pub view: View,
    pub rotation: Option<usize>,
    pub q_norm: Option<&'a E::Norm>,
    pub k_norm: Option<&'a E::Norm>,
}

/// Log-sum-exp, expected logit and rank while blocks of the vocabulary pass by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    /// Ranks are counted against this.
    target: f32,
    own: f32,
    top: f32,
    sum: f64,
    weighted: f64,
    above: f32,
}

impl Running {
    pub(super) fn new(target: f32) -> Self {
        Self {
            target,
            own: target,
            top: f32::NEG_INFINITY,
            sum: 0.0,
            weighted: 0.0,
            above: 0.0,
        }
    }

    /// The big product rounds a logit a little differently from the small one that ranks are counted
    /// against; a token must not rank below itself.
    pub(super) fn see_own(&mut self, own: Option<f32>) {
        if let Some(own) = own {
            self.own = own;
            self.above -= if own > self.target { 1.0 } else { 0.0 };
        }
    }

    pub(super) fn add(&mut self, top: f32, sum: f32, weighted: f32, above: f32) {
        let new_top = self.top.max(top);
        let keep = f64::from(self.top - new_top).exp();
        let take = f64::from(top - new_top).exp();
        self.sum = self.sum * keep + f64::from(sum) * take;
        self.weighted = self.weighted * keep + f64::from(weighted) * take;
        self.top = new_top;
        self.above += above;
    }

    pub(super) fn finish(self) -> RowScore {
        let log_sum = f64::from(self.top) + self.sum.ln();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of vocabulary entries"
        )]
        RowScore {
            logp: (f64::from(self.own) - log_sum) as f32,
            entropy: Some((log_sum - self.weighted / self.sum) as f32),
            rank: Some(self.above as u32),
        }
    }
}
