//! The search index catches up with the texts, in pieces, so that it can be stopped at any time and goes on later.

use super::JobError;
use crate::domain::Progress;
use crate::store::Store;

/// Indexes what is left; stopping early loses nothing.
pub fn index(store: &mut Store, progress: &Progress) -> Result<(), JobError> {
    let state = store.index_state()?;
    progress.set_total(state.total.saturating_sub(state.done));
    while !progress.is_cancelled() {
        let done = store.index_some()?;
        if done == 0 {
            return Ok(());
        }
        progress.add(done);
    }
    Err(JobError::Cancelled)
}
