//! The operations that a decoder is made of. Two sets of hands: candle tensors on any device, and
//! our own kernels on the CPU.
//!
//! An engine knows nothing of model families, prompts or trees; it gets numbers and gives numbers.

pub(super) mod tensors;

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
    /// What stands before: segments in order, each used up to so many positions.
    pub past: Vec<(&'a S, usize)>,
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
    pub entropy: f32,
    pub rank: u32,
}

/// Kernels on one device. `Rows` are activations: one row a token.
pub(super) trait Engine {
    type Rows;
    type Matrix;
    type Norm;
    /// Keys and values of some consecutive positions, all layers.
    type Segment;

    /// Takes weights over; several matrices of one input are stacked.
    fn matrix(&self, weights: Vec<Tensor>, biases: Vec<Tensor>)
    -> Result<Self::Matrix, ScoreError>;
    fn norm_weights(&self, weights: &Tensor) -> Result<Self::Norm, ScoreError>;
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
