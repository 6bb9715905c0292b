//! Work in the background: ordering it, hearing how far it is, cancelling.

use super::say;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::overlay::{Overlay, Prompt, PromptKind};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::SheetKind;
use crate::tui::effect::Effect;
use crate::tui::place::Place;
use crate::tui::work::{ExportHow, Line, News, Order, State};
use std::path::PathBuf;

/// Lines of finished work that are kept.
const MAX_LINES: usize = 100;

/// Orders or cancels work.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::Import => {
            // Nothing stands there unless logs were found: a typed path would only be appended to it.
            let here = Prompt::new(PromptKind::Import, &app.set.here);
            app.overlay = Some(Overlay::Prompt(here));
        }
        Action::CancelJob => cancel(app),
        Action::Score => {
            let filter = scored(app);
            start(app, Order::Score(filter));
        }
        Action::Check => start(app, Order::Check),
        Action::Audit => {
            app.overlay = Some(Overlay::Prompt(Prompt::new(PromptKind::Audit, "")));
            super::prompt::complete(app);
        }
        Action::RunExport => super::sheet::ask_folder(app),
        _ => {}
    }
}

/// Reads logs; paths with spaces stand in quotes. A path that is not there is a typo, and nothing is read.
pub(super) fn import(app: &mut App, line: &str) -> Result<(), String> {
    let paths: Vec<PathBuf> = split_paths(line).iter().map(|p| at_home(p)).collect();
    if let Some(missing) = paths.iter().find(|p| !p.exists()) {
        let quotes = if line.contains('"') || paths.len() == 1 {
            ""
        } else {
            "; a path with spaces stands in \"quotes\""
        };
        return Err(format!(
            "{}: no such file or folder{quotes}",
            missing.display()
        ));
    }
    start(app, Order::Import(paths));
    Ok(())
}

/// A path as a shell takes it: `~/` is the user's own folder.
fn at_home(path: &str) -> PathBuf {
    let rest = path.strip_prefix("~/").or((path == "~").then_some(""));
    match (rest, crate::paths::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Audits a grader: its name, file or command, then perhaps the name that the logs give it.
pub(super) fn audit(app: &mut App, line: &str) -> Result<(), String> {
    let mut words = split_paths(line);
    let mut stands_for = None;
    words.retain(|word| match word.strip_prefix("as:") {
        Some(name) => {
            stands_for = Some(name.to_owned());
            false
        }
        None => true,
    });
    if words.is_empty() {
        return Err("name a grader; Tab takes the one under the cursor".to_owned());
    }
    let order = Order::Audit {
        grader: words,
        stands_for,
        filter: app.board.filter.clone(),
        reviewer: app.set.reviewer.clone(),
    };
    start(app, order);
    Ok(())
}

/// A filter that means the run that is seen, the marked runs, or the board's list.
fn scored(app: &App) -> String {
    let runs: Vec<String> = match app.run() {
        Some(view) => vec![view.run.0.clone()],
        None => app
            .board
            .marks
            .iter()
            .filter_map(|seq| app.board.row(*seq))
            .map(|row| row.id.0.clone())
            .collect(),
    };
    if runs.is_empty() {
        app.board.filter.clone()
    } else {
        format!("run:{}", runs.join(","))
    }
}

/// Writes a dataset.
pub(super) fn export(app: &mut App, format: String, how: ExportHow) {
    let order = Order::Export {
        format,
        filter: app.board.filter.clone(),
        reviewer: app.set.reviewer.clone(),
        how,
    };
    start(app, order);
}

fn split_paths(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (i, part) in line.split('"').enumerate() {
        if i % 2 == 1 {
            out.push(part.to_owned());
        } else {
            out.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    out
}

/// Starts work.
pub(super) fn start(app: &mut App, order: Order) {
    say(app, Tone::Info, format!("{} began", order.words()));
    app.want(Effect::Start(order));
}

fn cancel(app: &mut App) {
    let newest = app.work.iter_mut().rev().find(|line| line.is_running());
    if let Some(line) = newest {
        line.cancelled = true;
        let id = line.id;
        app.want(Effect::Cancel(id));
    }
}

/// Hears from work.
pub(super) fn take(app: &mut App, news: News) {
    let now = app.now.ms;
    let Some(line) = app.work.iter_mut().find(|line| line.id == news.id) else {
        return;
    };
    line.state = news.state;
    let words = line.words.clone();
    match line.state.clone() {
        State::Running(..) => {}
        State::Done(result, then) => {
            line.ended_ms = Some(now);
            done(app, &words, (Tone::Done, &result), then);
        }
        State::Warned(why, then) => {
            line.ended_ms = Some(now);
            done(app, &words, (Tone::Warn, &why), then);
        }
        State::Failed(why) => {
            line.ended_ms = Some(now);
            say(app, Tone::Error, format!("{words}: {why}"));
            ended(app);
        }
    }
}

fn done(app: &mut App, words: &str, said: (Tone, &str), then: Option<Order>) {
    // The index follows an import by itself; its end must not hide what the import said.
    if words != Order::Index.words() {
        say(app, said.0, format!("{words}: {}", said.1));
    }
    if let Some(order) = then {
        app.want(Effect::Start(order));
    }
    ended(app);
}

/// The runner has started work under a number.
pub(crate) fn started(app: &mut App, id: u64, order: &Order) {
    if app.work.len() == MAX_LINES {
        app.work.remove(0);
    }
    app.work.push(Line {
        id,
        words: order.words(),
        began_ms: app.now.ms,
        ended_ms: None,
        state: State::Running(0, 0),
        cancelled: false,
    });
}

/// New runs may be there: the list is read again, and the cursor stays where it is.
fn ended(app: &mut App) {
    if app.place() == Place::Welcome {
        app.enter_workspace();
    } else {
        app.board.forget_rows();
        app.list_board();
        super::finding::refresh(app);
        let shows = |sheet: &mut crate::tui::app::sheet::Sheet| {
            matches!(sheet.kind, SheetKind::Rewards | SheetKind::Probe(_))
        };
        if app.sheet_mut().is_some_and(shows) {
            super::sheet::fill(app);
        }
    }
}
