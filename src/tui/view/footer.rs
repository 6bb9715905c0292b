//! The two last rows: what was said, and the keys of this place, computed from the table of actions.

use crate::text::{bytes, duration, grouped};
use crate::tui::action::Action;
use crate::tui::app::overlay::{MenuKind, Overlay};
use crate::tui::app::says::Tone;
use crate::tui::app::{App, Screen};
use crate::tui::available::why_not;
use crate::tui::key::show;
use crate::tui::place::Place;
use crate::tui::theme::Ink;
use crate::tui::widget::{Pen, broken};
use crate::tui::work::{Line, State};
use ratatui::layout::Rect;

/// Rows that one message takes at the most.
const SAID_ROWS: usize = 4;
/// Ends a message that is longer.
const WHOLE: &str = "… Space m shows it whole";
/// A job that runs longer than this says how far it is.
const QUIET_MS: u64 = 300;

/// Draws the status row.
pub(super) fn status(pen: &mut Pen<'_>, app: &App, area: Rect) {
    if area.height == 0 {
        return;
    }
    let end = right(pen, app, area);
    match app.says.current() {
        Some(message) => {
            let (sign, ink) = match message.tone {
                Tone::Done => ("✓", Ink::Pass),
                Tone::Info => ("·", Ink::Text),
                Tone::Warn => ("!", Ink::Warn),
                Tone::Error => ("✗", Ink::Error),
            };
            let text = format!("{sign} {}", message.text.replace('\n', "  "));
            said(
                pen,
                Rect {
                    width: end.saturating_sub(area.x),
                    ..area
                },
                ink,
                &text,
            );
        }
        None => {
            pen.rule(area.x, area.y, end, Ink::Border);
            if let Some(hint) = first_steps(app) {
                pen.put(area.x + 1, area.y, end, Ink::Accent, &format!(" {hint} "));
            }
        }
    }
}

/// What does not fit on the row grows upwards over the screen: a message that is cut tells nobody what to do.
fn said(pen: &mut Pen<'_>, row: Rect, ink: Ink, text: &str) {
    let columns = usize::from(row.width.saturating_sub(2));
    let mut lines: Vec<String> = broken(text, columns)
        .into_iter()
        .map(str::to_owned)
        .collect();
    if lines.len() > SAID_ROWS {
        lines.truncate(SAID_ROWS);
        if let Some(last) = lines.last_mut() {
            let room = columns.saturating_sub(crate::text::width(WHOLE));
            *last = format!(
                "{}{WHOLE}",
                crate::text::one_line(last, room).trim_end_matches('…')
            );
        }
    }
    let rows = u16::try_from(lines.len()).unwrap_or(1);
    let top = (row.y + 1).saturating_sub(rows);
    let blank = " ".repeat(usize::from(row.width));
    for (y, line) in (top..=row.y).zip(&lines) {
        pen.put(row.x, y, row.right(), Ink::Text, &blank);
        let x = row.x + 1;
        // Under its sign the text stands in one column.
        let x = if y == top { x } else { x + 2 };
        pen.put(x, y, row.right(), ink, line);
    }
}

/// Where nobody has labelled anything yet, one line says how it goes; the first label takes it away.
fn first_steps(app: &App) -> Option<&'static str> {
    let is_new = app.mine.is_empty() && app.board.loaded && !app.board.seqs.is_empty();
    let is_busy = app.overlay.is_some() || !app.typed.is_empty();
    if !is_new || app.set.read_only || is_busy {
        return None;
    }
    match app.place() {
        Place::Board => {
            Some("new here? Space q opens a failure; a digit there says which layer; ? helps")
        }
        Place::Run => {
            Some("which layer failed? its digit saves at once, u takes it back; K explains")
        }
        _ => None,
    }
}

/// At the right: keys typed so far, else the newest work.
fn right(pen: &mut Pen<'_>, app: &App, area: Rect) -> u16 {
    let keys = match app.count {
        Some(count) => format!("{count}{}", show(&app.typed)),
        None => show(&app.typed),
    };
    if !keys.is_empty() {
        return pen.put_right(
            area.x,
            area.y,
            area.right() - 1,
            Ink::Keycap,
            &format!(" {keys}"),
        );
    }
    let running = app.work.iter().rev().find(|line| line.is_running());
    let shown = running.filter(|line| app.now.ms >= line.began_ms + QUIET_MS);
    match shown {
        Some(line) => {
            let text = format!(" {}", working(line, app.now.ms));
            pen.put_right(area.x, area.y, area.right() - 1, Ink::Accent, &text)
        }
        None => area.right(),
    }
}

/// How far work is: done, rate, time left.
pub(super) fn working(line: &Line, now_ms: u64) -> String {
    const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];
    let turn = SPINNER[usize::try_from(now_ms / 200 % 4).unwrap_or(0)];
    let State::Running(done, total) = line.state else {
        return line.words.clone();
    };
    if line.cancelled {
        return format!("{turn} stopping {}", line.words);
    }
    let spent = now_ms.saturating_sub(line.began_ms).max(1);
    // Files are counted in bytes; a small number is a number of things.
    let amount = |n: u64| {
        if total > 1 << 20 {
            bytes(n)
        } else {
            grouped(n)
        }
    };
    let mut out = format!("{turn} {}", line.words);
    if total > 0 {
        out.push_str(&format!(" {}/{}", amount(done), amount(total)));
        if done > 0 && spent > 2_000 {
            let left = spent.saturating_mul(total.saturating_sub(done)) / done;
            out.push_str(&format!(", {} left", duration(left)));
        }
    } else if done > 0 {
        out.push_str(&format!(" {}", amount(done)));
    }
    out
}

/// Draws the keys that matter here.
pub(super) fn keys(pen: &mut Pen<'_>, app: &App, area: Rect) {
    if area.height == 0 {
        return;
    }
    // The way out and the help stand on the narrowest screen; other hints go first.
    let last = [Action::Back, Action::Palette, Action::Help];
    let mut x = area.x + 1;
    if let Some(words) = above(app) {
        pen.put(x, area.y, area.right(), Ink::Dim, words);
        return;
    }
    let tail: usize = last.iter().map(|a| piece(app, *a).1).sum();
    let room = usize::from(area.width).saturating_sub(tail + 1);
    let mut used = 0;
    for action in offered(app) {
        let (_, columns) = piece(app, action);
        if used + columns > room || why_not(app, action).is_some() {
            continue;
        }
        used += columns;
        x = key(pen, app, (x, area), action);
    }
    for action in last {
        x = key(pen, app, (x, area), action);
    }
}

/// What the keys do while something lies above.
fn above(app: &App) -> Option<&'static str> {
    Some(match app.overlay.as_ref()? {
        Overlay::Help(_) => "type to narrow, or one key   ↑ ↓ PgUp PgDn scroll   Esc closes",
        Overlay::Palette(_) => "type to find   ↑ ↓ choose   ⏎ does it   Esc closes",
        Overlay::Jump(..) => "type to find   ↑ ↓ choose   ⏎ opens   Esc closes",
        Overlay::Prompt(prompt) if prompt.offers.is_empty() => "⏎ done   Esc closes",
        Overlay::Prompt(_) => "Tab completes   ↑ ↓ choose   ⏎ done   Esc closes",
        Overlay::Note(_) => {
            "Esc done   Ctrl-U clears the line   Ctrl-X clears all   every key is kept"
        }
        Overlay::Menu(menu) => match menu.kind {
            MenuKind::Criteria => {
                "letter ticks   ⏎ goes on   another digit chooses anew   Esc takes it back"
            }
            MenuKind::Ticks(_) => "letter ticks   a ticks all   ⏎ goes on   Esc stays here",
            _ if menu.is_strip => "letter chooses   ⏎ or j goes on   Esc stays here",
            _ => "letter chooses, or ↑ ↓ and ⏎   Esc closes",
        },
        Overlay::Page(_) => "j k scroll   Esc closes",
    })
}

fn key(pen: &mut Pen<'_>, app: &App, at: (u16, Rect), action: Action) -> u16 {
    let (x, area) = at;
    let sign = app.keymap.first_key(action).unwrap_or_default();
    let x = pen.put(x, area.y, area.right(), Ink::Keycap, &sign);
    let text = format!(" {}   ", short(app, action));
    pen.put(x, area.y, area.right(), Ink::Dim, &text)
}

fn piece(app: &App, action: Action) -> (String, usize) {
    let sign = app.keymap.first_key(action).unwrap_or_default();
    let columns = crate::text::width(&sign) + crate::text::width(short(app, action)) + 4;
    (sign, columns)
}

/// The action's word; at the root there is nothing to go back to.
fn short(app: &App, action: Action) -> &'static str {
    if action == Action::Back && app.screens.len() == 1 {
        return "leave";
    }
    action.info().short
}

/// What can be offered here: in an empty list there is nothing to open or to decide.
fn offered(app: &App) -> Vec<Action> {
    let of_rows = [
        Action::Open,
        Action::NextPane,
        Action::FindingKeep,
        Action::FindingRedact,
        Action::FindingDrop,
        Action::FindingAlike,
        Action::Adjudicate,
        Action::ChangeAccept,
        Action::ChangeRollBack,
        Action::HalfDown,
    ];
    let is_empty = match app.screens.last() {
        Some(Screen::Sheet(sheet)) => sheet.rows().is_empty(),
        Some(Screen::Board) if app.board.has_no_runs() => {
            return vec![Action::Import, Action::Demo, Action::GoJobs];
        }
        _ => false,
    };
    let wanted = wanted(app.place()).iter().copied();
    wanted
        .filter(|action| !is_empty || !of_rows.contains(action))
        .collect()
}

/// Actions worth a place in the footer, most wanted first; those that do not fit or cannot be done are left out.
fn wanted(place: Place) -> &'static [Action] {
    match place {
        Place::Welcome => &[Action::Demo, Action::Import],
        Place::Board => &[
            Action::Open,
            Action::GoQueue,
            Action::Filter,
            Action::Search,
            Action::Mark,
            Action::LabelMarked,
            Action::Undo,
            Action::Sort,
            Action::Jump,
            Action::Import,
        ],
        Place::Run => &[
            Action::Adjudicate,
            Action::NextFailure,
            Action::NextTurn,
            Action::Decisive,
            Action::Inspector,
            Action::Note,
            Action::Undo,
            Action::NextItem,
            Action::Search,
            Action::FoldToggle,
            Action::Codebook,
        ],
        Place::Pair => &[
            Action::NextDifference,
            Action::EditSide,
            Action::Undo,
            Action::NextItem,
            Action::Open,
        ],
        Place::Compare => &[Action::NextDifference, Action::NextPane, Action::WrapToggle],
        Place::Sheet => &[
            Action::Open,
            Action::NextPane,
            Action::RunExport,
            Action::Probe,
            Action::Audit,
            Action::Adjudicate,
            Action::ChangeAccept,
            Action::ChangeRollBack,
            Action::FindingKeep,
            Action::FindingRedact,
            Action::FindingDrop,
            Action::FindingAlike,
            Action::Check,
            Action::Refresh,
            Action::HalfDown,
        ],
    }
}
