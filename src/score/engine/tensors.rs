//! The engine on candle tensors: any device, 32 or 16 bits. Sums and log-softmax are F32.

use super::{Branch, Engine, Heads, RowScore, Running, Use};
use crate::score::error::ScoreError;
use crate::score::rope::Rotation;
use crate::score::shape::{Activation, Shape};
use candle_core::{D, DType, Device, Tensor};

/// Rows of queries that see the keys at once; bounds the score tensor.
const QUERY_ROWS: usize = 256;
/// Columns of the head at once.
const VOCAB_BLOCK: usize = 16_384;

/// Candle on one device.
#[derive(Debug)]
pub(in crate::score) struct Tensors {
    pub device: Device,
    pub dtype: DType,
    pub eps: f32,
}

/// Weights `[out, in]` and a bias.
#[derive(Debug)]
pub(in crate::score) struct Matrix {
    weight: Tensor,
    bias: Option<Tensor>,
}

/// Keys and values, `[kv_head, positions, head_dim]` a layer.
#[derive(Debug)]
pub(in crate::score) struct Segment {
    layers: Vec<(Tensor, Tensor)>,
}

/// Cosines and sines of one branch, `[row, pair]` each.
type Turn = (Tensor, Tensor);
/// Of each branch, of each rotation.
type Turns = Vec<Vec<Turn>>;

impl Engine for Tensors {
    type Rows = Tensor;
    type Matrix = Matrix;
    type Norm = Tensor;
    type Segment = Segment;
    type Turns = Turns;

    fn matrix(
        &self,
        weights: Vec<Tensor>,
        biases: Vec<Tensor>,
        _of: Use,
    ) -> Result<Matrix, ScoreError> {
        let place = |parts: &[Tensor]| -> Result<Tensor, ScoreError> {
            let all = if let [one] = parts {
                one.clone()
            } else {
                Tensor::cat(parts, 0)?
            };
            Ok(all.to_dtype(self.dtype)?.to_device(&self.device)?)
        };
        let bias = (!biases.is_empty()).then(|| place(&biases)).transpose()?;
        Ok(Matrix {
            weight: place(&weights)?,
            bias,
        })
    }

    fn norm_weights(&self, weights: &Tensor) -> Result<Tensor, ScoreError> {
        Ok(weights.to_dtype(DType::F32)?.to_device(&self.device)?)
    }

    fn turns(&self, shape: &Shape, branches: &[Branch<'_, Segment>]) -> Result<Turns, ScoreError> {
        let of_branch = |b: &Branch<'_, Segment>| -> Result<Vec<Turn>, ScoreError> {
            shape.rotations.iter().map(|r| self.turn(r, b)).collect()
        };
        branches.iter().map(of_branch).collect()
    }

    fn segment(&self, _len: usize) -> Segment {
        Segment { layers: Vec::new() }
    }

    fn embed(&self, table: &Matrix, ids: &[u32], scale: Option<f32>) -> Result<Tensor, ScoreError> {
        let ids = Tensor::new(ids, &self.device)?;
        // The residual stream stays in F32; only matrix products are in 16 bits.
        let rows = table.weight.index_select(&ids, 0)?.to_dtype(DType::F32)?;
        Ok(match scale {
            Some(scale) => (rows * f64::from(scale))?,
            None => rows,
        })
    }

    fn norm(&self, rows: &Tensor, weights: &Tensor) -> Result<Tensor, ScoreError> {
        Ok(candle_nn::ops::rms_norm(
            &rows.contiguous()?,
            weights,
            self.eps,
        )?)
    }

    fn linear(&self, rows: &Tensor, matrix: &Matrix) -> Result<Tensor, ScoreError> {
        let out = rows.to_dtype(self.dtype)?.matmul(&matrix.weight.t()?)?;
        let out = match &matrix.bias {
            Some(bias) => out.broadcast_add(bias)?,
            None => out,
        };
        Ok(out.to_dtype(DType::F32)?)
    }

    fn add(&self, rows: Tensor, more: &Tensor) -> Result<Tensor, ScoreError> {
        Ok((rows + more)?)
    }

    fn gate(&self, rows: Tensor, activation: Activation) -> Result<Tensor, ScoreError> {
        let half = rows.dim(1)? / 2;
        let (gate, value) = (rows.narrow(1, 0, half)?, rows.narrow(1, half, half)?);
        let gate = match activation {
            Activation::Silu => gate.silu()?,
            Activation::GeluTanh => gate.gelu()?,
        };
        Ok((gate * value)?)
    }

    fn attend(
        &self,
        qkv: Tensor,
        heads: &Heads<'_, Self>,
        turns: &Turns,
        branches: &[Branch<'_, Segment>],
        fresh: &mut [Segment],
    ) -> Result<Tensor, ScoreError> {
        let mut out = Vec::with_capacity(branches.len());
        for ((branch, segment), turns) in branches.iter().zip(fresh).zip(turns) {
            let rows = qkv.narrow(0, branch.rows.start, branch.rows.len())?;
            out.push(self.attend_branch(&rows, heads, turns, branch, segment)?);
        }
        Ok(Tensor::cat(&out, 0)?)
    }

    fn head(
        &self,
        rows: &Tensor,
        wanted: &[(usize, u32)],
        head: &Matrix,
    ) -> Result<Vec<RowScore>, ScoreError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let which = wanted
            .iter()
            .map(|(row, _)| u32::try_from(*row).unwrap_or(u32::MAX))
            .collect::<Vec<_>>();
        let rows = rows.index_select(&Tensor::new(which, &self.device)?, 0)?;
        let targets: Vec<u32> = wanted.iter().map(|(_, id)| *id).collect();
        self.head_in_blocks(&rows.to_dtype(self.dtype)?, &targets, head)
    }
}

impl Tensors {
    fn attend_branch(
        &self,
        qkv: &Tensor,
        heads: &Heads<'_, Self>,
        turns: &[Turn],
        branch: &Branch<'_, Segment>,
        fresh: &mut Segment,
    ) -> Result<Tensor, ScoreError> {
        let s = heads.shape;
        let n = branch.rows.len();
        let split = |from: usize, count: usize| -> Result<Tensor, ScoreError> {
            let part = qkv.narrow(1, from * s.head_dim, count * s.head_dim)?;
            Ok(part
                .reshape((n, count, s.head_dim))?
                .transpose(0, 1)?
                .contiguous()?)
        };
        let (mut q, mut k) = (split(0, s.heads)?, split(s.heads, s.kv_heads)?);
        let v = split(s.heads + s.kv_heads, s.kv_heads)?;
        if let (Some(qn), Some(kn)) = (heads.q_norm, heads.k_norm) {
            (q, k) = (self.norm(&q, qn)?, self.norm(&k, kn)?);
        }
        if let Some(rotation) = heads.rotation {
            let turn = &turns[rotation];
            (q, k) = (rotate(&q, turn)?, rotate(&k, turn)?);
        }
        let (k, v) = (k.to_dtype(self.dtype)?, v.to_dtype(self.dtype)?);
        fresh.layers.push((k.clone(), v.clone()));
        let (keys, values) = whole(branch, heads.view.layer, k, v)?;
        let seen = self.see(&q, &keys, &values, heads, branch.start)?;
        Ok(seen.transpose(0, 1)?.reshape((n, s.heads * s.head_dim))?)
    }

    fn turn(&self, rotation: &Rotation, branch: &Branch<'_, Segment>) -> Result<Turn, ScoreError> {
        let (n, half) = (branch.rows.len(), rotation.frequencies.len());
        let angles = (branch.start..branch.start + n).flat_map(|p| rotation.at(p));
        let (cos, sin): (Vec<f32>, Vec<f32>) = angles.unzip();
        Ok((
            Tensor::from_vec(cos, (n, half), &self.device)?,
            Tensor::from_vec(sin, (n, half), &self.device)?,
        ))
    }

    /// Softmax attention in blocks of query rows.
    fn see(
        &self,
        q: &Tensor,
        keys: &Tensor,
        values: &Tensor,
        heads: &Heads<'_, Self>,
        start: usize,
    ) -> Result<Tensor, ScoreError> {
        let s = heads.shape;
        let (_, n, d) = q.dims3()?;
        let total = keys.dim(1)?;
        let keys = keys.transpose(1, 2)?.contiguous()?;
        let mut out = Vec::new();
        for from in (0..n).step_by(QUERY_ROWS) {
            let count = QUERY_ROWS.min(n - from);
            let block = q.narrow(1, from, count)?.contiguous()?;
            // Query heads of one key/value head become rows of one product; nothing is repeated.
            let block = block
                .reshape((s.kv_heads, s.group() * count, d))?
                .to_dtype(self.dtype)?;
            let scores = block.matmul(&keys)?.to_dtype(DType::F32)?;
            let scores = (scores * f64::from(s.attention_scale))?;
            let mask = self.mask(start + from, count, total, heads.view.window)?;
            let scores = scores
                .reshape((s.kv_heads * s.group(), count, total))?
                .broadcast_add(&mask)?;
            let weights = candle_nn::ops::softmax_last_dim(&scores)?.to_dtype(self.dtype)?;
            let weights = weights.reshape((s.kv_heads, s.group() * count, total))?;
            out.push(weights.matmul(values)?.reshape((s.heads, count, d))?);
        }
        Ok(Tensor::cat(&out, 1)?.to_dtype(DType::F32)?)
    }

    fn mask(
        &self,
        start: usize,
        rows: usize,
        total: usize,
        window: Option<usize>,
    ) -> Result<Tensor, ScoreError> {
        let window = window.unwrap_or(usize::MAX);
        let cell = |row: usize, key: usize| {
            let position = start + row;
            let visible = key <= position && position - key < window;
            if visible { 0.0 } else { f32::NEG_INFINITY }
        };
        let cells: Vec<f32> = (0..rows)
            .flat_map(|r| (0..total).map(move |k| cell(r, k)))
            .collect();
        Ok(Tensor::from_vec(cells, (1, rows, total), &self.device)?)
    }

    /// Running log-sum-exp over blocks of the vocabulary.
    fn head_in_blocks(
        &self,
        rows: &Tensor,
        targets: &[u32],
        head: &Matrix,
    ) -> Result<Vec<RowScore>, ScoreError> {
        let vocab = head.weight.dim(0)?;
        let target_logits = self.target_logits(rows, targets, head)?;
        let mut sums: Vec<Running> = target_logits.iter().map(|t| Running::new(*t)).collect();
        for from in (0..vocab).step_by(VOCAB_BLOCK) {
            let count = VOCAB_BLOCK.min(vocab - from);
            let block = rows
                .matmul(&head.weight.narrow(0, from, count)?.t()?)?
                .to_dtype(DType::F32)?;
            let top = block.max_keepdim(D::Minus1)?;
            let exp = block.broadcast_sub(&top)?.exp()?;
            let sum = exp.sum(D::Minus1)?.to_vec1::<f32>()?;
            let weighted = (exp * &block)?.sum(D::Minus1)?.to_vec1::<f32>()?;
            let bar = Tensor::from_slice(&target_logits, (targets.len(), 1), &self.device)?;
            let above = block
                .broadcast_gt(&bar)?
                .to_dtype(DType::F32)?
                .sum(D::Minus1)?
                .to_vec1::<f32>()?;
            let top = top.squeeze(1)?.to_vec1::<f32>()?;
            let own = self.own_logits(&block, targets, from, count)?;
            for (i, running) in sums.iter_mut().enumerate() {
                running.add(top[i], sum[i], weighted[i], above[i]);
                running.see_own(own[i]);
            }
        }
        Ok(sums.into_iter().map(Running::finish).collect())
    }

    /// Logits of the targets that lie in this block.
    fn own_logits(
        &self,
        block: &Tensor,
        targets: &[u32],
        from: usize,
        count: usize,
    ) -> Result<Vec<Option<f32>>, ScoreError> {
        let inside = |id: &u32| (*id as usize).checked_sub(from).filter(|at| *at < count);
        let at: Vec<Option<usize>> = targets.iter().map(inside).collect();
        let index = at
            .iter()
            .map(|at| u32::try_from(at.unwrap_or(0)).unwrap_or(0));
        let index = Tensor::from_vec(index.collect::<Vec<_>>(), (targets.len(), 1), &self.device)?;
        let logits = block.gather(&index, 1)?.squeeze(1)?.to_vec1::<f32>()?;
        Ok(at
            .iter()
            .zip(logits)
            .map(|(at, logit)| at.map(|_| logit))
            .collect())
    }

    fn target_logits(
        &self,
        rows: &Tensor,
        targets: &[u32],
        head: &Matrix,
    ) -> Result<Vec<f32>, ScoreError> {
        let ids = Tensor::new(targets, &self.device)?;
        let weights = head.weight.index_select(&ids, 0)?.to_dtype(DType::F32)?;
        Ok((rows.to_dtype(DType::F32)? * weights)?
            .sum(D::Minus1)?
            .to_vec1()?)
    }
}

fn rotate(rows: &Tensor, (cos, sin): &Turn) -> Result<Tensor, ScoreError> {
    let (width, half) = (rows.dim(2)?, cos.dim(1)?);
    let turning = rows.narrow(2, 0, 2 * half)?.contiguous()?.unsqueeze(0)?;
    let turned = candle_nn::rotary_emb::rope(&turning, cos, sin)?.squeeze(0)?;
    if 2 * half == width {
        return Ok(turned);
    }
    let rest = rows.narrow(2, 2 * half, width - 2 * half)?;
    Ok(Tensor::cat(&[turned, rest], 2)?)
}

/// All keys and values of a branch, the new ones last.
fn whole(
    branch: &Branch<'_, Segment>,
    layer: usize,
    k: Tensor,
    v: Tensor,
) -> Result<(Tensor, Tensor), ScoreError> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (segment, used) in &branch.past {
        let (k, v) = &segment.layers[layer];
        keys.push(k.narrow(1, used.start, used.len())?);
        values.push(v.narrow(1, used.start, used.len())?);
    }
    keys.push(k);
    values.push(v);
    Ok((Tensor::cat(&keys, 1)?, Tensor::cat(&values, 1)?))
}
