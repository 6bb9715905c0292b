//! Labelling: a digit saves at once, a strip then offers the sub-causes, the next movement goes on.

use super::{decide, go, marks, note, overlay, say};
use crate::domain::{Checklist, Decision, Layer, Outcome, RunId, Verdict};
use crate::tui::action::Action;
use crate::tui::app::overlay::{Menu, MenuItem, MenuKind, Overlay};
use crate::tui::app::says::Tone;
use crate::tui::app::{Advance, App};
use crate::tui::available::seen_row;

/// Labels, or works on the label.
pub(super) fn act(app: &mut App, action: Action) {
    if let Some(layer) = layer_of(action) {
        return label(app, layer);
    }
    match action {
        Action::LabelMarked => open_label_menu(app),
        Action::LabelAgain => again(app),
        Action::Cause => {
            if let Some(layer) = app.run().and_then(|view| view.saved) {
                open_causes(app, layer);
            }
        }
        Action::Ticks => open_ticks(app),
        Action::Decisive => marks::decisive(app),
        Action::Contributing => marks::contributing(app),
        Action::Pin => marks::pin(app),
        Action::Note => note::open(app),
        Action::Codebook => overlay::codebook(app),
        Action::OutcomePass => outcome(app, Outcome::Pass),
        Action::OutcomeFail => outcome(app, Outcome::Fail),
        _ => {}
    }
}

fn layer_of(action: Action) -> Option<Layer> {
    match action {
        Action::LabelIndex => Some(Layer::Index),
        Action::LabelContext => Some(Layer::Context),
        Action::LabelTool => Some(Layer::Tool),
        Action::LabelModel => Some(Layer::Model),
        Action::LabelEnvironment => Some(Layer::Environment),
        Action::LabelGrader => Some(Layer::Grader),
        Action::LabelUndetermined => Some(Layer::Undetermined),
        _ => None,
    }
}

fn label(app: &mut App, layer: Layer) {
    let Some(view) = app.run_mut() else { return };
    if view.saved.is_some_and(|saved| saved != layer) {
        view.verdict.cause = None;
    }
    view.verdict.layer = layer;
    view.saved = Some(layer);
    save(app);
    match (app.set.advance, layer) {
        (Advance::Step, Layer::Model) => open_ticks(app),
        (Advance::Step, _) => open_causes(app, layer),
        (Advance::AtOnce, _) => go::onward(app),
    }
}

/// Writes the verdict of the run that is seen.
pub(super) fn save(app: &mut App) {
    let Some(view) = app.run_mut() else { return };
    view.verdict.active_ms = Some(view.pace.active_ms());
    // A change after the machine's word was seen is recorded as such.
    view.verdict.suggestion_seen |= view.suggestion.is_some();
    let verdict = view.verdict.clone();
    let seq = view.seq;
    app.last_label = Some((verdict.layer, verdict.cause.clone()));
    app.mine.insert(seq);
    app.recount();
    decide::decide(app, vec![Decision::Verdict(verdict)]);
    marks::saved(app);
}

/// Offers the sub-causes of a layer.
pub(super) fn open_causes(app: &mut App, layer: Layer) {
    let Some(entry) = app.book.entry(layer) else {
        return;
    };
    let chosen = app.run().and_then(|view| view.verdict.cause.clone());
    let items = entry
        .causes
        .iter()
        .map(|cause| MenuItem {
            key: cause.key,
            label: cause.name.clone(),
            about: cause.definition.clone(),
            ticked: Some(chosen.as_deref() == Some(cause.name.as_str())),
        })
        .collect();
    app.overlay = Some(Overlay::Menu(Menu {
        title: format!("{layer}: why?"),
        kind: MenuKind::Cause(layer),
        items,
        is_strip: true,
        selected: 0,
    }));
}

/// Offers what proves a model failure.
pub(super) fn open_ticks(app: &mut App) {
    let Some(view) = app.run() else { return };
    let list = view.verdict.checklist;
    app.overlay = Some(Overlay::Menu(ticks_menu(app, list)));
}

fn ticks_menu(app: &App, list: Checklist) -> Menu {
    let items = app
        .book
        .checks
        .iter()
        .map(|check| MenuItem {
            key: check.key,
            label: check.name.replace('_', " "),
            about: check.ask.clone(),
            ticked: Some(tick(list, &check.name).is_some_and(|t| t)),
        })
        .collect();
    let state = if list.is_complete() {
        "proven"
    } else {
        "unproven"
    };
    Menu {
        title: format!("model is {state}; tick what you saw, a all"),
        kind: MenuKind::Ticks(list),
        items,
        is_strip: true,
        selected: 0,
    }
}

fn tick(list: Checklist, name: &str) -> Option<bool> {
    match name {
        "document_visible" => Some(list.document_visible),
        "version_valid" => Some(list.version_valid),
        "date_in_context" => Some(list.date_in_context),
        "tool_text_clear" => Some(list.tool_text_clear),
        _ => None,
    }
}

fn flip(list: &mut Checklist, name: &str) {
    match name {
        "document_visible" => list.document_visible = !list.document_visible,
        "version_valid" => list.version_valid = !list.version_valid,
        "date_in_context" => list.date_in_context = !list.date_in_context,
        "tool_text_clear" => list.tool_text_clear = !list.tool_text_clear,
        _ => {}
    }
}

/// A letter in the ticks' strip: ticks or unticks one, `a` ticks all. With the fourth tick nothing is left to ask here, so it goes on.
pub(super) fn press_tick(app: &mut App, mut list: Checklist, letter: char) {
    let name = app
        .book
        .checks
        .iter()
        .find(|c| c.key == letter)
        .map(|c| c.name.clone());
    match name {
        Some(name) => flip(&mut list, &name),
        None => {
            list = Checklist {
                document_visible: true,
                version_valid: true,
                date_in_context: true,
                tool_text_clear: true,
            };
        }
    }
    marks::change(app, |verdict| verdict.checklist = list);
    if list.is_complete() {
        return end_ticks(app);
    }
    app.overlay = Some(Overlay::Menu(ticks_menu(app, list)));
}

/// The ticks are done: writes them, and offers the sub-causes of a model failure.
pub(super) fn end_ticks(app: &mut App) {
    let Some(view) = app.run() else { return };
    if view.saved.is_some() {
        save(app);
    }
    if app
        .run()
        .is_some_and(|view| view.saved == Some(Layer::Model))
    {
        open_causes(app, Layer::Model);
    }
}

/// A letter in the causes' strip.
pub(super) fn choose_cause(app: &mut App, layer: Layer, at: usize) {
    let name = app
        .book
        .entry(layer)
        .and_then(|e| e.causes.get(at))
        .map(|c| c.name.clone());
    if let Some(view) = app.run_mut() {
        view.verdict.cause = name;
    }
    save(app);
    go::onward(app);
}

fn again(app: &mut App) {
    let Some((layer, cause)) = app.last_label.clone() else {
        return;
    };
    if let Some(view) = app.run_mut() {
        view.verdict.layer = layer;
        view.verdict.cause = cause;
        view.saved = Some(layer);
        save(app);
        return go::onward(app);
    }
    label_meant(app, layer, cause);
}

fn open_label_menu(app: &mut App) {
    let count = app.board.meant().len() as u64;
    let items = app
        .book
        .layers
        .iter()
        .map(|entry| MenuItem {
            key: entry.key,
            label: entry.layer.word().to_owned(),
            about: entry.definition.clone(),
            ticked: None,
        })
        .collect();
    app.overlay = Some(Overlay::Menu(Menu {
        title: format!("label {}", crate::text::plural(count, "run")),
        kind: MenuKind::LabelMarked,
        items,
        is_strip: false,
        selected: 0,
    }));
}

/// Labels the marked runs, or the one under the cursor, as one batch.
pub(super) fn label_meant(app: &mut App, layer: Layer, cause: Option<String>) {
    let seqs = app.board.meant();
    let rows: Vec<(i64, RunId)> = seqs
        .iter()
        .filter_map(|seq| app.board.row(*seq).map(|row| (*seq, row.id.clone())))
        .collect();
    if rows.len() < seqs.len() {
        return say(app, Tone::Info, "still reading the marked rows; try again");
    }
    let decisions = rows
        .iter()
        .map(|(_, run)| {
            let mut verdict = Verdict::new(run.clone(), layer);
            verdict.cause.clone_from(&cause);
            Decision::Verdict(verdict)
        })
        .collect();
    app.mine.extend(rows.iter().map(|(seq, _)| *seq));
    app.recount();
    app.board.marks.clear();
    app.last_label = Some((layer, cause));
    decide::decide(app, decisions);
}

fn outcome(app: &mut App, outcome: Outcome) {
    let Some(run) = seen_row(app).map(|row| row.id.clone()) else {
        return;
    };
    decide::decide(app, vec![Decision::Outcome { run, outcome }]);
}
