//! The words that the filter language knows: keys, and the values of keys with a closed list.

use crate::domain::filter::{Feature, Field};
use crate::domain::rollout::Ending;
use crate::domain::{Layer, Outcome, RewardStatus};

/// Keys that are not columns.
pub(super) const OTHER_KEYS: &[(&str, &str)] = &[
    ("text", "words in any step"),
    ("step.tool", "a step used this tool"),
    ("labelled", "who labelled it: me, any, none or a name"),
    ("has", "error, secret, retry, pair, score, note, …"),
    ("sort", "order: sort:steps or sort:-steps"),
];

/// All keys, columns first.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    Field::ALL
        .iter()
        .map(|(_, word)| *word)
        .chain(OTHER_KEYS.iter().map(|(word, _)| *word))
}

/// The closed list of values of a column, where it has one. Every column also takes `none`.
pub(super) fn closed_values(field: Field) -> Option<Vec<&'static str>> {
    match field {
        Field::Outcome => Some(Outcome::ALL.iter().map(|v| v.word()).collect()),
        Field::Ending => Some(Ending::ALL.iter().map(|v| v.word()).collect()),
        Field::Layer => Some(Layer::ALL.iter().map(|v| v.word()).collect()),
        Field::RewardStatus => Some(RewardStatus::ALL.iter().map(|v| v.word()).collect()),
        Field::Run
        | Field::Task
        | Field::Family
        | Field::Scenario
        | Field::Format
        | Field::Source
        | Field::Cause
        | Field::Model
        | Field::Harness
        | Field::Index
        | Field::Prompt
        | Field::Toolset
        | Field::Checkpoint
        | Field::Group
        | Field::Steps
        | Field::Calls
        | Field::Errors
        | Field::RewardResult
        | Field::Imported => None,
    }
}

/// The words of `has:`.
pub(super) fn features() -> impl Iterator<Item = &'static str> {
    Feature::ALL.iter().map(|(_, word)| *word)
}
