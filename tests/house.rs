//! Keeps the peace of the house, so that reviewers need not: who may know what, how long a file may be, what
//! licences come in. HOUSE rule 14 of the design; the arrows are those drawn in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file longer than this (its tests aside) holds two ideas.
const MAX_LINES: usize = 450;

/// Which rooms a room may call. `cli` and `tui` are the two faces and may call any room but each other.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("text", &[]),
    ("guide", &[]),
    ("stats", &[]),
    ("fuzzy", &["text"]),
    ("paths", &["text", "store"]),
    ("log", &["paths"]),
    ("import", &["domain", "text"]),
    ("clean", &["domain", "text"]),
    ("store", &["domain"]),
    ("triage", &["domain", "text", "stats"]),
    ("reward", &["domain", "text", "stats"]),
    ("advise", &["domain", "text", "stats"]),
    ("change", &["domain", "text", "stats"]),
    ("report", &["text"]),
    ("sandbox", &["domain", "text"]),
    ("score", &["domain", "text", "stats"]),
    ("export", &["domain", "text", "clean", "score", "stats"]),
    ("config", &["paths", "text", "domain", "advise", "triage"]),
];

/// Crates that one room alone may name.
const KEYS: &[(&str, &[&str])] = &[
    // The workspace; and one file that reads another program's database.
    ("rusqlite", &["store", "import/database.rs"]),
    ("candle_core", &["score"]),
    ("candle_nn", &["score"]),
    ("minijinja", &["score"]),
    ("tokenizers", &["score"]),
    ("ratatui", &["tui"]),
    ("crossterm", &["tui"]),
    ("ratatui_textarea", &["tui"]),
    ("tui_input", &["tui"]),
    ("clap", &["cli"]),
    ("landlock", &["sandbox"]),
    ("fuzzy_matcher", &["fuzzy"]),
    ("ureq", &["score"]),
];

/// Licences that may come in with a dependency: permissive ones, and MPL-2.0 for files used unchanged.
const LICENCES: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "CC0-1.0",
    "BSL-1.0",
    "Unicode-3.0",
    "MPL-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT-0",
    "NCSA",
    "bzip2-1.0.6",
];

struct Source {
    path: PathBuf,
    room: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut paths = Vec::new();
    rust_files(&src, &mut paths);
    let read = |path: PathBuf| {
        let inside = path.strip_prefix(&src).unwrap();
        let first = inside
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_string_lossy()
            .into_owned();
        let room = first.trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        Source {
            path: inside.to_owned(),
            room,
            text,
        }
    };
    paths.into_iter().map(read).collect()
}

/// The part of a file that ships.
fn shipped(text: &str) -> &str {
    text.split("\n#[cfg(test)]").next().unwrap_or(text)
}

/// The code of the shipped part without comments and doc comments.
fn code(text: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    shipped(text)
        .lines()
        .filter(is_code)
        .collect::<Vec<_>>()
        .join("\n")
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// Words that follow `crate::` in a piece of code, as (room, rest of the path).
fn crate_paths(code: &str) -> Vec<(String, String)> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.match_indices("crate::")
        .filter(|(at, _)| {
            !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        })
        .map(|(at, found)| {
            let tail: String = code[at + found.len()..]
                .chars()
                .take_while(|c| is_path(*c))
                .collect();
            let (room, rest) = tail.split_once("::").unwrap_or((&tail, ""));
            (room.to_owned(), rest.to_owned())
        })
        .collect()
}

#[test]
fn every_file_says_first_what_it_is_for() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| !s.text.starts_with("//! "))
        .map(|s| s.path.display().to_string())
        .collect();
    assert_none("files without a first line `//! …`", &found);
}

#[test]
fn no_file_holds_two_ideas() {
    let found: Vec<_> = sources()
        .iter()
        .map(|s| {
            (
                s.path.display().to_string(),
                shipped(&s.text).lines().count(),
            )
        })
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert_none("files over the cap (split by idea, not by size)", &found);
}

#[test]
fn modules_are_files_not_mod_rs() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| s.path.ends_with("mod.rs"))
        .map(|s| s.path.display().to_string())
        .collect();
    assert_none("mod.rs files", &found);
}

#[test]
fn arrows_between_rooms_go_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let mut found = BTreeSet::new();
    for source in sources() {
        let faces = match source.room.as_str() {
            "cli" => "tui is called only through its door",
            "tui" => "tui never calls cli",
            _ => "",
        };
        for (room, _) in crate_paths(&code(&source.text)) {
            let is_own = room == source.room || room.chars().next().is_some_and(char::is_uppercase);
            let is_wrong = match source.room.as_str() {
                "tui" => room == "cli",
                "cli" | "main" | "lib" | "error" => false,
                "jobs" => matches!(room.as_str(), "cli" | "tui"),
                other => allowed
                    .get(other)
                    .is_some_and(|to| !to.contains(&room.as_str())),
            };
            if !is_own && is_wrong {
                found.insert(format!("{} calls {room} {faces}", source.path.display()));
            }
        }
    }
    assert_none(
        "arrows that the plan does not draw",
        &found.into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn every_room_is_on_the_plan() {
    let free = ["cli", "tui", "jobs", "error", "main", "lib"];
    let known: BTreeSet<&str> = ARROWS.iter().map(|(room, _)| *room).chain(free).collect();
    let found: BTreeSet<_> = sources()
        .iter()
        .filter(|s| !known.contains(s.room.as_str()))
        .map(|s| s.room.clone())
        .collect();
    assert_none(
        "rooms that no arrow rule covers",
        &found.into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn nobody_reaches_past_a_door() {
    let sources = sources();
    let doors: BTreeMap<&str, &str> = sources
        .iter()
        .filter(|s| s.path.components().count() == 1)
        .map(|s| (s.room.as_str(), s.text.as_str()))
        .collect();
    let mut found = BTreeSet::new();
    for source in &sources {
        for (room, rest) in crate_paths(&code(&source.text)) {
            let inner = rest.split("::").next().unwrap_or_default();
            let is_module =
                inner.chars().next().is_some_and(char::is_lowercase) && rest.contains("::");
            let is_open = doors
                .get(room.as_str())
                .is_some_and(|door| door.contains(&format!("pub mod {inner};")));
            if room != source.room && is_module && !is_open && doors.contains_key(room.as_str()) {
                found.insert(format!(
                    "{} uses crate::{room}::{inner}",
                    source.path.display()
                ));
            }
        }
    }
    assert_none(
        "paths past a room's door",
        &found.into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn one_room_holds_each_key() {
    let mut found = Vec::new();
    for source in sources() {
        let code = code(&source.text);
        for (name, rooms) in KEYS {
            let is_named = [
                format!("{name}::"),
                format!("use {name};"),
                format!("{name} as "),
            ]
            .iter()
            .any(|form| {
                code.match_indices(form.as_str()).any(|(at, _)| {
                    !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                })
            });
            let is_allowed = |place: &&str| source.room == **place || source.path.ends_with(place);
            if is_named && !rooms.iter().any(is_allowed) {
                found.push(format!("{} names {name}", source.path.display()));
            }
        }
    }
    assert_none("crates named outside their room", &found);
}

#[test]
fn only_the_output_file_prints_and_only_jobs_starts_threads() {
    let mut found = Vec::new();
    for source in sources() {
        let code = code(&source.text);
        let may_print = source.path.ends_with("cli/output.rs");
        let prints = ["println!(", "print!(", "eprintln!(", "eprint!("];
        if !may_print && prints.iter().any(|p| code.contains(p)) {
            found.push(format!("{} prints", source.path.display()));
        }
        // The terminal's input thread and the sandbox's pipe readers live and die with what they read.
        let may_spawn = ["jobs", "sandbox"].contains(&source.room.as_str())
            || source.path.ends_with("tui/terminal.rs")
            || source.path.ends_with("tui/event.rs");
        if !may_spawn && (code.contains("thread::spawn") || code.contains("thread::Builder")) {
            found.push(format!("{} starts a thread", source.path.display()));
        }
    }
    assert_none("prints and threads in the wrong place", &found);
}

#[test]
fn nothing_is_left_unfinished() {
    // Spelt in two halves so that this file does not find itself.
    let marks = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("FIX", "ME"),
        concat!("#[ign", "ore"),
    ];
    let mut paths = Vec::new();
    rust_files(&root().join("src"), &mut paths);
    rust_files(&root().join("tests"), &mut paths);
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        for mark in marks.iter().filter(|m| text.contains(**m)) {
            found.push(format!("{}: {mark}", path.display()));
        }
    }
    assert_none("unfinished marks", &found);
}

#[test]
fn no_test_file_is_forgotten() {
    let tests = root().join("tests");
    let main = std::fs::read_to_string(tests.join("main.rs")).unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&tests).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_test = path.extension().is_some_and(|e| e == "rs") && name != "main";
        if is_test && !main.contains(&format!("mod {name};")) {
            found.push(name);
        }
    }
    assert_none("test files that main.rs does not name", &found);
}

#[test]
fn unsafe_code_stays_in_its_one_room() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| code(&s.text).contains("unsafe ") && s.room != "score")
        .map(|s| s.path.display().to_string())
        .collect();
    assert_none("unsafe code outside score/", &found);
}

#[test]
fn licences_of_all_dependencies_are_on_the_list() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = std::process::Command::new(cargo)
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo tree: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert!(
        lines.len() > 100,
        "cargo tree listed only {} packages",
        lines.len()
    );
    let is_wrong = |line: &&str| {
        !line
            .split_once('|')
            .is_some_and(|(_, licence)| is_permitted(licence.trim_end_matches(" (*)")))
    };
    let found: Vec<_> = lines
        .into_iter()
        .filter(is_wrong)
        .map(str::to_owned)
        .collect();
    assert_none("dependencies whose licence is not on the list", &found);
}

/// One alternative of an OR will do; every part of an AND must be on the list.
fn is_permitted(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" OR ").any(|any| {
        any.split(" AND ")
            .all(|part| LICENCES.contains(&part.trim()))
    })
}
