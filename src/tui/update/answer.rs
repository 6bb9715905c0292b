//! Answers of the desk: each finds the state it belongs to, or is dropped when nobody wants it any more.

use super::{decide, find, go, marks, note, overlay, pair, say, sheet};
use crate::domain::{Decision, RunId, Verdict};
use crate::jobs::desk::{Answer, Ask, Listing, RunPage};
use crate::triage::Card;
use crate::tui::app::overlay::Overlay;
use crate::tui::app::run::RunView;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Fill, SheetKind};
use crate::tui::app::{App, Screen};
use crate::tui::doc::Doc;
use crate::tui::sheets;

/// Takes an answer.
pub(super) fn take(app: &mut App, answer: Answer) {
    match answer {
        Answer::Listing(listing) => take_listing(app, listing),
        Answer::BadFilter { filter, error } if filter == app.board.filter => {
            app.board.waiting = false;
            say(app, Tone::Error, error.to_string());
        }
        Answer::BadFilter { .. } | Answer::Kept | Answer::Dropped => {}
        Answer::Rows(rows) => {
            app.board.take_rows(rows);
            open_waiting(app);
        }
        Answer::Facets { filter, facets } => {
            if filter == app.board.filter {
                app.board.facets = facets;
            }
        }
        Answer::Queue(queue) => go::take_queue(app, queue),
        Answer::Source { what, text } => overlay::open_page(
            app,
            &format!("{what} as it stands in the log"),
            Doc::plain(&text),
        ),
        Answer::Mine(seqs) => {
            app.mine = seqs.into_iter().collect();
            app.recount();
        }
        Answer::Decided(records) => decide::decided(app, &records),
        Answer::Undone { records, stands } => decide::undone(app, &records, stands.as_deref()),
        Answer::Redone(records) => decide::redone(app, &records),
        Answer::Jump { pattern, rows } => {
            if let Some(Overlay::Jump(picker, shown)) = app.overlay.as_mut()
                && picker.typed() == pattern
            {
                *shown = rows;
            }
        }
        Answer::StepJson(json) => super::copy::copy(app, json, "the step as JSON"),
        Answer::Failed { what, error } => failed(app, what, &error),
        Answer::Pair(page) => pair::take(app, page),
        Answer::PairRefused(problems) => pair::refused(app, &problems),
        Answer::Decision { at, message, draft } => {
            note::open_side(app, at, &message, draft.filter(|d| !d.is_empty()));
        }
        Answer::Card { card, .. } => take_card(app, &card),
        other => take_of_sheet(app, other),
    }
}

/// Nothing comes any more that a key could wait for.
fn failed(app: &mut App, what: &str, error: &str) {
    // A screen whose page does not come would be waited for, and keys with it.
    let opens = |wanted: &Ask| wanted.what() == what;
    match app.screens.last_mut() {
        Some(Screen::Pair(view)) if view.page.is_none() => {
            app.screens.pop();
        }
        Some(Screen::Compare(view)) if view.compared.is_none() => {
            app.screens.pop();
        }
        // Only its own answer: another's failure says nothing about this one.
        Some(Screen::Sheet(sheet)) if sheet.asked.as_ref().is_some_and(opens) => {
            sheet.asked = None;
            if matches!(sheet.fill, Fill::Waiting) {
                app.screens.pop();
            }
        }
        _ => {}
    }
    app.queue_wanted = false;
    app.board.open_when_read = None;
    app.board.waiting = false;
    app.board.loaded = true;
    app.board.is_partial = false;
    say(
        app,
        Tone::Error,
        format!("{what}: {}", error.replace('\n', "  ")),
    );
}

fn take_card(app: &mut App, card: &Card) {
    if std::mem::take(&mut app.copy_card) {
        super::copy::copy(app, card.markdown(), "the card");
    } else {
        overlay::show_card(app, card);
    }
}

/// Answers that fill a sheet; another may be on screen by now.
fn take_of_sheet(app: &mut App, answer: Answer) {
    match answer {
        Answer::Pairings(rows) => sheet::take(app, &SheetKind::Pairs, sheets::pairs(&rows)),
        Answer::Advice(said) => sheet::take(app, &SheetKind::Advice, sheets::advice(&said)),
        Answer::Rewards(page) => sheet::take(app, &SheetKind::Rewards, sheets::rewards(&page)),
        Answer::Agreement(page) => {
            sheet::take(app, &SheetKind::Agreement, sheets::agreement(&page));
        }
        Answer::Findings(found) => {
            sheet::take(app, &SheetKind::Findings, sheets::findings(&found));
        }
        Answer::Probes { run, probes } => {
            sheet::take(app, &SheetKind::Probe(run), sheets::probes(&probes));
        }
        Answer::Changes(records) => {
            sheet::take(app, &SheetKind::Changes, sheets::changes(&records));
        }
        Answer::Queues(kept) => sheet::take(app, &SheetKind::Queues, sheets::queues(&kept)),
        Answer::Found {
            words,
            steps,
            more,
            behind,
        } => {
            let filling = sheets::found(&words, &steps, more, behind);
            sheet::take(app, &SheetKind::Search(words), filling);
        }
        Answer::Preview(preview) => sheet::previewed(app, &preview),
        Answer::Compared { a, b, compared } => {
            if let Some(view) = app.compare_mut().filter(|v| v.a == a && *v.b() == b) {
                view.take(compared);
            }
        }
        of_run => take_of_run(app, of_run),
    }
}

/// Answers about one run; another run may be on screen by now.
fn take_of_run(app: &mut App, answer: Answer) {
    match answer {
        Answer::Run(page) => {
            let reviewer = app.set.reviewer.clone();
            if let Some(view) = same_run(app, &page.row.id) {
                let was_saved = view.saved.is_some();
                take_page(view, page, &reviewer);
                // Undone: the label is gone, and what it rested on is kept again.
                if was_saved && view.saved.is_none() {
                    marks::keep(app);
                }
            }
        }
        Answer::Outline(outline) => {
            if let Some(view) = same_run(app, &outline.run) {
                view.outline = Some(outline);
            }
        }
        Answer::Heads { run, heads, .. } => {
            if let Some(view) = same_run(app, &run) {
                view.take_heads(heads);
            }
        }
        Answer::Bodies(bodies) => {
            if let Some(view) = same_run(app, &bodies.run) {
                view.take_bodies(bodies);
            }
        }
        Answer::Whole {
            run,
            step,
            text,
            masked,
        } => {
            if let Some(body) = same_run(app, &run).and_then(|view| view.body_mut(step)) {
                body.take_whole(text, masked);
            }
        }
        Answer::Evidence { run, evidence } => {
            if let Some(view) = same_run(app, &run) {
                view.evidence = Some(evidence);
            }
        }
        Answer::Suggestion(suggestion) => {
            if let Some(view) = same_run(app, &suggestion.run) {
                view.suggestion = Some(suggestion);
            }
        }
        Answer::FoundInRun { run, words, hits } => {
            find::take_hits(app, &run, &words, hits);
        }
        _ => {}
    }
}

fn same_run<'a>(app: &'a mut App, run: &RunId) -> Option<&'a mut RunView> {
    app.run_mut().filter(|view| view.run == *run)
}

fn take_listing(app: &mut App, listing: Listing) {
    if listing.filter != app.board.filter {
        return;
    }
    if listing.is_whole {
        app.board.take_list(listing.seqs, listing.total);
        app.count_board();
    } else {
        app.board.take_beginning(listing.seqs, listing.total);
        app.list_all();
    }
    app.recount();
}

/// A run was to be opened before its row had been read.
fn open_waiting(app: &mut App) {
    let Some(seq) = app.board.open_when_read else {
        return;
    };
    if let Some(run) = app.board.row(seq).map(|row| row.id.clone()) {
        app.board.open_when_read = None;
        go::open_run(app, run, seq, 0);
    }
}

/// The run's page is here; what the reviewer decided or half-wrote before is taken up.
fn take_page(view: &mut RunView, page: Box<RunPage>, reviewer: &str) {
    view.steps = page.steps.max(1);
    view.seq = page.row.seq;
    match own_verdict(&page, reviewer) {
        Some(verdict) => {
            view.saved = Some(verdict.layer);
            let drawn = view.verdict.from_random_queue;
            view.verdict = verdict;
            // Once drawn, always drawn: a second look does not unmake it.
            view.verdict.from_random_queue |= drawn;
        }
        // Undone: what was prepared stays, only the label is gone.
        None => {
            view.saved = None;
            if let Some(kept) = &page.marks {
                marks::restore(view, kept);
            }
        }
    }
    if let Some(draft) = &page.draft
        && view.verdict.note.is_empty()
    {
        view.verdict.note.clone_from(draft);
    }
    view.page = Some(page);
}

fn own_verdict(page: &RunPage, reviewer: &str) -> Option<Verdict> {
    let mine = page
        .verdicts
        .iter()
        .rev()
        .find(|r| r.reviewer == reviewer)?;
    match &mine.decision {
        Decision::Verdict(verdict) => Some(verdict.clone()),
        _ => None,
    }
}
