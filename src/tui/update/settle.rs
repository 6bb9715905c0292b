//! Settling a run on which reviewers differ: read it with both labels in view, then say which it is.

use super::{go, say};
use crate::domain::Layer;
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::overlay::{Menu, MenuItem, MenuKind, Overlay, Prompt, PromptKind};
use crate::tui::app::run::Origin;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Dispute, Target};
use crate::tui::app::{App, Screen};

/// Opens the run at the step that somebody called wrong.
pub(super) fn open_run(app: &mut App, dispute: Dispute) {
    go::open_run(app, dispute.run, dispute.seq, dispute.step);
    if let Some(view) = app.run_mut() {
        view.origin = Origin::Dispute(dispute.said);
    }
}

/// Asks which label it is.
pub(super) fn ask(app: &mut App) {
    let Some(dispute) = seen(app) else {
        return say(app, Tone::Info, "reviewers do not differ here");
    };
    let layers = app.book.layers.iter();
    let items = layers.map(|entry| MenuItem {
        key: entry.key,
        label: entry.layer.word().to_owned(),
        about: entry.definition.clone(),
        ticked: None,
    });
    app.overlay = Some(Overlay::Menu(Menu {
        title: format!("settle: {}", dispute.said),
        items: items.collect(),
        kind: MenuKind::Settle(dispute),
        is_strip: false,
        selected: 0,
    }));
}

/// The dispute under the cursor, or the one that is read.
fn seen(app: &App) -> Option<Dispute> {
    match app.screens.last()? {
        Screen::Sheet(sheet) => match &sheet.row()?.target {
            Target::Dispute(dispute) => Some(dispute.clone()),
            _ => None,
        },
        Screen::Run(view) => match &view.origin {
            Origin::Dispute(said) => Some(Dispute {
                run: view.run.clone(),
                seq: view.seq,
                step: view.at.step,
                said: said.clone(),
            }),
            _ => None,
        },
        _ => None,
    }
}

/// A layer was chosen: why so?
pub(super) fn chosen(app: &mut App, dispute: Dispute, layer: Layer) {
    let kind = PromptKind::Settle(dispute, layer);
    app.overlay = Some(Overlay::Prompt(Prompt::new(kind, "")));
}

/// The reason was typed: it is written down, and the run that was read for it is closed.
pub(super) fn done(app: &mut App, dispute: Dispute, layer: Layer, note: String) {
    if matches!(app.screens.last(), Some(Screen::Run(_))) {
        super::moves::act(app, Action::Back, 1);
    }
    let ask = Ask::Adjudicate {
        run: dispute.run,
        layer,
        note,
        reviewer: app.set.reviewer.clone(),
        now_us: app.now.us,
        codebook: app.book.version.clone(),
    };
    app.ask(ask);
}
