//! Labelling on the real terminal: five runs of the tau-bench failures, a pair, a kill in the middle of a note.

use super::term::{Term, bin, shell};
use std::path::Path;
use std::process::Command;

fn triagent(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(bin())
        .args(args)
        .current_dir(folder)
        .env("TRIAGENT_REVIEWER", "anna")
        .env("TRIAGENT_CONFIG", "/nowhere/config.toml")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A workspace of failures: the 29 of tau-bench where they lie at hand, else the sample logs.
fn failures() -> tempfile::TempDir {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var("TRIAGENT_REAL_LOGS")
        .map_or_else(|_| here.join("../shared/real-logs"), Into::into);
    let real = shared.join("tau-bench/retail-failed-29.json");
    let logs = if real.is_file() {
        real
    } else {
        eprintln!("skipped: the real tau-bench log is not here, so the sample logs are labelled");
        here.join("sample-logs/runs/teaching")
    };
    let folder = tempfile::tempdir().unwrap();
    triagent(folder.path(), &["import", logs.to_str().unwrap()]);
    folder
}

fn started(folder: &Path) -> Term {
    let mut term = shell(folder, 100, 30);
    term.line("triagent");
    term.shows("[board]");
    term
}

fn labelled(folder: &Path) -> usize {
    triagent(
        folder,
        &["list", "runs", "--filter", "labelled:me", "--json"],
    )
    .lines()
    .count()
}

#[test]
fn five_runs_are_labelled_by_ten_keys() {
    let folder = failures();
    let mut term = started(folder.path());
    term.types(" q");
    term.shows("[run]");
    // One digit a label, one letter a cause: index, context, tool, environment, and a model failure left unproven.
    for (keys, count) in [("1r", 1), ("2d", 2), ("3v", 3), ("5o", 4)] {
        term.types(keys);
        term.shows(&format!("you labelled {count} of"));
        term.hides("letter chooses");
    }
    term.types("4");
    term.shows("model is unproven");
    term.types("\r");
    term.shows("model: why?");
    term.types("c");
    term.shows("you labelled 5 of");
    term.hides("letter chooses");
    term.types("qq");
    term.is_restored();
    assert_eq!(labelled(folder.path()), 5);
}

#[test]
fn undo_works_across_restarts() {
    let folder = failures();
    let mut term = started(folder.path());
    term.types(" q1");
    term.shows("letter chooses");
    term.types("\u{1b}");
    term.hides("letter chooses");
    term.types("\u{3}");
    term.is_restored();
    assert_eq!(labelled(folder.path()), 1);
    term.line("clear; triagent");
    term.shows("[board]");
    term.types("u");
    term.shows("undone:");
    term.types("q");
    term.is_restored();
    assert_eq!(labelled(folder.path()), 0);
}

#[test]
fn a_kill_in_the_middle_of_a_note_loses_nothing() {
    let folder = failures();
    let mut term = started(folder.path());
    term.types(" q");
    term.shows("[run]");
    term.types("e");
    term.shows("note on");
    term.types("half a thought");
    term.shows("half a thought");
    term.types("\u{1a}");
    term.shows("Stopped");
    term.line("kill -9 %1; wait; echo KILLED");
    term.shows("KILLED");
    term.line("clear; triagent");
    term.shows("[board]");
    term.types(" q");
    term.shows("[run]");
    term.types("e");
    term.shows("half a thought");
    term.types("\u{1b}");
    term.hides("Esc done");
    term.types("\u{3}");
    term.is_restored();
}

#[test]
fn a_pair_is_written_and_decided() {
    let folder = failures();
    let mut term = started(folder.path());
    term.types("\r");
    term.shows("[run]");
    // The first decision of the model, and a better one in its place.
    term.types("jjp");
    term.shows("a better decision at");
    term.types("\u{15}");
    for _ in 0..20 {
        term.types("\u{7f}\u{15}");
    }
    term.types("I would like to check that first. What is your order number?");
    term.shows("What is your order number?");
    term.types("\u{1b}");
    let screen = term.shows("left better");
    let line = screen
        .lines()
        .find(|l| l.contains("I would like to check"))
        .unwrap()
        .to_owned();
    let left = line.find("I would like").unwrap() < line.chars().count() / 2;
    term.types(if left { "1" } else { "2" });
    term.shows("tick what holds");
    term.types("o\r");
    term.shows("somebody else must be able to check it");
    term.types("asks before it acts\r");
    term.shows("decided");
    term.types("\u{3}");
    term.is_restored();
    let pairs = triagent(folder.path(), &["list", "pairs", "--json"]);
    assert_eq!(pairs.lines().count(), 1, "{pairs}");
    assert!(pairs.contains("asks before it acts"), "{pairs}");
}

/// With `NO_COLOR` no colour code is written, and the selection is still seen (HOUSE, finding 4).
#[test]
fn without_colour_the_selection_is_still_seen() {
    let folder = failures();
    let mut term = shell(folder.path(), 80, 24);
    term.line("NO_COLOR=1 triagent");
    term.shows("[board]");
    term.until("a selected row", |screen| {
        let (rows, columns) = screen.size();
        (0..rows.get()).any(|row| {
            let inverse = |column| screen.cell(row, column).is_some_and(vt100::Cell::inverse);
            (0..columns.get()).filter(|c| inverse(*c)).count() > 20
        })
    });
    let coloured = |screen: &vt100::Screen| {
        let (rows, columns) = screen.size();
        (0..rows.get())
            .flat_map(|r| (0..columns.get()).map(move |c| (r, c)))
            .any(|(r, c)| {
                screen
                    .cell(r, c)
                    .is_some_and(|cell| cell.fgcolor() != vt100::Color::Default)
            })
    };
    term.until("no colour", |screen| !coloured(screen));
    term.types("q");
    term.is_restored();
}
