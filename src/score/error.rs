//! What can go wrong while scoring, in words that say what to do about it.

use std::path::PathBuf;

/// Why something could not be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreError {
    /// A file of the model is not there or cannot be read.
    #[error("{}: {why}; hint: {hint}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        why: String,
        /// What to do.
        hint: String,
    },
    /// A file of the model says something impossible.
    #[error("{}: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The model is of a kind that we do not run.
    #[error("{what} is not supported; hint: {hint}")]
    Unsupported {
        /// Architecture, quantisation or setting, by name.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The chat template cannot render these messages.
    #[error("chat template cannot render this conversation: {0}")]
    Template(String),
    /// The action's text does not stand in the rendered conversation.
    #[error("{0}")]
    Action(String),
    /// The conversation does not fit the embedded model.
    #[error("{tokens} tokens do not fit the model's {limit}; hint: {hint}")]
    TooLong {
        /// Tokens of context and action.
        tokens: usize,
        /// What fits.
        limit: usize,
        /// What to do.
        hint: String,
    },
    /// Scoring would need more memory than the setting allows.
    #[error("scoring needs {need_mib} MiB, {limit_mib} MiB are allowed; hint: {hint}")]
    Memory {
        /// Needed.
        need_mib: u64,
        /// Allowed.
        limit_mib: u64,
        /// What to do.
        hint: String,
    },
    /// The model computed something that is not a number.
    #[error(
        "the model's output is not finite at token {at}; its weights or its precision are broken"
    )]
    NotFinite {
        /// Position in the conversation.
        at: usize,
    },
    /// The device cannot be used.
    #[error("{device}: {why}; hint: use --device cpu")]
    Device {
        /// Which device.
        device: String,
        /// What happened.
        why: String,
    },
    /// The scoring server did not answer as asked.
    #[error("scoring server {url}: {why}")]
    Server {
        /// Its address.
        url: String,
        /// What happened.
        why: String,
    },
    /// The scoring server cannot be reached, or keeps us waiting: what follows would fare no better.
    #[error("scoring server {url}: {why}")]
    ServerGone {
        /// Its address.
        url: String,
        /// What happened.
        why: String,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// Candle refused an operation; a shape that we did not check.
    #[error("the model could not be computed: {0}")]
    Compute(String),
}

impl From<candle_core::Error> for ScoreError {
    fn from(error: candle_core::Error) -> Self {
        // Candle prints a back trace after the message when one was captured.
        let text = error.to_string();
        Self::Compute(text.lines().next().unwrap_or_default().to_owned())
    }
}
