//! Speed of scoring. Criterion on the embedded model or on `TRIAGENT_BENCH_MODEL`
//! (`TRIAGENT_BENCH_TEMPLATE`, `_DEVICE`, `_PRECISION`); with
//! `TRIAGENT_WORKLOAD=FILE.json` one timed run of that workload as JSON, for
//! `scripts/compare_engines.py`, which runs other engines on the same in turn.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints figures and stops where it cannot go on"
)]

use criterion::{BatchSize, Criterion, Throughput};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{
    ActionScore, DeviceChoice, ModelSource, Options, Precision, Request, Scorer,
};

fn options() -> Options {
    let device = std::env::var("TRIAGENT_BENCH_DEVICE").unwrap_or_else(|_| "cpu".to_owned());
    let precision = std::env::var("TRIAGENT_BENCH_PRECISION").unwrap_or_else(|_| "f32".to_owned());
    Options {
        device: DeviceChoice::parse(&device).unwrap(),
        precision: Precision::parse(&precision).unwrap(),
        template: std::env::var_os("TRIAGENT_BENCH_TEMPLATE").map(Into::into),
        ..Options::default()
    }
}

fn open() -> Scorer {
    let model = std::env::var("TRIAGENT_BENCH_MODEL").ok();
    Scorer::open(&ModelSource::parse(model.as_deref()).unwrap(), &options()).unwrap()
}

fn words(count: usize, from: usize) -> String {
    let list = [
        "policy", "refund", "days", "agent", "index", "context", "search", "valid",
    ];
    (0..count)
        .map(|i| list[(i * 5 + from) % list.len()])
        .collect::<Vec<_>>()
        .join(" ")
}

fn user(text: String) -> Vec<ChatMessage> {
    vec![ChatMessage::text(Role::User, text)]
}

fn assistant(text: String) -> ChatMessage {
    ChatMessage::text(Role::Assistant, text)
}

fn score(
    scorer: &mut Scorer,
    context: &[ChatMessage],
    actions: &[ChatMessage],
) -> Vec<ActionScore> {
    let request = Request {
        context,
        tools: &[],
        actions,
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    scores.into_iter().map(Result::unwrap).collect()
}

fn criterion() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("score");
    let actions: Vec<_> = (0..16).map(|i| assistant(words(24, i))).collect();
    // 384 words are about 800 tokens of the embedded model, which reads 1,024.
    for length in [128, 384] {
        let mut scorer = open();
        let mut fresh = 0;
        // A new first word each time: nothing is known from the time before.
        let mut cold = || {
            fresh += 1;
            user(format!("{fresh} {}", words(length, 0)))
        };
        let tokens = u64::from(score(&mut scorer, &cold(), &actions[..1])[0].prompt_tokens);
        group.throughput(Throughput::Elements(tokens));
        group.bench_function(format!("one action behind {length} new words"), |b| {
            b.iter_batched(
                &mut cold,
                |context| black_box(score(&mut scorer, &context, &actions[..1])),
                BatchSize::PerIteration,
            );
        });
        let mut scorer = open();
        let context = user(words(length, 0));
        let known = score(&mut scorer, &context, &actions);
        let tokens = known.iter().map(|s| s.per_token.len() as u64).sum();
        group.throughput(Throughput::Elements(tokens));
        group.bench_function(
            format!("sixteen actions behind {length} known words"),
            |b| {
                b.iter(|| black_box(score(&mut scorer, &context, &actions)));
            },
        );
    }
    group.finish();
    criterion.final_summary();
}

/// One pass over `{"requests": [{"context": text, "actions": [text]}]}`.
fn workload(path: &str) -> Value {
    let workload: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let start = Instant::now();
    let mut scorer = open();
    let load_s = start.elapsed().as_secs_f64();
    let mut out = Vec::new();
    for request in workload["requests"].as_array().unwrap() {
        let context = user(request["context"].as_str().unwrap().to_owned());
        let actions = request["actions"].as_array().unwrap().iter();
        let actions: Vec<_> = actions
            .map(|a| assistant(a.as_str().unwrap().to_owned()))
            .collect();
        let (start, cpu) = (Instant::now(), cpu_s());
        let all = score(&mut scorer, &context, &actions);
        out.push(json!({
            "prompt_tokens": all[0].prompt_tokens,
            "wall_s": start.elapsed().as_secs_f64(),
            "cpu_s": cpu_s() - cpu,
            "logps": all.iter().map(|s| s.per_token.iter().map(|t| t.logp).collect()).collect::<Vec<Vec<f32>>>(),
        }));
    }
    json!({"engine": "triagent", "binding": scorer.binding(), "load_s": load_s, "requests": out, "peak_rss_mib": peak_mib()})
}

/// CPU seconds of this process, all threads.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields
        .skip(11)
        .take(2)
        .filter_map(|f| f.parse::<u64>().ok())
        .sum();
    ticks as f64 / 100.0
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or(0)
        >> 10
}

fn main() {
    match std::env::var("TRIAGENT_WORKLOAD") {
        Ok(path) => println!("{}", workload(&path)),
        Err(_) => criterion(),
    }
}
