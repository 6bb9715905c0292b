//! The words of the house: plain data that every room shares.
//!
//! No I/O, no clock, no randomness, and no import from any other room of ours.

pub mod advice;
pub mod call;
pub mod change;
pub mod chat;
pub mod decision;
pub mod document;
pub mod filter;
pub mod finding;
pub mod id;
pub mod intake;
pub mod pair;
pub mod progress;
pub mod reward;
pub mod rollout;
pub mod score;
pub mod step;
pub mod task;
pub mod verdict;

pub use advice::{Advice, Cohort, Gate, GateState, Refusal, Shares};
pub use call::{Adopted, Call, Usage};
pub use change::{Change, ChangeState, ChangedThing};
pub use chat::{ChatMessage, Role, ToolCall};
pub use decision::{Decision, DecisionRecord};
pub use document::{DocRef, Document, EvidenceStatus};
pub use filter::{Filter, Sort, Term};
pub use finding::{Finding, FindingAction, FindingKind, FindingPlace, FindingState, Redaction};
pub use id::{DecisionId, RunId, StepRef, TaskId};
pub use intake::{ForeignLabel, Item, Sink, Skip};
pub use pair::{Candidate, Choice, Criterion, Pair, Side};
pub use progress::Progress;
pub use reward::{Reward, RewardStatus};
pub use rollout::{Ending, Harness, Outcome, Rollout, SourceSpan};
pub use score::{Binding, Score, ScoreSubject};
pub use step::{Owner, Step, StepKind, StepStatus};
pub use task::{Requirement, Task};
pub use verdict::{Checklist, Layer, Pin, Verdict};
