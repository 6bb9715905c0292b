//! Labels, pairs, queues, agreement, evidence status, differences: facts in, conclusions out. No clock, no disk.

mod filter;
mod taxonomy;

pub use filter::{
    Completion, FilterChoice, FilterError, complete_filter, nearest_word, parse_filter,
    print_filter,
};
pub use taxonomy::{Cause, Check, LayerEntry, Question, Taxonomy, TaxonomyError};
