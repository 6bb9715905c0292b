//! Every limit of the porch, with its reason. Past one, the item is skipped with a reason and the rest goes on.

/// One line or one element of a document. Pasted images and tool outputs reach tens of megabytes.
pub(crate) const MAX_VALUE_BYTES: usize = 64 << 20;
/// What is left of a document when its long lists are taken out.
pub(crate) const MAX_HEAD_BYTES: usize = 32 << 20;
/// Brackets inside brackets. Real logs stay under 40; deeper ones are made to exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 160;
/// Files of one walk. A folder of more is a mistake or an attack.
pub(crate) const MAX_FILES: usize = 1_000_000;
/// Folders inside folders, so that a loop of links ends.
pub(crate) const MAX_FOLDER_DEPTH: usize = 32;
/// Skips that a report names one by one; the rest is only counted.
pub(crate) const MAX_SKIPS_NAMED: usize = 1_000;
/// Names of not understood fields that a report keeps.
pub(crate) const MAX_NAMES: usize = 500;
/// Files up to this size stay in memory while they are read; larger ones are read in stretches.
pub(crate) const MEMORY_BYTES: u64 = 8 << 20;
/// What a packed file may unpack to.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 16 << 30;
/// How much larger than the packed file it may become. Logs that repeat their prefix reach 200.
pub(crate) const MAX_RATIO: u64 = 600;
/// What it may become at `MAX_RATIO`; a larger one must do with `MAX_LONG_RATIO`, so that a few megabytes cannot fill a disk.
pub(crate) const UNPACKED_FREELY_BYTES: u64 = 256 << 20;
/// How much larger it may become past `UNPACKED_FREELY_BYTES`.
pub(crate) const MAX_LONG_RATIO: u64 = 250;
/// Standard input, which is kept in a temporary file while it is read.
pub(crate) const MAX_STDIN_BYTES: u64 = 16 << 30;
/// One line of standard input, or a document without lines. A file may be longer: it need not be kept twice.
pub(crate) const MAX_STDIN_LINE_BYTES: u64 = 256 << 20;
/// What stands beside an item because no field holds it. Larger values stay in the source.
pub(crate) const MAX_EXTRA_BYTES: usize = 256 << 10;
/// Values of one row. A tree of so many takes about 200 MB; token ids of long rollouts reach some 100,000.
pub(crate) const MAX_NODES: usize = 2_500_000;
/// A file that speaks of other files' runs is read whole.
pub(crate) const MAX_SIDE_BYTES: u64 = 32 << 20;
/// Such files of one walk.
pub(crate) const MAX_SIDE_FILES: usize = 20_000;
/// All such files of one walk together, unpacked: what they say stays in memory for the whole import.
pub(crate) const MAX_SIDE_TOTAL_BYTES: u64 = 256 << 20;
/// Values of one list column in one group of a table's rows: the decoder takes a row's values into memory before anybody
/// can look at them. A million rows of 30 messages stay below.
pub(crate) const MAX_LIST_VALUES: usize = 32 << 20;
