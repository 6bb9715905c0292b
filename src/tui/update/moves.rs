//! Moving: one set of keys, in every list and text alike.

use super::{board, compare, pair, run, say, sheet};
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Fill, SheetKind};
use crate::tui::app::{App, Screen};
use crate::tui::effect::Effect;
use crate::tui::place::Place;

/// Moves.
pub(super) fn act(app: &mut App, action: Action, count: usize) {
    if action == Action::Back {
        return super::go::back(app);
    }
    match app.place() {
        Place::Board => board::moved(app, action, count),
        Place::Run => run::moved(app, action, count),
        Place::Pair => pair::moved(app, action, count),
        Place::Compare => compare::moved(app, action, count),
        Place::Sheet => sheet::moved(app, action, count),
        Place::Welcome => {}
    }
}

/// Returns where a cursor in a list of `len` lands; `page` rows are seen.
pub(super) fn landed(at: usize, len: usize, page: usize, action: Action, count: usize) -> usize {
    let last = len.saturating_sub(1);
    let step = match action {
        Action::Down | Action::Up => count,
        Action::HalfDown | Action::HalfUp => (page / 2).max(1) * count,
        Action::PageDown | Action::PageUp => page.saturating_sub(1).max(1) * count,
        _ => 0,
    };
    match action {
        Action::Down | Action::HalfDown | Action::PageDown => (at + step).min(last),
        Action::Up | Action::HalfUp | Action::PageUp => at.saturating_sub(step).min(last),
        Action::First => 0,
        Action::Last => last,
        _ => at,
    }
}

/// The screen under the current one, where there is one; what this one waited for is stopped.
pub(super) fn pop(app: &mut App) -> Option<Screen> {
    if app.screens.len() > 1 {
        if let Some(ask) = awaited(app) {
            app.want(Effect::Forget(ask));
        }
        let closed = app.screens.pop();
        // What was decided above it may have changed the list below.
        let lists = [SheetKind::Pairs, SheetKind::Agreement, SheetKind::Findings];
        if app.sheet().is_some_and(|s| lists.contains(&s.kind)) {
            sheet::fill(app);
        }
        // And what is decided of the run or pair below.
        pair::ask(app);
        super::run::ask(app);
        closed
    } else {
        None
    }
}

/// Esc: what takes its time is stopped. Says whether there was something.
pub(super) fn stop(app: &mut App) -> bool {
    let Some(ask) = awaited(app) else {
        return false;
    };
    say(app, Tone::Info, format!("stopped {}", ask.what()));
    app.want(Effect::Forget(ask));
    match app.screens.last_mut() {
        Some(Screen::Run(view)) => view.find = None,
        // A page of a row that is not there is no reason to close its list.
        Some(Screen::Sheet(sheet)) if matches!(sheet.fill, Fill::Ready(_)) => sheet.asked = None,
        _ => {
            app.screens.pop();
        }
    }
    true
}

/// The slow answer that the screen which is seen waits for.
fn awaited(app: &App) -> Option<Ask> {
    match app.screens.last()? {
        Screen::Sheet(sheet) => sheet.asked.clone(),
        Screen::Compare(view) if view.compared.is_none() => {
            Some(Ask::Compare(view.a.clone(), view.b().clone()))
        }
        Screen::Run(view) => {
            let find = view.find.as_ref().filter(|find| find.hits.is_none())?;
            Some(Ask::SearchRun {
                run: view.run.clone(),
                words: find.words.clone(),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lands_inside_the_list() {
        let check = |at, action, count, expected| {
            assert_eq!(landed(at, 100, 20, action, count), expected);
        };
        check(0, Action::Down, 5, 5);
        check(98, Action::Down, 5, 99);
        check(3, Action::Up, 5, 0);
        check(0, Action::HalfDown, 1, 10);
        check(50, Action::PageUp, 1, 31);
        check(7, Action::Last, 1, 99);
        assert_eq!(landed(0, 0, 20, Action::Last, 1), 0);
    }
}
