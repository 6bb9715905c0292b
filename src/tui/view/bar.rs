//! The top bar: where one can go, who decides, how far the list is.

use crate::tui::app::run::Origin;
use crate::tui::app::{App, Role, Screen};
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Draws the bar.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, area: Rect) {
    if area.height == 0 {
        return;
    }
    let mut x = pen.put(area.x + 1, area.y, area.right(), Ink::Title, "triagent");
    x += 2;
    let here = here(app);
    let tabs = tabs(app.set.role);
    // A screen that has no tab of its own stands beside them while it is open.
    let more = Some(here).filter(|h| !h.is_empty() && !tabs.contains(h));
    for tab in tabs.iter().chain(&more) {
        let ink = if *tab == here { Ink::Accent } else { Ink::Dim };
        let text = if *tab == here {
            format!("[{tab}]")
        } else {
            format!(" {tab} ")
        };
        x = pen.put(x, area.y, area.right(), ink, &text);
    }
    pen.put_right(
        x + 1,
        area.y,
        area.right().saturating_sub(1),
        Ink::Dim,
        &right(app),
    );
}

fn tabs(role: Role) -> &'static [&'static str] {
    match role {
        Role::Annotator => &["board", "run", "pair"],
        Role::Engineer => &["board", "run", "pair", "rewards", "advice", "export"],
        Role::Lead => &["board", "advice", "changes", "agreement"],
    }
}

fn here(app: &App) -> &'static str {
    match app.screens.last() {
        Some(Screen::Run(_)) => "run",
        Some(Screen::Board) => "board",
        Some(Screen::Pair(_)) => "pair",
        Some(Screen::Compare(_)) => "compare",
        Some(Screen::Sheet(sheet)) => sheet.kind.word(),
        Some(Screen::Welcome) | None => "",
    }
}

fn right(app: &App) -> String {
    let mut parts = Vec::new();
    if app.set.demo {
        parts.push("demo".to_owned());
    }
    if app.set.read_only {
        parts.push("READ-ONLY".to_owned());
    }
    match (app.run().map(|view| &view.origin), &app.queue) {
        (Some(Origin::Queue), Some(queue)) => {
            parts.push(format!(
                "queue: you labelled {} of {}",
                queue.done, queue.total
            ));
        }
        _ if app.board.seqs.is_empty() || app.board.is_partial => {}
        _ => parts.push(format!(
            "you labelled {} of {}",
            app.board.done,
            app.board.seqs.len()
        )),
    }
    parts.push(app.set.reviewer.clone());
    parts.join(" · ")
}
