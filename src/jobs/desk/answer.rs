//! From a question to the function that answers it.

use super::question::{Answer, Ask};
use super::{decide, read};
use crate::store::{Store, StoreError};

/// Answers one question. Also what tests call, without threads.
pub fn answer(store: &mut Store, ask: Ask) -> Answer {
    let what = ask.what();
    try_answer(store, ask).unwrap_or_else(|error| Answer::failed(what, &error))
}

fn try_answer(store: &mut Store, ask: Ask) -> Result<Answer, StoreError> {
    match ask {
        Ask::Listing { filter, reviewer } => read::listing(store, filter, &reviewer),
        Ask::Rows(seqs) => Ok(Answer::Rows(store.rows(&seqs)?)),
        Ask::Facets { filter, reviewer } => read::facets(store, filter, &reviewer),
        Ask::Mine(reviewer) => Ok(Answer::Mine(store.labelled_by(&reviewer)?)),
        Ask::Run { run, reviewer } => read::run(store, &run, &reviewer),
        Ask::Outline(run) => read::outline(store, run),
        Ask::Heads { run, range } => read::heads(store, run, range),
        Ask::Bodies { run, range } => read::bodies(store, run, range),
        Ask::Whole { run, step } => read::whole(store, run, step),
        Ask::StepJson { run, step } => read::step_json(store, &run, step),
        Ask::Search(words) => read::search(store, words),
        Ask::SearchRun { run, words } => read::search_run(store, run, words),
        Ask::Jump(pattern) => read::jump(store, pattern),
        Ask::Decide { .. } | Ask::Undo { .. } | Ask::Redo { .. } | Ask::KeepDraft { .. } => {
            decide::write(store, ask)
        }
    }
}
