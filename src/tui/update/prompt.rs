//! A line to type: editing, completion, what is done with it.

use super::{find, say, work};
use crate::jobs::desk::Ask;
use crate::reward::{RuleGrader, built_in_graders};
use crate::triage::{complete_filter, parse_filter};
use crate::tui::app::App;
use crate::tui::app::board::Board;
use crate::tui::app::overlay::{Offer, Overlay, Prompt, PromptKind};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::SheetKind;
use crate::tui::key::Key;
use crate::tui::work::ExportHow;
use ratatui::crossterm::event::{Event as Raw, KeyCode};
use tui_input::backend::crossterm::EventHandler;

/// Offers shown at the most.
const MAX_OFFERS: usize = 8;

/// A key while a line is typed.
pub(super) fn press(app: &mut App, mut prompt: Prompt, key: Key) {
    match key.code {
        KeyCode::Esc => given_up(app, &prompt),
        KeyCode::Enter => finish(app, prompt),
        KeyCode::Tab => {
            if let Some(offer) = prompt.offers.get(prompt.offer) {
                prompt.input = tui_input::Input::new(offer.line.clone());
            }
            reopen(app, prompt);
        }
        KeyCode::Down => {
            let last = prompt.offers.len().saturating_sub(1);
            prompt.offer = (prompt.offer + 1).min(last);
            app.overlay = Some(Overlay::Prompt(prompt));
        }
        KeyCode::Up => {
            prompt.offer = prompt.offer.saturating_sub(1);
            app.overlay = Some(Overlay::Prompt(prompt));
        }
        _ => {
            prompt.input.handle_event(&Raw::Key(key.to_event()));
            prompt.error = None;
            reopen(app, prompt);
        }
    }
}

/// A line is left untaken: half a decision about a pair says that it is not one.
fn given_up(app: &mut App, prompt: &Prompt) {
    match prompt.kind {
        PromptKind::Reason(_) => {
            super::pair::given_up(app, Some(prompt.input.value()));
        }
        PromptKind::PairEvidence => super::pair::given_up(app, None),
        _ => {}
    }
}

/// Pasted text; line ends become spaces.
pub(super) fn paste(app: &mut App, mut prompt: Prompt, text: &str) {
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        prompt.input.handle(tui_input::InputRequest::InsertChar(c));
    }
    reopen(app, prompt);
}

fn reopen(app: &mut App, prompt: Prompt) {
    app.overlay = Some(Overlay::Prompt(prompt));
    complete(app);
}

/// Works out what could complete the word under the cursor.
pub(super) fn complete(app: &mut App) {
    let reviewer = app.set.reviewer.clone();
    let Some(Overlay::Prompt(prompt)) = app.overlay.as_mut() else {
        return;
    };
    match prompt.kind {
        PromptKind::Filter => {}
        PromptKind::Audit => {
            prompt.offers = graders(prompt.input.value());
            prompt.offer = 0;
            return;
        }
        _ => return,
    }
    prompt.offers = offers(prompt, &app.board);
    prompt.offer = 0;
    let line = prompt.input.value();
    // While a word is being typed its error helps nobody; a finished one is told at once.
    let finished = line.is_empty() || line.ends_with(' ');
    prompt.error = parse_filter(line, Some(&reviewer))
        .err()
        .filter(|_| finished)
        .map(|e| e.to_string());
}

/// The line is the beginning of a grader's name that stands below it.
fn is_begun(prompt: &Prompt) -> bool {
    let line = prompt.input.value().trim();
    !prompt.offers.is_empty() && prompt.offers.iter().all(|offer| offer.line != line)
}

/// Graders of our own, while the first word is typed.
fn graders(line: &str) -> Vec<Offer> {
    let known = built_in_graders().into_iter();
    let fitting = known.filter(|grader| grader.name.starts_with(line.trim_start()));
    let offer = |grader: RuleGrader| Offer {
        line: grader.name.clone(),
        shown: grader.name,
        about: grader.about,
    };
    fitting.map(offer).take(MAX_OFFERS).collect()
}

fn offers(prompt: &Prompt, board: &Board) -> Vec<Offer> {
    let line = prompt.input.value();
    let known = |field| board.values(field);
    let completion = complete_filter(line, prompt.input.cursor(), &known);
    let chars: Vec<char> = line.chars().collect();
    let before: String = chars.iter().take(completion.start).collect();
    let after: String = chars.iter().skip(completion.end).collect();
    completion
        .choices
        .into_iter()
        .take(MAX_OFFERS)
        .map(|choice| Offer {
            line: format!("{before}{}{after}", choice.insert),
            shown: choice.insert,
            about: choice.note,
        })
        .collect()
}

fn finish(app: &mut App, mut prompt: Prompt) {
    let line = prompt.input.value().trim().to_owned();
    match prompt.kind {
        PromptKind::Filter => match parse_filter(&line, Some(&app.set.reviewer)) {
            Ok(_) => find::set_filter(app, &line),
            Err(error) => {
                prompt.error = Some(error.to_string());
                app.overlay = Some(Overlay::Prompt(prompt));
            }
        },
        PromptKind::SearchRun => find::search_run(app, &line),
        PromptKind::SearchAll if line.is_empty() => {}
        PromptKind::SearchAll => super::sheet::open(app, SheetKind::Search(line)),
        PromptKind::Import if line.is_empty() => {}
        PromptKind::Import => {
            if let Err(why) = work::import(app, &line) {
                prompt.error = Some(why);
                app.overlay = Some(Overlay::Prompt(prompt));
            }
        }
        PromptKind::Reason(_) => super::pair::reason_done(app, line, prompt),
        PromptKind::PairEvidence => {
            super::pair::save(app, Some(line).filter(|l| !l.is_empty()));
        }
        PromptKind::QueueName => keep_queue(app, line),
        PromptKind::Settle(ref dispute, layer) => {
            super::settle::done(app, dispute.clone(), layer, line);
        }
        // What is under the cursor is meant as long as no name is complete.
        PromptKind::Audit if is_begun(&prompt) => {
            if let Some(offer) = prompt.offers.get(prompt.offer) {
                prompt.input = tui_input::Input::new(offer.line.clone());
            }
            reopen(app, prompt);
        }
        PromptKind::Audit => {
            if let Err(why) = work::audit(app, &line) {
                prompt.error = Some(why);
                app.overlay = Some(Overlay::Prompt(prompt));
            }
        }
        PromptKind::ChangeReason(ref entry, state) => {
            super::change::done(app, entry.clone(), state, line);
        }
        PromptKind::ExportTo(ref format) => match ExportHow::parse(&line) {
            Ok(how) => work::export(app, format.clone(), how),
            Err(why) => {
                prompt.error = Some(why);
                app.overlay = Some(Overlay::Prompt(prompt));
            }
        },
    }
}

/// Keeps the board's filter under a name.
fn keep_queue(app: &mut App, name: String) {
    if name.is_empty() {
        return;
    }
    let (filter, now_us) = (app.board.filter.clone(), app.now.us);
    say(
        app,
        Tone::Done,
        format!("kept as \u{201c}{name}\u{201d}; Space f lists all"),
    );
    app.ask(Ask::SaveQueue {
        name,
        filter,
        now_us,
    });
}
