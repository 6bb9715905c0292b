//! Reading a run: folds, wrapping, raw, secrets, heat, jumps, the card.

use super::run::{jump, text_rows};
use super::{go, say};
use crate::jobs::desk::Ask;
use crate::text::Wrap;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::run::{RunPane, RunView, Spot};
use crate::tui::app::says::Tone;
use crate::tui::place::Place;

/// Reads.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::NextItem | Action::PreviousItem => {
            let by = if action == Action::NextItem { 1 } else { -1 };
            match app.place() {
                Place::Pair => super::pair::neighbour(app, by),
                Place::Compare => super::compare::turn(app, by),
                _ => go::neighbour(app, by),
            }
        }
        Action::NextDifference | Action::PreviousDifference => {
            let forward = action == Action::NextDifference;
            match app.place() {
                Place::Pair => super::pair::jump(app, forward),
                _ => super::compare::jump(app, forward),
            }
        }
        Action::WrapToggle if app.place() == Place::Compare => {
            if let Some(view) = app.compare_mut() {
                view.wrap = turned(view.wrap);
            }
        }
        Action::NextFailure | Action::PreviousFailure => {
            let steps = outline(app, |o| o.failed.clone());
            jump(app, steps, action == Action::NextFailure, "failed step");
        }
        Action::NextTurn | Action::PreviousTurn => {
            let steps = outline(app, |o| o.turns.clone());
            jump(
                app,
                steps,
                action == Action::NextTurn,
                "decision of the model",
            );
        }
        Action::Rest => rest(app),
        Action::Source => {
            if let Some(view) = app.run() {
                let (run, step) = (view.run.clone(), view.at.step);
                app.ask(Ask::Source { run, step });
            }
        }
        Action::Card => super::overlay::card(app),
        _ => dress(app, action),
    }
}

fn outline(app: &App, pick: fn(&crate::jobs::desk::Outline) -> Vec<u32>) -> Option<Vec<u32>> {
    app.run()?.outline.as_ref().map(pick)
}

/// Changes how the run is shown.
fn dress(app: &mut App, action: Action) {
    let rows = text_rows(app);
    if action == Action::Reveal
        && let Some(view) = app.pair_mut()
    {
        view.revealed = !view.revealed;
        view.draw();
        let revealed = view.revealed;
        return told_reveal(app, revealed);
    }
    let Some(view) = app.run_mut() else { return };
    match action {
        Action::FoldToggle => {
            let step = view.at.step;
            view.toggle_fold(step);
        }
        Action::FoldAll => view.fold_all(true),
        Action::UnfoldAll => view.fold_all(false),
        Action::WrapToggle => {
            view.wrap = turned(view.wrap);
            to_head(view);
        }
        Action::Raw => {
            view.dress.raw = !view.dress.raw;
            to_head(view);
        }
        Action::Reveal => {
            view.dress.revealed = !view.dress.revealed;
            let revealed = view.dress.revealed;
            told_reveal(app, revealed);
        }
        Action::Heat => view.heat = !view.heat,
        Action::Inspector => {
            view.inspector = !view.inspector;
            view.inspector_top = 0;
            if !view.inspector && view.pane == RunPane::Inspector {
                view.pane = RunPane::Steps;
            }
            super::run::follow(view, rows);
        }
        _ => {}
    }
}

fn told_reveal(app: &mut App, revealed: bool) {
    let text = if revealed {
        "secrets are shown"
    } else {
        "secrets are masked"
    };
    say(app, Tone::Info, text);
}

fn turned(wrap: Wrap) -> Wrap {
    match wrap {
        Wrap::Words => Wrap::Off,
        Wrap::Off => Wrap::Words,
    }
}

/// Line numbers mean something else from now on, so the cursor goes to its step's head.
fn to_head(view: &mut RunView) {
    view.at = Spot { line: 0, ..view.at };
    view.top = view.at;
    view.select = None;
}

fn rest(app: &mut App) {
    let Some(view) = app.run() else { return };
    let step = view.at.step;
    let run = view.run.clone();
    match view.body(step) {
        Some(body) if body.is_whole => say(app, Tone::Info, "all of this step is here"),
        Some(_) => {
            app.ask(Ask::Whole { run, step });
            say(app, Tone::Info, "opening the rest of this step");
        }
        None => {}
    }
}
