//! Input that was made to do harm, as small as it can be: files are kept, the disk stays empty, the terminal stays ours.

use super::desk::{Desk, Ran};
use std::io::Write;
use std::process::Stdio;

const RUN: &str =
    r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#;

/// A desk with one run, and its name.
fn with_run(row: &str) -> (Desk, String) {
    let desk = Desk::new();
    desk.write("log.jsonl", row);
    desk.run(&["import", "log.jsonl"]).ok();
    let run = desk.run(&["list", "runs", "--json"]).ok().row()["run"].clone();
    (desk, run.as_str().unwrap().to_owned())
}

#[test]
fn no_force_replaces_a_workspace() {
    let (desk, _) = with_run(RUN);
    let file = ".triagent/workspace.db";
    let before = std::fs::read(desk.path(file)).unwrap();
    std::os::unix::fs::symlink(desk.path(file), desk.path("link.out")).unwrap();
    std::fs::hard_link(desk.path(file), desk.path("hard.out")).unwrap();
    for out in [
        file,
        "link.out",
        "hard.out",
        ".triagent/workspace.db-wal",
        ".triagent/workspace.db-shm",
    ] {
        let ran = desk.run(&["bundle", out, "--force"]).ended(1);
        assert!(ran.err.contains("not even --force"), "{}", ran.err);
    }
    assert!(std::fs::read(desk.path(file)).unwrap() == before);
    desk.write("old.txt", "old");
    desk.run(&["bundle", "old.txt", "--force"]).ok();
}

#[test]
fn an_import_that_dies_leaves_nothing_in_the_temporary_folder() {
    let desk = Desk::new();
    let folder = desk.path("tmp");
    std::fs::create_dir(&folder).unwrap();
    let mut child = desk
        .command(&["import", "-"])
        .env("TMPDIR", &folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than stays in memory (8 MiB), so that a part is on the disk when it dies.
    stdin.write_all(&vec![b'\n'; 12 << 20]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_spooled_import_reads_what_a_file_would() {
    let desk = Desk::new();
    let rows = format!("{RUN}\n").repeat(3) + &"\n".repeat(9 << 20) + RUN;
    desk.run_with_stdin(&["import", "-"], rows.as_bytes()).ok();
    assert_eq!(desk.run(&["list", "runs", "--json"]).ok().rows().len(), 4);
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let desk = Desk::new();
    let fifo = desk.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    for path in ["fifo", "/dev/zero"] {
        for verb in [&["tasks", "import"][..], &["docs", "import"], &["import"]] {
            let ran = desk.run(&[verb, &[path]].concat()).ended(3);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(
                said.contains("not a file") || said.contains("not a regular file"),
                "{said}"
            );
        }
        let ran = desk.run(&["merge", path]).ended(1);
        assert!(ran.err.contains("not a file"), "{}", ran.err);
    }
}

#[test]
fn a_written_side_without_an_end_is_refused() {
    let (desk, run) = with_run(RUN);
    let side = format!("{run}:1");
    let args = [
        "pair",
        &side,
        "@/dev/zero",
        "--prefer",
        "a",
        "--criterion",
        "other",
        "--reason",
        "r",
    ];
    let ran = desk.run(&args).ended(1);
    assert!(ran.err.contains("more than"), "{}", ran.err);
}

#[test]
fn notes_are_shown_and_forge_no_line() {
    let (desk, run) = with_run(RUN);
    desk.run(&["note", &run, "seen\nverdict  tool"]).ok();
    desk.run(&[
        "label",
        &run,
        "--layer",
        "index",
        "--note",
        "mine\noutcome  pass",
    ])
    .ok();
    let shown = desk.run(&["show", &run]).ok().out;
    assert!(
        shown.contains("note     seen\n         verdict  tool (by tester)"),
        "{shown}"
    );
    assert!(
        shown.contains("note     mine\n         outcome  pass"),
        "{shown}"
    );
    let row = desk.run(&["show", &run, "--json"]).ok().row();
    assert_eq!(row["notes"][0]["text"], "seen\nverdict  tool");
}

#[test]
fn a_reviewer_without_a_name_is_a_mistake() {
    let (desk, run) = with_run(RUN);
    let ran = desk.run(&["--reviewer", "", "note", &run, "x"]).ended(2);
    assert!(ran.err.contains("name is empty"), "{}", ran.err);
    // An empty variable is as good as none.
    let output = desk
        .command(&["note", &run, "x"])
        .env("TRIAGENT_REVIEWER", "")
        .output()
        .unwrap();
    assert!(output.status.success());
}

fn merged(desk: &Desk, bundle: &str) -> Ran {
    desk.write("forged.bundle", bundle);
    desk.run(&["merge", "forged.bundle"])
}

#[test]
fn a_forged_decision_is_told() {
    let (desk, run) = with_run(RUN);
    desk.run(&["note", &run, "true words"]).ok();
    let bundle = desk.run(&["bundle", "-"]).ok().out;
    assert!(merged(&desk, &bundle).ok().out.contains("1 known"));
    let ran = merged(&desk, &bundle.replace("true words", "other words")).ended(3);
    assert!(
        ran.err.contains(":2: another decision has this id"),
        "{}",
        ran.err
    );
    assert!(desk.run(&["show", &run]).ok().out.contains("true words"));

    let at = bundle
        .split_once("\"at_us\":")
        .unwrap()
        .1
        .split_once(',')
        .unwrap()
        .0;
    let ran = merged(&desk, &bundle.replace(at, "9223372036854775807")).ended(3);
    assert!(ran.err.contains("no time of a decision"), "{}", ran.err);
    // Longer than a line of ours may be (16 MiB): told, and the lines behind it count.
    let (head, rest) = bundle.split_once('\n').unwrap();
    let long = format!("{head}\n{}\n{rest}", " ".repeat((16 << 20) + 1));
    let ran = merged(&desk, &long).ended(3);
    assert!(
        ran.err.contains(":2: line is longer") && ran.out.contains("1 known"),
        "{}",
        ran.err
    );
}

#[test]
fn a_server_chooses_its_own_precision() {
    let (desk, _) = with_run(RUN);
    for precision in ["int8", "f32"] {
        let model = [
            "--model",
            "http://127.0.0.1:9/v1#m",
            "--precision",
            precision,
        ];
        for verb in [&["score"][..], &["score", "--self-check"]] {
            let ran = desk.run(&[verb, &model[..]].concat()).ended(2);
            assert!(ran.err.contains("chooses its own precision"), "{}", ran.err);
        }
    }
}
