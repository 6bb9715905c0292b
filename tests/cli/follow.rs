//! `import --follow` as a process: it reads what is there, then what is added, and whoever ends it loses nothing.

use super::desk::Desk;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A machine with much to do may take its time; a program that never looks again fails.
const PATIENCE: Duration = Duration::from_secs(120);

const FIRST: &str = r#"{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-01T00:00:00Z","cwd":"/srv"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":[{"type":"text","text":"报销标准?"}]}}
"#;
const MORE: &str = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"400"}],"stopReason":"stop"}}
"#;

/// Steps of the runs in the workspace.
fn steps(desk: &Desk) -> Vec<u64> {
    let listed = desk.run(&["--workspace", "w.db", "list", "runs", "--json"]);
    let rows = listed.out.lines().map(serde_json::from_str);
    let rows = rows.map(|row: Result<serde_json::Value, _>| row.unwrap());
    rows.map(|row| row["steps"].as_u64().unwrap()).collect()
}

fn wait_for(desk: &Desk, wanted: &[u64]) {
    let begun = Instant::now();
    while steps(desk) != wanted {
        assert!(
            begun.elapsed() < PATIENCE,
            "{:?} instead of {wanted:?}",
            steps(desk)
        );
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_followed_session_grows_in_the_workspace_and_survives_the_followers_end() {
    let desk = Desk::new();
    let log = desk.write("session.jsonl", FIRST);
    let mut follower = desk
        .command(&["--workspace", "w.db", "import", "--follow", "session.jsonl"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&desk, &[1]);
    let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
    // The writer is caught in the middle of a row.
    let (half, rest) = MORE.split_at(60);
    file.write_all(half.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(steps(&desk).iter().all(|n| *n >= 1));
    file.write_all(rest.as_bytes()).unwrap();
    wait_for(&desk, &[2]);
    assert!(follower.try_wait().unwrap().is_none(), "it still follows");
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert_eq!(steps(&desk), [2]);
    desk.run(&["--workspace", "w.db", "doctor"]).ok();
}
