//! Graders in their box: what they may do, and what becomes of those that do more.

use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use triagent::sandbox::{Demand, Isolation, Limits, Sandbox, SandboxError};

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(20),
        output_bytes: 10_000,
        isolation: Demand::WhenPossible,
    }
}

fn ask_with(
    limits: Limits,
    command: &[&str],
    case: &Value,
) -> Result<triagent::sandbox::Answer, SandboxError> {
    let command: Vec<String> = command.iter().map(|c| (*c).to_owned()).collect();
    Sandbox::new(Path::new(env!("CARGO_BIN_EXE_triagent")), limits).ask(&command, case)
}

fn shell(script: &str) -> Result<triagent::sandbox::Answer, SandboxError> {
    ask_with(limits(), &["sh", "-c", script], &json!({}))
}

#[test]
fn a_case_goes_in_and_an_answer_comes_out() {
    let case = json!({"run": "r1", "answer": "上限为 600 元/晚"});
    assert_eq!(ask_with(limits(), &["cat"], &case).unwrap().value, case);
    assert_eq!(
        shell("cat >/dev/null; echo '{\"result\": 1}'")
            .unwrap()
            .value,
        json!({"result": 1})
    );
    // A grader that never reads its case answers all the same.
    let big = json!({ "text": "x".repeat(1 << 20) });
    assert_eq!(
        ask_with(limits(), &["echo", "7"], &big).unwrap().value,
        json!(7)
    );
}

#[test]
fn nothing_of_ours_is_in_its_environment() {
    let answer = shell("env | sort | cut -d= -f1 | tr '\\n' ' ' | sed 's/.*/\"&\"/'").unwrap();
    let names = answer.value.as_str().unwrap().to_owned();
    let ours: Vec<&str> = names
        .split_whitespace()
        .filter(|n| {
            !matches!(
                *n,
                "PATH" | "LANG" | "HOME" | "TMPDIR" | "PWD" | "OLDPWD" | "SHLVL" | "_"
            )
        })
        .collect();
    assert_eq!(ours, Vec::<&str>::new());
}

#[test]
fn arguments_are_no_shell_text() {
    let answer = ask_with(limits(), &["echo", "\"$(id); a && b\""], &json!({})).unwrap();
    assert_eq!(answer.value, "$(id); a && b");
}

#[test]
fn it_writes_in_its_scratch_folder_and_nowhere_else() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("score.json");
    std::fs::write(&victim, "0").unwrap();
    let script = format!(
        "echo 1 > note; a=$(cat note); (echo 1 > {v}) 2>/dev/null && b=wrote || b=denied; (rm {v}) 2>/dev/null && c=removed || c=kept; echo \"[\\\"$a\\\",\\\"$b\\\",\\\"$c\\\"]\"",
        v = victim.display()
    );
    let answer = shell(&script).unwrap();
    if answer.isolation == Isolation::None {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    assert_eq!(answer.value, json!(["1", "denied", "kept"]));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "0");
}

/// A system that cannot restrict runs nothing unless it is told to.
#[test]
fn a_demand_for_isolation_is_kept_or_refused() {
    let required = Limits {
        isolation: Demand::Required,
        ..limits()
    };
    match ask_with(required, &["echo", "1"], &json!({})) {
        Ok(answer) => assert_ne!(answer.isolation, Isolation::None),
        Err(error) => assert!(matches!(error, SandboxError::CannotRestrict), "{error}"),
    }
}

#[test]
fn a_grader_that_takes_too_long_is_stopped_with_all_that_it_started() {
    let started = Instant::now();
    let short = Limits {
        time: Duration::from_millis(300),
        ..limits()
    };
    let slow = ask_with(short, &["sh", "-c", "sleep 60 & sleep 60"], &json!({}));
    assert!(matches!(slow, Err(SandboxError::TooSlow { .. })));
    // A child that is left behind holds the pipe open, and nobody waits for it.
    assert_eq!(shell("sleep 60 & echo 1").unwrap().value, json!(1));
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_grader_that_says_too_much_is_stopped() {
    assert!(matches!(shell("yes"), Err(SandboxError::TooMuch { .. })));
    // What it says on its error output is cut, not held against it.
    assert_eq!(
        shell("yes | head -100000 >&2; echo 1").unwrap().value,
        json!(1)
    );
}

#[test]
fn failures_say_what_failed() {
    let told =
        |result: Result<triagent::sandbox::Answer, SandboxError>| result.err().unwrap().to_string();
    assert!(told(shell("echo oops >&2; exit 3")).contains("oops"));
    assert!(told(shell("echo not json")).contains("no JSON"));
    assert!(told(shell("echo 1; echo 2")).contains("no JSON"));
    assert!(
        told(ask_with(limits(), &["/no/such/grader"], &json!({})))
            .starts_with("cannot start `/no/such/grader`")
    );
    assert!(matches!(
        ask_with(limits(), &[], &json!({})),
        Err(SandboxError::NoCommand)
    ));
}
