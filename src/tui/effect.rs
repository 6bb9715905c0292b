//! Effects: what an update wants done, as values. The runner does them; tests read them.

use super::work::Order;
use crate::jobs::desk::Ask;

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// Ask the desk.
    Ask(Ask),
    /// Nobody waits for this answer any more.
    Forget(Ask),
    /// Start work in the background.
    Start(Order),
    /// Ask work to stop.
    Cancel(u64),
    /// Put text on the clipboard.
    Copy(String),
    /// Take the mouse, or give it back.
    Mouse(bool),
    /// Draw everything anew.
    Clear,
    /// Stop the process until the shell brings it back.
    Suspend,
    /// Open a workspace of sample logs.
    OpenDemo,
    /// Leave.
    Quit,
}
