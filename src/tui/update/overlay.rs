//! What lies above the screen: which of it takes a key, and pages to read.

use super::{act, find, label, note, picker, prompt, say};
use crate::jobs::desk::Ask;
use crate::text::Wrap;
use crate::triage::Card;
use crate::tui::action::{Action, Group};
use crate::tui::app::App;
use crate::tui::app::overlay::{Menu, MenuKind, Overlay, Page};
use crate::tui::app::says::Tone;
use crate::tui::available::seen_row;
use crate::tui::doc::Doc;
use crate::tui::geometry;
use crate::tui::key::Key;
use crate::tui::keymap::Meaning;
use crate::tui::theme::Ink;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;

/// A key goes to what lies above.
pub(super) fn press(app: &mut App, key: Key) {
    match app.overlay.take() {
        Some(Overlay::Help(picker)) => picker::press_help(app, picker, key),
        Some(Overlay::Palette(picker)) => picker::press_palette(app, picker, key),
        Some(Overlay::Jump(picker, rows)) => picker::press_jump(app, picker, rows, key),
        Some(Overlay::Prompt(prompt)) => prompt::press(app, prompt, key),
        Some(Overlay::Note(note)) => note::press(app, note, key),
        Some(Overlay::Menu(menu)) => press_menu(app, menu, key),
        Some(Overlay::Page(page)) => press_page(app, page, key),
        None => {}
    }
}

/// Pasted text goes to what is typed, and nowhere else: pasting must not run keys.
pub(super) fn paste(app: &mut App, text: &str) {
    match app.overlay.take() {
        Some(Overlay::Prompt(prompt)) => prompt::paste(app, prompt, text),
        Some(Overlay::Note(note)) => note::paste(app, note, text),
        other => app.overlay = other,
    }
}

fn press_menu(app: &mut App, mut menu: Menu, key: Key) {
    let letter = key.as_char();
    if let Some(at) = letter.and_then(|c| menu.find(c)) {
        return choose(app, menu, at);
    }
    if let (MenuKind::Ticks(list), Some('a')) = (&menu.kind, letter) {
        return label::press_tick(app, *list, 'a');
    }
    match key.code {
        KeyCode::Esc if menu.kind == MenuKind::Criteria => super::pair::given_up(app, None),
        KeyCode::Esc => {}
        KeyCode::Enter if menu.is_strip => finish(app, &menu),
        KeyCode::Enter => {
            let at = menu.selected;
            choose(app, menu, at);
        }
        _ if menu.is_strip => leave_strip(app, &menu, key),
        code => {
            menu.selected = match code {
                KeyCode::Down | KeyCode::Char('j') => menu.selected + 1,
                KeyCode::Up | KeyCode::Char('k') => menu.selected.saturating_sub(1),
                _ => menu.selected,
            };
            menu.selected = menu.selected.min(menu.items.len().saturating_sub(1));
            app.overlay = Some(Overlay::Menu(menu));
        }
    }
}

fn choose(app: &mut App, menu: Menu, at: usize) {
    let Some(key) = menu.items.get(at).map(|item| item.key) else {
        return;
    };
    match menu.kind {
        MenuKind::Cause(layer) => label::choose_cause(app, layer, at),
        MenuKind::Ticks(list) => label::press_tick(app, list, key),
        MenuKind::Sort(fields) => find::sort(app, fields[at]),
        MenuKind::Criteria => super::pair::tick(app, at),
        MenuKind::Settle(dispute) => {
            if let Some(layer) = app.book.by_key(key).map(|entry| entry.layer) {
                super::settle::chosen(app, dispute, layer);
            }
        }
        MenuKind::LabelMarked => {
            if let Some(entry) = app.book.by_key(key) {
                let layer = entry.layer;
                label::label_meant(app, layer, None);
            }
        }
    }
}

/// Enter leaves a strip: ticks go on to causes, causes go on to the next run.
fn finish(app: &mut App, menu: &Menu) {
    match menu.kind {
        MenuKind::Cause(_) => super::go::onward(app),
        MenuKind::Ticks(_) => label::end_ticks(app),
        MenuKind::Criteria => super::pair::criteria_done(app),
        MenuKind::Sort(_) | MenuKind::LabelMarked | MenuKind::Settle(_) => {}
    }
}

/// Another key leaves the strip: a movement goes on to the next run, everything else is done here.
fn leave_strip(app: &mut App, menu: &Menu, key: Key) {
    match menu.kind {
        MenuKind::Ticks(_) => {
            label::end_ticks(app);
            app.overlay = None;
        }
        // A half-made decision about a pair is dropped only by Esc; another choice takes its place.
        MenuKind::Criteria => {
            return match app.keymap.meaning(app.place(), &[key]) {
                Meaning::Does(action) if is_choice(action) => act(app, action),
                _ => app.overlay = Some(Overlay::Menu(menu.clone())),
            };
        }
        MenuKind::Cause(_) | MenuKind::Sort(_) | MenuKind::LabelMarked | MenuKind::Settle(_) => {}
    }
    match app.keymap.meaning(app.place(), &[key]) {
        Meaning::Does(action) if is_onward(action) => super::go::onward(app),
        Meaning::Does(action) => act(app, action),
        Meaning::Begins => app.typed.push(key),
        Meaning::Nothing => {}
    }
}

fn is_choice(action: Action) -> bool {
    matches!(
        action,
        Action::PreferLeft
            | Action::PreferRight
            | Action::Tie
            | Action::BothBad
            | Action::NotComparable
    )
}

fn is_onward(action: Action) -> bool {
    match action.info().group {
        Group::Move => !matches!(
            action,
            Action::Back | Action::NextPane | Action::PreviousPane
        ),
        Group::Read => action == Action::NextItem,
        _ => false,
    }
}

fn press_page(app: &mut App, mut page: Page, key: Key) {
    let step = usize::from(app.size.1 / 2).max(1);
    let area = geometry::page(Rect::new(0, 0, app.size.0, app.size.1));
    let columns = usize::from(area.width.saturating_sub(4));
    let lines = page.doc.layout(columns, Wrap::Words).lines();
    let last = lines.saturating_sub(usize::from(area.height.saturating_sub(2)));
    match key.code {
        KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => return,
        KeyCode::Down | KeyCode::Char('j') => page.top += 1,
        KeyCode::Up | KeyCode::Char('k') => page.top = page.top.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char('d' | ' ') => page.top += step,
        KeyCode::PageUp | KeyCode::Char('u') => page.top = page.top.saturating_sub(step),
        KeyCode::Home | KeyCode::Char('g') => page.top = 0,
        KeyCode::End | KeyCode::Char('G') => page.top = last,
        _ => {}
    }
    page.top = page.top.min(last);
    app.overlay = Some(Overlay::Page(page));
}

/// Shows a page.
pub(super) fn open_page(app: &mut App, title: &str, doc: Doc) {
    app.overlay = Some(Overlay::Page(Page {
        title: title.to_owned(),
        doc,
        top: 0,
    }));
}

/// Shows the codebook: what each label means, and the four questions.
pub(super) fn codebook(app: &mut App) {
    let mut doc = Doc::default();
    doc.heading("Four questions; the first no names the layer");
    for (i, question) in app.book.questions.iter().enumerate() {
        let layer = question.no.map(|l| format!("no → {l}"));
        let layer = layer
            .or(question.yes.map(|l| format!("yes → {l}")))
            .unwrap_or_default();
        doc.push(Ink::Accent, &format!("{}  ", i + 1))
            .push(Ink::Text, &question.ask);
        doc.line(Ink::Strong, &format!("  {layer}"));
    }
    for entry in &app.book.layers {
        doc.heading(&format!("{}  {}", entry.key, entry.layer));
        doc.line(Ink::Text, &entry.definition);
        doc.push(Ink::Dim, "e.g. ").line(Ink::Quote, &entry.example);
        doc.push(Ink::Dim, "mended by ")
            .line(Ink::Text, &entry.owner);
        for cause in &entry.causes {
            doc.push(Ink::Keycap, &format!("  {} ", cause.key))
                .push(Ink::Strong, &cause.name);
            doc.line(Ink::Text, &format!(": {}", cause.definition));
        }
    }
    let title = format!("codebook {}", app.book.version);
    open_page(app, &title, doc);
}

/// Shows everything that the status line said.
pub(super) fn messages(app: &mut App) {
    let mut doc = Doc::default();
    for message in app.says.past() {
        let ago = crate::text::duration(app.now.ms.saturating_sub(message.at_ms));
        let ink = if message.tone == Tone::Error {
            Ink::Error
        } else {
            Ink::Text
        };
        doc.push(Ink::Dim, &crate::text::pad_left(&format!("{ago} ago"), 16));
        doc.push(Ink::Text, "  ").line(ink, &message.text);
    }
    if doc.is_empty() {
        doc.line(Ink::Dim, "Nothing has been said yet.");
    }
    open_page(app, "messages, newest first", doc);
}

/// Asks for the card of the run that is seen.
pub(super) fn card(app: &mut App) {
    match seen_row(app).map(|row| row.id.clone()) {
        Some(run) => app.ask(Ask::Card(run)),
        None => say(app, Tone::Info, "no run here"),
    }
}

/// Shows a card.
pub(super) fn show_card(app: &mut App, card: &Card) {
    let mut doc = Doc::default();
    for section in &card.sections {
        doc.heading(section.heading);
        for line in &section.lines {
            doc.line(Ink::Text, line);
        }
        for line in section.quote.iter().flat_map(|quote| quote.lines()) {
            doc.push(Ink::Dim, "▏ ").line(Ink::Quote, line);
        }
    }
    let title = format!("{}   y c copies the card as Markdown", card.title);
    open_page(app, &title, doc);
}
