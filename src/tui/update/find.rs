//! Finding: filter, sort, search, jump.

use super::{picker, prompt, say};
use crate::domain::RunId;
use crate::domain::filter::Field;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::body::Body;
use crate::tui::app::overlay::{Menu, MenuItem, MenuKind, Overlay, Picker, Prompt, PromptKind};
use crate::tui::app::run::Find;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::SheetKind;
use crate::tui::place::Place;

/// Columns to sort by, with their letters.
const SORTS: &[(char, Field)] = &[
    ('r', Field::Run),
    ('t', Field::Task),
    ('f', Field::Family),
    ('o', Field::Outcome),
    ('l', Field::Layer),
    ('s', Field::Steps),
    ('c', Field::Calls),
    ('e', Field::Errors),
    ('w', Field::RewardResult),
    ('m', Field::Model),
    ('h', Field::Harness),
    ('i', Field::Imported),
];

/// Finds.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::Filter => {
            let line = match app.board.filter.as_str() {
                "" => String::new(),
                filter => format!("{filter} "),
            };
            app.overlay = Some(Overlay::Prompt(Prompt::new(PromptKind::Filter, &line)));
            prompt::complete(app);
        }
        Action::ClearFilter => set_filter(app, ""),
        Action::Search => {
            let kind = match app.place() {
                Place::Run => PromptKind::SearchRun,
                _ => PromptKind::SearchAll,
            };
            app.overlay = Some(Overlay::Prompt(Prompt::new(kind, "")));
        }
        Action::NextMatch => step(app, true),
        Action::PreviousMatch => step(app, false),
        Action::Sort => open_sorts(app),
        Action::Jump => {
            app.overlay = Some(Overlay::Jump(Picker::default(), Vec::new()));
            picker::ask_jump(app, "");
        }
        Action::Refresh if app.place() == Place::Sheet => super::sheet::fill(app),
        Action::Refresh => {
            app.board.forget_rows();
            app.list_board();
            say(app, Tone::Info, "read again");
        }
        Action::SaveQueue => {
            app.overlay = Some(Overlay::Prompt(Prompt::new(PromptKind::QueueName, "")));
        }
        Action::Queues => super::sheet::open(app, SheetKind::Queues),
        _ => {}
    }
}

/// Puts a filter on the board; the cursor stays on its run if that passes.
pub(super) fn set_filter(app: &mut App, filter: &str) {
    filter.trim().clone_into(&mut app.board.filter);
    app.board.anchor = None;
    app.list_board();
}

fn open_sorts(app: &mut App) {
    let items = SORTS
        .iter()
        .map(|(key, field)| MenuItem {
            key: *key,
            label: field.word().to_owned(),
            about: String::new(),
            ticked: None,
        })
        .collect();
    app.overlay = Some(Overlay::Menu(Menu {
        title: "sort by".to_owned(),
        kind: MenuKind::Sort(SORTS.iter().map(|(_, field)| *field).collect()),
        items,
        is_strip: false,
        selected: 0,
    }));
}

/// Sorts by a field; the same one again turns the order round.
pub(super) fn sort(app: &mut App, field: Field) {
    let up = format!("sort:{}", field.word());
    let down = format!("sort:-{}", field.word());
    let words: Vec<&str> = app
        .board
        .filter
        .split(' ')
        .filter(|w| !w.is_empty())
        .collect();
    let turned = if words.contains(&down.as_str()) || !words.contains(&up.as_str()) {
        up
    } else {
        down
    };
    let mut kept: Vec<&str> = words
        .into_iter()
        .filter(|w| !w.starts_with("sort:"))
        .collect();
    kept.push(&turned);
    let line = kept.join(" ");
    set_filter(app, &line);
}

/// Searches this run.
pub(super) fn search_run(app: &mut App, words: &str) {
    let Some(view) = app.run_mut() else { return };
    if words.is_empty() {
        view.find = None;
        return;
    }
    view.find = Some(Find {
        words: words.to_owned(),
        ..Find::default()
    });
    let run = view.run.clone();
    let words = words.to_owned();
    app.ask(crate::jobs::desk::Ask::SearchRun { run, words });
}

/// Goes to the next or previous match.
fn step(app: &mut App, forward: bool) {
    if app.sheet().is_some() {
        let action = if forward { Action::Down } else { Action::Up };
        return super::sheet::moved(app, action, 1);
    }
    let Some(view) = app.run_mut() else { return };
    let Some(find) = view.find.as_mut() else {
        return;
    };
    let total = find.total();
    if total == 0 {
        let words = find.words.clone();
        return say(
            app,
            Tone::Info,
            format!("\u{201c}{words}\u{201d} is not in this run"),
        );
    }
    find.current = if forward {
        (find.current + 1) % total
    } else {
        (find.current + total - 1) % total
    };
    show_match(app);
}

/// Puts the cursor on the current match, unfolding its step.
pub(super) fn show_match(app: &mut App) {
    let rows = super::run::text_rows(app);
    let Some(view) = app.run_mut() else { return };
    let Some((step, nth)) = view.find.as_ref().and_then(Find::place) else {
        return;
    };
    let words = view
        .find
        .as_ref()
        .map(|f| f.words.clone())
        .unwrap_or_default();
    super::run::go_to(view, step, rows);
    if view.is_folded(step) {
        view.toggle_fold(step);
    }
    // Its text may still be on its way; then it is shown once it is here.
    let is_unseen = !view.body(step).is_some_and(Body::is_laid);
    if let Some(find) = view.find.as_mut() {
        find.is_unseen = is_unseen;
    }
    let line = view.body(step).and_then(|body| {
        let spans = body.doc().find(&words);
        // The drawing may show fewer matches than the text holds: masked or laid out anew.
        let span = spans.get(nth).or(spans.last())?;
        Some(body.line_of(span.start) + 1)
    });
    if let Some(line) = line {
        view.at.line = line;
        super::run::follow(view, rows);
    }
}

/// The first match at or after the cursor becomes the current one.
pub(super) fn take_hits(app: &mut App, run: &RunId, words: &str, hits: Vec<(u32, u32)>) {
    let Some(view) = app.run_mut().filter(|view| view.run == *run) else {
        return;
    };
    let here = view.at.step;
    let Some(find) = view.find.as_mut().filter(|f| f.words == words) else {
        return;
    };
    let before: u32 = hits
        .iter()
        .filter(|(s, _)| *s < here)
        .map(|(_, n)| *n)
        .sum();
    find.hits = Some(hits);
    let total = find.total();
    find.current = if (before as usize) < total {
        before as usize
    } else {
        0
    };
    if total == 0 {
        let text = format!("\u{201c}{words}\u{201d} is not in this run");
        return say(app, Tone::Info, text);
    }
    show_match(app);
}
