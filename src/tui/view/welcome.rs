//! The first screen: no workspace yet, or one without a run; three ways on.

use crate::tui::app::App;
use crate::tui::place::Place;
use crate::tui::theme::Ink;
use crate::tui::widget::Pen;
use ratatui::layout::Rect;

/// Draws the first screen.
pub(super) fn draw(pen: &mut Pen<'_>, app: &App, area: Rect) {
    let x = area.x + area.width.saturating_sub(64) / 2;
    let mut y = area.y + area.height.saturating_sub(16) / 3;
    let end = area.right();
    let mut line = |ink: Ink, text: &str| {
        if y < area.bottom() {
            pen.put(x, y, end, ink, text);
        }
        y += 1;
    };
    line(Ink::Accent, "triagent");
    line(Ink::Text, "");
    line(
        Ink::Strong,
        "Find out why an agent failed, and which layer to fix:",
    );
    line(
        Ink::Text,
        "the index, the context, a tool description, or the model.",
    );
    line(Ink::Text, "");
    let why = match app.place() {
        Place::Welcome => "There is no workspace in this folder yet. You can",
        _ => "No runs yet: the workspace is empty. You can",
    };
    line(Ink::Dim, why);
    line(Ink::Text, "");
    let mut choice = |key: &str, name: &str, about: &str| {
        if y < area.bottom() {
            let x = pen.put(x, y, end, Ink::Keycap, key);
            let x = pen.put(x, y, end, Ink::Strong, &format!("  {name:<14}"));
            pen.put(x, y, end, Ink::Dim, about);
        }
        y += 2;
    };
    let here = if app.set.here.is_empty() {
        "your agent's logs: a file, a folder, several".to_owned()
    } else {
        format!("logs seem to lie in {}", app.set.here)
    };
    choice("I", "import logs", &here);
    choice(
        "d",
        "open the demo",
        "small logs of our own; nothing is kept",
    );
    choice("?", "help", "the keys of this place; : finds any action");
    choice("q", "leave", "");
}
