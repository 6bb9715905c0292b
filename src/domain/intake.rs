//! What importers hand over: a stream, so that a run of any size passes through bounded memory.

use super::call::Call;
use super::reward::Reward;
use super::rollout::Rollout;
use super::step::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One item of the stream. Items of one run stand between its `Begin` and its `End`.
#[derive(Debug, Clone)]
pub enum Item {
    /// A run starts. Only id, format and source must be right yet.
    Begin(Box<Rollout>),
    /// Its next step; the receiver numbers steps.
    Step(Box<Step>),
    /// Its next call; the receiver numbers calls.
    Call(Box<Call>),
    /// What a grader said.
    Reward(Box<Reward>),
    /// A label that somebody else put into the file; never one of ours.
    Label(Box<ForeignLabel>),
    /// The run ends; this head replaces the first one.
    End(Box<Rollout>),
    /// Something that could not be read.
    Skip(Skip),
    /// A row type or field that is not understood: counted and shown, never dropped silently.
    NotUnderstood {
        /// Its name.
        what: String,
        /// How often.
        count: u64,
    },
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// File.
    pub file: String,
    /// Line, from 1; 0 = the whole file.
    pub line: u64,
    /// Why, and what to do.
    pub reason: String,
}

/// A label that travels in a file, with its own source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignLabel {
    /// Who says so: `who-and-when`, `agentrx`, `mast`, `langfuse:HUMAN`, …
    pub source: String,
    /// Step, where it names one (index into our steps).
    #[serde(default)]
    pub step: Option<u32>,
    /// Category in the source's own words.
    pub category: String,
    /// Its reason.
    #[serde(default)]
    pub reason: String,
    /// Everything else it says.
    #[serde(default)]
    pub detail: Value,
}

/// Takes the stream: the store's intake, a dry run that only counts, a test's list.
pub trait Sink {
    /// Takes one item. `Break` asks the reader to stop: cancelled, or the receiver failed.
    fn put(&mut self, item: Item) -> std::ops::ControlFlow<()>;
}

impl Sink for Vec<Item> {
    fn put(&mut self, item: Item) -> std::ops::ControlFlow<()> {
        self.push(item);
        std::ops::ControlFlow::Continue(())
    }
}
