//! Writing a note. Every key keeps the draft, so that nothing typed is lost, not even to a kill.

use super::{label, pair, say};
use crate::domain::{ChatMessage, StepRef};
use crate::jobs::desk::Ask;
use crate::jobs::read_written;
use crate::triage::lint_claims;
use crate::tui::app::App;
use crate::tui::app::overlay::{Note, NoteKind, Overlay};
use crate::tui::app::says::Tone;
use crate::tui::key::Key;
use ratatui::crossterm::event::KeyCode;
use ratatui_textarea::{CursorMove, TextArea};

/// Opens the note of the run that is seen, with half-written words where there are some.
pub(super) fn open(app: &mut App) {
    let Some(view) = app.run() else {
        return say(app, Tone::Info, "open the run first");
    };
    let draft = view.page.as_ref().and_then(|page| page.draft.clone());
    let is_draft = draft.is_some();
    let text = draft.unwrap_or_else(|| view.verdict.note.clone());
    let note = Note {
        title: format!("note on {}", view.run),
        area: area(&text),
        draft: format!("note {}", view.run),
        kind: NoteKind::Verdict,
        is_refused: false,
    };
    app.overlay = Some(Overlay::Note(Box::new(note)));
    if is_draft {
        say(app, Tone::Info, "your half-written note is back");
    }
}

/// Opens an editor for a better decision than the one at a step. Words are words; calls are written as JSON.
pub(super) fn open_side(app: &mut App, at: StepRef, message: &ChatMessage, draft: Option<String>) {
    if draft.is_some() {
        say(app, Tone::Info, "your half-written decision is back");
    }
    let text = draft.unwrap_or_else(|| as_written(message));
    let note = Note {
        title: format!("a better decision at {at}"),
        area: area(&text),
        draft: format!("side {at}"),
        kind: NoteKind::Side(at),
        is_refused: false,
    };
    app.overlay = Some(Overlay::Note(Box::new(note)));
}

/// A message in the form in which it is read back.
fn as_written(message: &ChatMessage) -> String {
    if message.tool_calls.is_empty() && message.reasoning.is_none() {
        return message.content.clone().unwrap_or_default();
    }
    let calls: Vec<serde_json::Value> = message
        .tool_calls
        .iter()
        .map(|call| {
            let arguments = call.arguments_object().unwrap_or_default();
            serde_json::json!({"name": call.name, "arguments": arguments})
        })
        .collect();
    let whole = serde_json::json!({"content": message.content, "tool_calls": calls});
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

fn area(text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
    area.set_wrap_mode(ratatui_textarea::WrapMode::WordOrGlyph);
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

/// A key while a note is written.
pub(super) fn press(app: &mut App, mut note: Box<Note>, key: Key) {
    if key.code == KeyCode::Esc {
        return close(app, &note);
    }
    // As in every shell; the editor's own meaning is undo, which Ctrl-R and the draft make needless.
    note.is_refused = false;
    if key.ctrl && key.code == KeyCode::Char('u') {
        note.area.delete_line_by_head();
    } else if key.ctrl && key.code == KeyCode::Char('x') {
        note.area = area("");
    } else {
        note.area.input(key.to_event());
    }
    keep(app, &note, text(&note));
    app.overlay = Some(Overlay::Note(note));
}

/// Pasted text.
pub(super) fn paste(app: &mut App, mut note: Box<Note>, pasted: &str) {
    note.area.insert_str(pasted);
    keep(app, &note, text(&note));
    app.overlay = Some(Overlay::Note(note));
}

fn text(note: &Note) -> String {
    note.area.lines().join("\n")
}

fn keep(app: &mut App, note: &Note, text: String) {
    if app.set.read_only {
        return;
    }
    let ask = Ask::KeepDraft {
        reviewer: app.set.reviewer.clone(),
        subject: note.draft.clone(),
        text,
        now_us: app.now.us,
    };
    app.ask(ask);
}

/// The note is written: it joins the verdict, or waits for it.
fn close(app: &mut App, note: &Note) {
    let words = text(note).trim().to_owned();
    if let NoteKind::Side(at) = &note.kind {
        return close_side(app, at.clone(), &words, note);
    }
    let Some(view) = app.run_mut() else { return };
    if view.verdict.note == words {
        return;
    }
    view.verdict.note.clone_from(&words);
    let saved = view.saved.is_some();
    let hint = lint_claims(&words).into_iter().next();
    if let Some(page) = view.page.as_mut() {
        page.draft = if saved || words.is_empty() {
            None
        } else {
            Some(words)
        };
    }
    if saved {
        keep(app, note, String::new());
        label::save(app);
    } else {
        say(app, Tone::Done, "note kept; it is saved with your label");
    }
    // S-91: a claim that the seeds call a misconception raises a hint, and nothing more.
    if let Some(hint) = hint {
        say(app, Tone::Info, format!("note kept; {}", hint.hint));
    }
}

/// A better decision is written: it stands against the recorded one. One that cannot be read stays open.
fn close_side(app: &mut App, at: StepRef, words: &str, note: &Note) {
    if words.is_empty() {
        return say(
            app,
            Tone::Info,
            "an empty decision cannot be compared; nothing was made",
        );
    }
    match read_written(words) {
        Ok(message) => {
            keep(app, note, String::new());
            pair::written(app, at, message);
        }
        // Whoever presses Esc twice wants to leave.
        Err(_) if note.is_refused => say(
            app,
            Tone::Info,
            "no pair was made; what you wrote is kept, and p at this step brings it back",
        ),
        Err(error) => {
            let error = error.to_string().replace('\n', "; ");
            say(app, Tone::Error, format!("{error}. Esc again leaves it"));
            let again = Note {
                title: note.title.clone(),
                area: area(words),
                draft: note.draft.clone(),
                kind: note.kind.clone(),
                is_refused: true,
            };
            app.overlay = Some(Overlay::Note(Box::new(again)));
        }
    }
}
