//! Log-probs of model-owned tokens. The only room that knows candle; one thread owns the model.
//!
//! It renders a context and an action with the model's own chat template, tokenises both together, and
//! scores the action's tokens in F32. It decides nothing: which action is better is for other rooms.

mod action;
mod decoder;
mod device;
mod drift;
mod embedded;
mod engine;
mod error;
mod folder;
mod gguf;
mod memory;
mod parts;
mod prompt;
mod reader;
mod rope;
mod runner;
mod scorer;
mod server;
mod shape;
mod source;
pub mod template;
mod tokens;
mod tree;
mod weights;

pub use action::{ActionScore, Part, Request, TokenScore};
pub use drift::{MAX_MARGIN_ERROR, SelfCheck, self_check};
pub use error::ScoreError;
pub use reader::{Reader, Reading, weights_hash};
pub use runner::Work;
pub use scorer::Scorer;
pub use source::{ApiKey, DeviceChoice, ModelSource, Options, Precision};
