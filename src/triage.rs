//! Labels, pairs, queues, agreement, evidence status, differences: facts in, conclusions out. No clock, no disk.

mod day;
mod evidence;
mod filter;
mod plain;
mod taxonomy;

pub use evidence::{
    Evidence, EvidenceFacts, Place, Register, SeenVersion, SpanFound, evidence_status,
};
pub use filter::{
    Completion, FilterChoice, FilterError, complete_filter, parse_filter, print_filter,
};
pub use plain::Plain;
pub use taxonomy::{Cause, Check, LayerEntry, Question, Taxonomy, TaxonomyError};
