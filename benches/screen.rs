//! The screen under load: a workspace of TRIAGENT_BENCH_RUNS runs of TRIAGENT_BENCH_STEPS steps (default 2,000 × 50; the
//! goal of DESIGN §11 is 100,000 × 50), with two runs of 5,000 steps and one line of 13 million characters. Prints what
//! a key press costs until the screen is painted, and what filter, search and diff cost. The workspace is made once and
//! kept under target/.
//!
//! `TRIAGENT_BENCH_RUNS=100000 cargo bench --bench screen`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark may fail loudly and talks to its reader"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use triagent::domain::{
    Item, Outcome, Owner, Progress, Reward, Role, Rollout, RunId, Sink, Step, StepKind, StepStatus,
    TaskId,
};
use triagent::store::Store;
use triagent::tui::Stage;

const FAMILIES: [&str; 5] = ["refund", "exchange", "报销", "visa", "travel"];

fn number(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(default)
}

fn main() {
    let (runs, steps) = (
        number("TRIAGENT_BENCH_RUNS", 2_000),
        number("TRIAGENT_BENCH_STEPS", 50),
    );
    let file = workspace(runs, steps);
    let begun = Instant::now();
    let store = Store::open(&file).unwrap();
    let mut stage = Stage::new(Some(store), 200, 60).unwrap();
    stage.leave_slow_open();
    stage.screen();
    told("first frame, from opening the file", begun.elapsed());
    slow(&mut stage);
    board(&mut stage);
    filters(&mut stage);
    a_run(&mut stage);
    huge(&mut stage);
    labels(&mut stage);
    compare(&mut stage);
    println!("peak memory: {}", peak());
}

fn told(what: &str, time: Duration) {
    println!("{what:<58} {:>9.2} ms", time.as_secs_f64() * 1e3);
}

/// Presses keys one by one; tells the middle, the worst but one percent, and the worst.
fn press(stage: &mut Stage, what: &str, keys: &[&str], times: usize) {
    let mut costs: Vec<Duration> = Vec::with_capacity(times * keys.len());
    for _ in 0..times {
        for key in keys {
            let begun = Instant::now();
            stage.keys(key);
            stage.screen();
            costs.push(begun.elapsed());
        }
    }
    costs.sort();
    let at = |share: f64| {
        let last = costs.len() - 1;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in a short list"
        )]
        let place = (share * last as f64).round() as usize;
        costs[place].as_secs_f64() * 1e3
    };
    println!(
        "{what:<58} {:>9.2} ms p50 {:>9.2} ms p99 {:>9.2} ms worst",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// What the second thread answers, each alone.
fn slow(stage: &mut Stage) {
    loop {
        let begun = Instant::now();
        let Some(what) = stage.answer_slow() else {
            return;
        };
        told(&format!("  in the background: {what}"), begun.elapsed());
    }
}

fn board(stage: &mut Stage) {
    press(
        stage,
        "board: down, up, page, half page",
        &["j", "j", "k", "<ctrl-d>", "<pagedown>", "<ctrl-u>"],
        100,
    );
    press(stage, "board: last row, first row", &["G", "gg"], 20);
    slow(stage);
}

/// The first phrase stands in a few runs, the second in every one.
fn filters(stage: &mut Stage) {
    for filter in [
        "outcome:fail",
        "family:报销 steps:>10",
        "step.tool:search -labelled:me",
        "text:\"condition 4711\"",
        "text:\"旧政策\"",
        "sort:-steps",
    ] {
        stage.keys("f<ctrl-u>").text(filter);
        let begun = Instant::now();
        stage.keys("<enter>");
        stage.screen();
        told(&format!("filter {filter}"), begun.elapsed());
        slow(stage);
    }
    stage.keys("F");
    slow(stage);
    stage.keys("/").text("condition 4711").keys("<enter>");
    let begun = Instant::now();
    slow(stage);
    told("search over all texts, with hits shown", begun.elapsed());
    stage.keys("qgr").text("run-04711");
    slow(stage);
    stage.keys("<esc>");
}

fn a_run(stage: &mut Stage) {
    press(stage, "open a run, go back", &["<enter>", "q"], 50);
    slow_quietly(stage);
    stage.keys("<enter>");
    press(
        stage,
        "run: step down and up, half page",
        &["j", "j", "k", "<ctrl-d>", "<ctrl-u>"],
        50,
    );
    stage.keys("q");
    slow_quietly(stage);
}

fn slow_quietly(stage: &mut Stage) {
    while stage.answer_slow().is_some() {}
}

fn huge(stage: &mut Stage) {
    for (run, what) in [
        ("long-a", "5,000 steps"),
        ("long-line", "a 13-million-character line"),
    ] {
        stage
            .keys("f<ctrl-u>")
            .text(&format!("run:{run}"))
            .keys("<enter>");
        slow_quietly(stage);
        let begun = Instant::now();
        stage.keys("<enter>");
        stage.screen();
        told(&format!("open {what}"), begun.elapsed());
        slow(stage);
        press(
            stage,
            &format!("{what}: steps and half pages"),
            &["j", "<ctrl-d>", "<ctrl-d>", "k", "G", "gg"],
            30,
        );
        if run == "long-line" {
            stage.keys("jo");
            let begun = Instant::now();
            slow(stage);
            stage.screen();
            told("open the rest of the line and paint it", begun.elapsed());
            press(
                stage,
                "scroll in 13 million characters",
                &["<tab>", "<ctrl-d>", "<ctrl-d>", "<tab>"],
                30,
            );
        }
        stage.keys("<esc>q");
    }
}

fn labels(stage: &mut Stage) {
    stage.keys("f<ctrl-u>").text("outcome:fail").keys("<enter>");
    slow_quietly(stage);
    stage.keys("<enter>");
    press(stage, "label: digit (saved to disk)", &["1"], 20);
    press(
        stage,
        "label: digit, Enter, the next run on screen",
        &["1", "<enter>"],
        50,
    );
    press(stage, "undo", &["u"], 20);
    stage.keys("<esc>q");
    slow_quietly(stage);
}

fn compare(stage: &mut Stage) {
    stage
        .keys("<space>bf<ctrl-u>")
        .text("run:long-a,long-b")
        .keys("<enter>");
    slow_quietly(stage);
    let begun = Instant::now();
    stage.keys("ggxx=");
    slow_quietly(stage);
    stage.screen();
    let screen = stage.screen();
    assert!(screen.contains("they part at row"), "{screen}");
    told("diff of two 5,000-step runs, on screen", begun.elapsed());
    press(
        stage,
        "compare: next difference, down",
        &["]", "j", "j"],
        30,
    );
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM"));
    line.map_or_else(
        || "the system does not tell".to_owned(),
        |l| l.trim_start_matches("VmHWM:").trim().to_owned(),
    )
}

fn workspace(runs: usize, steps: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-screen");
    let file = folder.join(format!("{runs}x{steps}.db"));
    if file.is_file() {
        return file;
    }
    std::fs::create_dir_all(&folder).unwrap();
    let made = file.with_extension("part");
    let begun = Instant::now();
    let mut store = Store::create(&made).unwrap();
    let mut intake = store.intake(1).unwrap();
    for n in 0..runs {
        let _ = put(
            &mut intake,
            &run(n),
            &(0..steps).map(|s| step(n, s)).collect::<Vec<_>>(),
        );
    }
    for name in ["long-a", "long-b"] {
        let mut head = run(7);
        head.id = RunId::from(name);
        // Every hundredth step of the second run differs.
        let salt = |s: usize| {
            if name == "long-b" && s % 100 == 99 {
                runs + 1
            } else {
                7
            }
        };
        let _ = put(
            &mut intake,
            &head,
            &(0..5_000).map(|s| step(salt(s), s)).collect::<Vec<_>>(),
        );
    }
    let mut head = run(8);
    head.id = RunId::from("long-line");
    let mut line = step(8, 3);
    line.text = "0123456789 旧政策 ".repeat(13_000_000 / 15);
    let _ = put(&mut intake, &head, &[step(8, 0), line, step(8, 4)]);
    intake.finish().unwrap();
    triagent::jobs::index(&mut store, &Progress::default()).unwrap();
    drop(store);
    std::fs::rename(&made, &file).unwrap();
    told("made the workspace", begun.elapsed());
    file
}

fn put(sink: &mut impl Sink, head: &Rollout, steps: &[Step]) -> std::ops::ControlFlow<()> {
    sink.put(Item::Begin(Box::new(head.clone())))?;
    for step in steps {
        sink.put(Item::Step(Box::new(step.clone())))?;
    }
    let result = if head.outcome == Outcome::Pass {
        1.0
    } else {
        0.0
    };
    sink.put(Item::Reward(Box::new(Reward::result("grader", result))))?;
    sink.put(Item::End(Box::new(head.clone())))
}

fn run(n: usize) -> Rollout {
    let mut head = Rollout::new(format!("run-{n:06}"), "bench", "logs/bench.jsonl");
    head.task = Some(TaskId::from(format!("task-{}", n / 4)));
    head.family = Some(FAMILIES[n % FAMILIES.len()].to_owned());
    head.model = Some(format!("model-{}b", n % 3 + 7));
    head.harness.name = Some("desk".to_owned());
    head.index_version = Some(format!("index-{}", n % 7));
    head.outcome = if n.is_multiple_of(3) {
        Outcome::Pass
    } else {
        Outcome::Fail
    };
    head
}

/// System, user, then call, answer, words in turn; half of the texts are the run's own.
fn step(n: usize, s: usize) -> Step {
    let text = match s {
        0 => "You are the policy desk. Use search. Cite the version valid on the day.".repeat(8),
        1 => format!(
            "Request {n}: 我可以报销多少? The trip is on day {}.",
            n % 365
        ),
        _ if s.is_multiple_of(2) => {
            format!("{{\"query\": \"rule {}\", \"page\": {}}}", s % 40, s % 5)
        }
        _ => format!(
            "Rule {s} for run {n}: 旧政策 holds until June; condition {} applies. ",
            n * 31 + s
        )
        .repeat(3),
    };
    let (owner, kind, role) = match s {
        0 => (Owner::System, StepKind::Text, Role::System),
        1 => (Owner::User, StepKind::Text, Role::User),
        _ if s % 3 == 2 => (Owner::Model, StepKind::ToolCall, Role::Assistant),
        _ if s.is_multiple_of(3) => (Owner::Tool, StepKind::Observation, Role::Tool),
        _ => (Owner::Model, StepKind::Text, Role::Assistant),
    };
    let mut step = Step::new(owner, kind, role, text);
    step.message = u32::try_from(s).unwrap();
    if matches!(kind, StepKind::ToolCall | StepKind::Observation) {
        step.tool = Some(
            if s.is_multiple_of(4) {
                "search"
            } else {
                "read"
            }
            .to_owned(),
        );
    }
    if kind == StepKind::Observation {
        step.status = if (n + s).is_multiple_of(37) {
            StepStatus::Error
        } else {
            StepStatus::Ok
        };
    }
    step
}
