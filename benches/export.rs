//! 50,000 synthetic pairs exported and checked: goal below 5 s and 300 MB (DESIGN §11). The peak is read from the
//! system after the runs, where the system tells it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark may fail loudly and talks to its reader"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use triagent::domain::chat::context_before;
use triagent::domain::pair::context_hash;
use triagent::domain::*;
use triagent::export::*;

const PAIRS: usize = 50_000;

/// A conversation of eight messages and about 3 kB, different in every pair.
fn run(n: usize, side: char) -> RunInput {
    let mut head = Rollout::new(format!("run-{n}-{side}"), "bench", "bench");
    head.task = Some(TaskId::from(format!("task-{n}")));
    head.family = Some("refund".to_owned());
    head.harness = Harness {
        name: Some("desk".to_owned()),
        version: Some("1".to_owned()),
        ..Harness::default()
    };
    head.index_version = Some("i1".to_owned());
    let tool = |name: &str| {
        json!({"type": "function", "function": {"name": name, "description": "Looks something up in the register of orders",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}}})
    };
    head.tools = vec![tool("search"), tool("read"), tool("refund")];
    let mut steps = vec![
        Step::new(
            Owner::System,
            StepKind::Text,
            Role::System,
            "Answer from policies and cite them. ".repeat(20),
        ),
        Step::new(
            Owner::User,
            StepKind::Text,
            Role::User,
            format!("订单 {n} 的退款期限是多少天？我是会员，三月下的单。"),
        ),
    ];
    for turn in 0..3 {
        let mut call = Step::new(
            Owner::Model,
            StepKind::ToolCall,
            Role::Assistant,
            format!("{{\"query\": \"order {n} {turn}\", \"limit\": 3}}"),
        );
        call.tool = Some("search".to_owned());
        call.tool_call_id = Some(format!("c{turn}"));
        let mut answer = Step::new(
            Owner::Tool,
            StepKind::Observation,
            Role::Tool,
            format!("policy {n} {turn}: thirty days for members. ").repeat(10),
        );
        answer.tool = Some("search".to_owned());
        answer.tool_call_id = Some(format!("c{turn}"));
        steps.extend([call, answer]);
    }
    steps.push(Step::new(
        Owner::Model,
        StepKind::Text,
        Role::Assistant,
        format!("Answer {side} for order {n}: thirty days, policy {n}."),
    ));
    for (at, step) in steps.iter_mut().enumerate() {
        step.index = u32::try_from(at).unwrap();
        step.message = step.index;
    }
    RunInput::new(head, steps)
}

fn pair(n: usize) -> PairInput {
    let (a, b) = (run(n, 'a'), run(n, 'b'));
    let at = |run: &RunInput| Candidate::Recorded {
        at: StepRef {
            run: run.head.id.clone(),
            step: 8,
        },
    };
    let context_hash = context_hash(
        a.head.task.as_ref(),
        &context_before(&a.steps, 8),
        &a.head.tools,
    );
    let decided = Pair {
        a: at(&a),
        b: at(&b),
        context_hash,
        choice: Choice::A,
        criteria: vec![triagent::domain::Criterion::CitationValid],
        reason: "cites the valid version".to_owned(),
        evidence: Some("thirty days".to_owned()),
        standard: Some("policy-1".to_owned()),
        left: None,
        side_seed: None,
        active_ms: None,
    };
    let record = DecisionRecord {
        id: DecisionId::from(format!("{n:08}")),
        reviewer: "wang".to_owned(),
        at_us: 0,
        decision: Decision::Pair(Box::new(decided)),
        codebook: "cb-1".to_owned(),
        replaces: None,
        batch: None,
    };
    PairInput {
        record,
        a: Arc::new(a),
        b: Arc::new(b),
    }
}

fn heads() -> Vec<RunHead> {
    (0..PAIRS)
        .flat_map(|n| ['a', 'b'].map(|side| (n, side)))
        .map(|(n, side)| RunHead {
            run: RunId::from(format!("run-{n}-{side}")),
            task: Some(TaskId::from(format!("task-{n}"))),
            scenario: None,
            documents: Vec::new(),
            request: format!("订单 {n} 的退款期限是多少天？我是会员，三月下的单。"),
        })
        .collect()
}

fn export(pairs: impl Iterator<Item = PairInput>, format: Format) -> u64 {
    let facts = Facts {
        heads: heads(),
        bindings: Bindings {
            reference: Some("w".to_owned()),
            ..Bindings::default()
        },
        cleaning: Some(Cleaning::default()),
        ..Facts::default()
    };
    let input = Input {
        facts,
        runs: Box::new(std::iter::empty()),
        pairs: Box::new(pairs.map(Ok)),
    };
    let options = Options {
        split: Some(SplitOptions::default()),
        purpose: Purpose::Draft,
        ..Options::new(format)
    };
    let dir = tempfile::tempdir().unwrap();
    let manifest = write(input, &options, dir.path(), &Progress::default()).unwrap();
    assert_eq!(manifest.left_out.len(), 0);
    manifest.rows.values().sum()
}

fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find(|l| l.starts_with("VmHWM"))
        .map(str::to_owned)
}

/// Seconds of processor time so far, where the system tells it: on a busy machine the clock on the wall says little.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // Linux has counted a hundred ticks a second for decades.
    Some(ticks as f64 / 100.0)
}

/// Each format once, in processor time and on the wall, before criterion repeats it.
fn once(what: &str, work: impl FnOnce()) {
    let (began, before) = (Instant::now(), processor_seconds());
    work();
    let wall = began.elapsed().as_secs_f64();
    let used = processor_seconds()
        .zip(before)
        .map(|(after, before)| after - before);
    println!(
        "{what}: {wall:.2} s, processor {:.2} s, {}",
        used.unwrap_or(f64::NAN),
        peak().unwrap_or_default()
    );
}

fn fifty_thousand_pairs(c: &mut Criterion) {
    let formats = [Format::TrlDpo, Format::OpenaiDpo, Format::LlamafactoryDpo];
    once("made, not exported", || {
        assert!((0..PAIRS).map(pair).all(|p| p.a.steps.len() == 9));
    });
    for format in formats {
        once(format.word(), || {
            assert_eq!(export((0..PAIRS).map(pair), format), PAIRS as u64);
        });
    }
    let mut group = c.benchmark_group("50k pairs");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(40));
    // What making the pairs costs, to be taken off the figures below.
    group.bench_function("made, not exported", |b| {
        b.iter(|| (0..PAIRS).map(pair).map(|p| p.a.steps.len()).sum::<usize>());
    });
    for format in formats {
        group.bench_function(format.word(), |b| {
            b.iter(|| export((0..PAIRS).map(pair), format));
        });
    }
    group.finish();
}

criterion_group!(benches, fifty_thousand_pairs);
criterion_main!(benches);
