//! The CPU's fast mode: near F32, never mixed with it, and refused where it cannot be had.

use crate::cli::desk::Desk;
use crate::score::models::{folder, open};
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{ModelSource, Options, Precision, Request, Scorer};

fn options(precision: Precision) -> Options {
    Options {
        precision,
        ..Options::default()
    }
}

/// The modes that change no bit by company, as far as this CPU has them.
pub(crate) fn precisions() -> Vec<Precision> {
    let fast = Scorer::open(&ModelSource::Embedded, &options(Precision::Int8));
    match fast {
        Ok(_) => vec![Precision::F32, Precision::Int8],
        Err(error) => {
            assert!(error.to_string().contains("VNNI"), "{error}");
            vec![Precision::F32]
        }
    }
}

/// All families' biases, norms, windows and odd widths go through the same products; 8 bits move a token of
/// these random models by far less than they differ between tokens.
#[test]
fn the_fast_mode_is_near_f32_and_not_the_same() {
    if precisions().len() == 1 {
        eprintln!("skipped: this CPU has no fast mode");
        return;
    }
    let context = [ChatMessage::text(Role::User, "policy refund days? index")];
    let actions =
        ["thirty days", "I cannot find it"].map(|a| ChatMessage::text(Role::Assistant, a));
    let request = Request {
        context: &context,
        tools: &[],
        actions: &actions,
        now_us: None,
    };
    for (name, weights) in [
        ("llama", "llama"),
        ("qwen2-window", "qwen2"),
        ("qwen3", "qwen3"),
        ("phi3", "phi3"),
        ("gemma3", "gemma3"),
    ] {
        let dir = folder(name, weights);
        let run = |precision| -> Vec<f32> {
            let mut scorer = open(dir.path(), &options(precision));
            let scores = scorer.score(&request, &Progress::default());
            let tokens = scores.into_iter().flat_map(|s| s.unwrap().per_token);
            tokens.map(|t| t.logp).collect()
        };
        let (exact, fast) = (run(Precision::F32), run(Precision::Int8));
        assert_ne!(exact, fast, "{name}");
        for (a, b) in exact.iter().zip(&fast) {
            assert!((a - b).abs() < 0.2, "{name}: {a} and {b}");
        }
    }
}

/// What was scored in F32 is not taken for a score of the fast mode, nor the other way round.
#[test]
fn the_fast_modes_scores_stand_apart() {
    if precisions().len() == 1 {
        eprintln!("skipped: this CPU has no fast mode");
        return;
    }
    let desk = Desk::new();
    let log = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]}\n";
    std::fs::write(desk.path("a.jsonl"), log).unwrap();
    desk.run(&["import", "a.jsonl"]).ok();
    for (precision, known) in [
        ("f32", false),
        ("int8", false),
        ("int8", true),
        ("f32", true),
    ] {
        let told = desk.run(&[
            "score",
            "--runs",
            "--device",
            "cpu",
            "--precision",
            precision,
            "--json",
        ]);
        let told = told.ok();
        let says = if known {
            "0 scored, 1 known"
        } else {
            "1 scored, 0 known"
        };
        assert!(told.err.contains(says), "{precision}: {}", told.err);
        assert_eq!(
            told.err.contains("approximate"),
            precision == "int8",
            "{}",
            told.err
        );
        assert_eq!(told.rows()[0]["binding"]["dtype"], precision);
    }
}
