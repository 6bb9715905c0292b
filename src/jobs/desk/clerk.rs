//! The clerk: owns a store and answers one question at a time. Tests ask it without threads.

use super::Masks;
use super::pages::Listing;
use super::question::Ask;
use super::reply::Answer;
use super::{decide, lists, pair, preview, read, search};
use crate::clean::Cleaner;
use crate::domain::chat::decision_at;
use crate::domain::{Progress, RunId, StepRef};
use crate::jobs::check::cleaner;
use crate::jobs::{
    Compared, JobError, advise, card_of, compare, ledger, probes_of, raw_source, register,
    run_facts, suggest_run,
};
use crate::store::Store;
use crate::triage::Taxonomy;

/// Owns a store.
pub struct Clerk {
    store: Store,
    /// Masks secrets; nothing where its rules cannot be read, which `triagent check` says.
    masks: Masks,
    names: search::Names,
    /// The list that was answered last, for its counts.
    listed: Option<Listing>,
}

impl Clerk {
    /// Takes a store.
    pub fn new(store: Store) -> Self {
        Self::with(store, Masks::default())
    }

    /// Takes a store, and what masks secrets for others too.
    pub(super) fn with(store: Store, masks: Masks) -> Self {
        Self {
            store,
            masks,
            names: search::Names::default(),
            listed: None,
        }
    }

    /// Makes what masks secrets before anything is to be masked.
    pub(super) fn warm(&self) {
        masks(&self.masks, &self.store);
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Answers.
    pub fn answer(&mut self, ask: Ask) -> Answer {
        self.answer_while(ask, &Progress::default())
    }

    /// Answers, unless somebody stops it.
    pub(super) fn answer_while(&mut self, ask: Ask, progress: &Progress) -> Answer {
        let what = ask.what();
        self.try_answer(ask, progress)
            .unwrap_or_else(|error| Answer::failed(what, &error))
    }

    fn try_answer(&mut self, ask: Ask, progress: &Progress) -> Result<Answer, JobError> {
        let store = &self.store;
        let cleaner = || masks(&self.masks, store);
        let said = match ask {
            Ask::FirstRuns { filter, reviewer } => read::first_runs(store, filter, &reviewer)?,
            Ask::Listing { filter, reviewer } => {
                let listing = read::listing(store, filter, &reviewer)?;
                self.listed = Some(listing.clone());
                Answer::Listing(listing)
            }
            Ask::Rows(seqs) => Answer::Rows(store.rows(&seqs)?),
            Ask::Facets { filter, reviewer } => {
                let listed = self.listed.take();
                read::facets(store, filter, &reviewer, listed.as_ref())?
            }
            Ask::Mine(reviewer) => Answer::Mine(store.labelled_by(&reviewer)?),
            Ask::Run { run, reviewer } => read::run(store, cleaner(), &run, &reviewer)?,
            Ask::Outline(run) => read::outline(store, run)?,
            Ask::Heads { run, range } => read::heads(store, cleaner(), run, range)?,
            Ask::Bodies { run, range } => read::bodies(store, cleaner(), run, range)?,
            Ask::Whole { run, step } => read::whole(store, cleaner(), run, step)?,
            Ask::StepJson { run, step } => read::step_json(store, &run, step)?,
            Ask::Search(words) => search::search(store, cleaner(), words)?,
            Ask::SearchRun { run, words } => search::search_run(store, run, words)?,
            Ask::Jump(pattern) => search::jump(store, &mut self.names, pattern)?,
            Ask::Queues => Answer::Queues(lists::queues(store)?),
            Ask::Changes => Answer::Changes(ledger(store)?),
            Ask::Probes(run) => {
                let probes = probes_of(store, &run)?;
                Answer::Probes { run, probes }
            }
            other => self.try_more(other, progress)?,
        };
        Ok(said)
    }

    /// Questions that other jobs answer, and those that write.
    fn try_more(&mut self, ask: Ask, progress: &Progress) -> Result<Answer, JobError> {
        let store = &self.store;
        let cleaner = || masks(&self.masks, store);
        let said = match ask {
            Ask::Evidence(run) => {
                let evidence = run_facts(store, &run)?.evidence(&register(store)?);
                Answer::Evidence { run, evidence }
            }
            Ask::Suggest(run) => {
                Answer::Suggestion(Box::new(suggest_run(store, &run, &register(store)?)?))
            }
            Ask::Card(run) => {
                let card = Box::new(card_of(store, &run, &Taxonomy::embedded())?);
                Answer::Card { run, card }
            }
            Ask::Decision { at, reviewer } => self.decision(at, &reviewer)?,
            Ask::Pairings(reviewer) => Answer::Pairings(pair::pairings(store, &reviewer)?),
            Ask::Pair {
                a,
                b,
                reviewer,
                again,
            } => Answer::Pair(Box::new(pair::page(
                store,
                cleaner(),
                &a,
                &b,
                &reviewer,
                again,
            )?)),
            Ask::Compare(a, b) => {
                let compared = Box::new(compared(store, cleaner(), &a, &b)?);
                Answer::Compared { a, b, compared }
            }
            Ask::Groups => Answer::Rewards(Box::new(lists::rewards(store, progress)?)),
            Ask::Findings => Answer::Findings(Box::new(lists::findings(store)?)),
            Ask::Agreement => Answer::Agreement(Box::new(lists::agreement(store)?)),
            Ask::Preview {
                format,
                filter,
                reviewer,
                model,
            } => preview::preview(store, &format, (&filter, &reviewer), &model, progress)?,
            Ask::Advice { overrides, now_us } => {
                Answer::Advice(advise(&mut self.store, None, &overrides, now_us, progress)?)
            }
            Ask::Queue { reviewer, now_us } => lists::queue(&mut self.store, &reviewer, now_us)?,
            Ask::Source { run, step } => {
                let bytes = raw_source(store, &run, Some(step))?;
                Answer::Source {
                    what: format!("{run}:{step}"),
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                }
            }
            Ask::SavePair(write) => pair::save(&mut self.store, *write)?,
            other => decide::write(&mut self.store, other)?,
        };
        Ok(said)
    }

    fn decision(&self, at: StepRef, reviewer: &str) -> Result<Answer, JobError> {
        let steps = self.store.steps(&at.run)?;
        Ok(match decision_at(&steps, at.step) {
            Some(message) => Answer::Decision {
                message: Box::new(message),
                draft: self.store.draft(reviewer, &format!("side {at}"))?,
                at,
            },
            None => Answer::failed(
                "reading the decision",
                &"the model did not write this step; } goes to its next decision",
            ),
        })
    }
}

/// Two runs with their secrets masked.
fn compared(
    store: &Store,
    cleaner: Option<&Cleaner>,
    a: &RunId,
    b: &RunId,
) -> Result<Compared, JobError> {
    let mut found = compare(store, a, b)?;
    for step in found.a.iter_mut().chain(&mut found.b) {
        if let Some(masked) = read::mask(cleaner, &step.text) {
            step.text = masked;
        }
    }
    Ok(found)
}

/// What masks secrets, made when it is first wanted.
fn masks<'a>(masks: &'a Masks, store: &Store) -> Option<&'a Cleaner> {
    masks.get_or_init(|| cleaner(store).ok()).as_ref()
}
