//! Coming and going: start and quit, Ctrl-C, Ctrl-Z and fg, a signal, a panic. The terminal is always given back.

use super::super::tui::stage::workspace;
use super::term::shell;
use std::path::PathBuf;

/// A folder whose workspace is the demo's.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let (folder, file) = workspace();
    let home = folder.path().join(".triagent");
    std::fs::create_dir(&home).unwrap();
    let from = |tail: &str| PathBuf::from(format!("{}{tail}", file.display()));
    for tail in ["", "-wal", "-shm"] {
        if from(tail).exists() {
            std::fs::rename(from(tail), home.join(format!("workspace.db{tail}"))).unwrap();
        }
    }
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn it_starts_and_quits_clean() {
    let (_keep, path) = folder();
    let mut term = shell(&path, 80, 24);
    term.shows("READY>");
    term.line("triagent");
    term.shows("[board]");
    term.types("q");
    term.is_restored();
    term.line("triagent");
    term.shows("[board]");
    // Raw mode delivers Ctrl-C as a key; it leaves from anywhere, also out of a line being typed.
    term.types("f").shows("filter ─");
    term.types("\u{3}");
    term.is_restored();
}

#[test]
fn it_stops_with_ctrl_z_and_comes_back_with_fg() {
    let (_keep, path) = folder();
    let mut term = shell(&path, 80, 24);
    term.line("triagent");
    term.shows("[board]");
    term.types("\u{1a}");
    term.until("stopped job", |s| {
        !s.alternate_screen() && s.contents().contains("Stopped")
    });
    term.is_restored();
    term.line("fg");
    term.until("board again", |s| {
        s.alternate_screen() && s.contents().contains("[board]")
    });
    term.types("?");
    term.shows("keys in board");
    term.types("\u{1b}");
    term.hides("keys in board");
    term.types("q");
    term.is_restored();
}

#[test]
fn a_panic_gives_the_terminal_back_and_says_so() {
    let (_keep, path) = folder();
    let mut term = shell(&path, 80, 24);
    term.line("TRIAGENT_TEST_PANIC=1 triagent; echo CODE $?");
    term.shows("[board]");
    term.types("\u{1b}[24~");
    // Exit code 70: a bug of ours.
    term.shows("CODE 70");
    term.is_restored();
}

#[test]
fn a_signal_ends_it_clean() {
    let (_keep, path) = folder();
    let mut term = shell(&path, 80, 24);
    term.line("triagent & fg");
    term.shows("[board]");
    term.types("\u{1a}");
    term.shows("Stopped");
    // In the background, where the terminal is the shell's: whoever touches it there is stopped, and would stay for ever.
    term.line("kill -TERM %1; kill -CONT %1; wait; sleep 1; echo LEFT $(jobs -p | wc -l)");
    term.shows("LEFT 0");
    term.is_restored();
}

#[test]
fn a_workspace_is_made_from_the_first_screen() {
    let folder = tempfile::tempdir().unwrap();
    let logs = concat!(env!("CARGO_MANIFEST_DIR"), "/sample-logs/runs/four");
    let mut term = shell(folder.path(), 80, 24);
    term.line("triagent");
    term.shows("There is no workspace");
    term.types("I");
    term.shows("import files or folders");
    term.types("\u{15}").line(logs);
    term.shows("[board]");
    term.shows("four-st");
    term.types("q");
    term.is_restored();
    assert!(folder.path().join(".triagent/workspace.db").is_file());
}

#[test]
fn the_demo_opens_with_one_key_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut term = shell(folder.path(), 80, 24);
    term.line("triagent");
    term.shows("There is no workspace");
    term.types("d");
    term.shows("group-zero-0");
    term.types("q");
    term.is_restored();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
