//! Parsing alone, format by format: bytes a second from a log in memory to a sink that drops everything. Storing is
//! measured by `scripts/bench_import.sh`. Needs the real logs (`TRIAGENT_REAL_LOGS`, or `../shared/real-logs`).

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a benchmark may fail loudly and talks to its reader"
)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use triagent::domain::{Item, Progress, Sink};
use triagent::import::read_bytes;

/// One log of each format; the largest at hand.
const LOGS: &[&str] = &[
    "openai-chat-jsonl/finetune-tools-tau2.jsonl",
    "openai-chat-jsonl/request-response-cache.jsonl",
    "claude-code/iflow-fork-session.jsonl",
    "codex-rollout/rollout-2026-11-29T16-40-56-01a2282e-5a6b-7713-9714-709582a9bf8a.jsonl",
    "openinference/wrong-refund.otlp-protojson.json",
    "langfuse-trace/langgraph-js.trace.json",
    "langsmith-runs/runs.jsonl",
    "inspect-json/browser-agent.json",
    "inspect-eval/ten-samples-popularity.eval",
    "swe-agent-traj/v1.0-marshmallow-1867-messages.traj",
    "mini-swe-agent/resolved-django-14752.traj.json",
    "atif/harbor-from-mini-swe-resolved.trajectory.json",
    "agent-lightning-1/events.jsonl",
    "nemo-gym-rollouts/conversational-tool-use.rollouts.jsonl",
    "verifiers-results/wiki-search-gpt-4.1-mini.results.jsonl",
    "tau-bench/retail-failed-29.json",
    "tau2-bench/airline-finetuned-1trial.json",
    "sharegpt/glaive_toolcall_en_demo.json",
    "openhands-output-jsonl/openagentsafety-output.jsonl",
    "opencode/edit-errors-then-fixed.export.json",
    "gemini-cli/session-2026-11-29T17-04-756a98b1.jsonl",
];

struct Drop;

impl Sink for Drop {
    fn put(&mut self, item: Item) -> ControlFlow<()> {
        std::hint::black_box(item);
        ControlFlow::Continue(())
    }
}

fn root() -> PathBuf {
    std::env::var_os("TRIAGENT_REAL_LOGS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real-logs"),
        PathBuf::from,
    )
}

fn parse(c: &mut Criterion) {
    let root = root();
    let mut group = c.benchmark_group("parse");
    group
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(300))
        .sample_size(20);
    for log in LOGS {
        let Ok(bytes) = std::fs::read(root.join(log)) else {
            eprintln!("skipped: {log} is not at hand; set TRIAGENT_REAL_LOGS");
            continue;
        };
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let name = log.split('/').next().unwrap();
        group.bench_with_input(BenchmarkId::from_parameter(name), &bytes, |b, bytes| {
            b.iter(|| {
                let progress = Progress::default();
                let report = read_bytes(log, bytes.clone(), None, &mut Drop, &progress);
                assert!(report.runs > 0, "{log}: {:?}", report.skipped);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
