//! Every export through the real trainers, where their packages are: what they read, train, mask and compute equals ours.
//!
//! Three workspaces: the hand-made endings, the demo's, and the 29 failed tau-bench runs with reviewed pairs. Without
//! `TRIAGENT_CONSUME_VENV` the files are still written, and the rest says that it was skipped. `scripts/consume_all.sh` runs this.

use super::fixtures::*;
use crate::cli::desk::{Desk, repository};
use crate::score::models::{messages, open};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use triagent::domain::{ChatMessage, Progress};
use triagent::export::{Format, Options, Shape, write};
use triagent::jobs::Demo;
use triagent::reward::{Convention, advantages};
use triagent::score::{ActionScore, Options as ScoreOptions, Part, Request, Scorer};

/// Agreement with the trainer that the product promises, in nats per completion.
const NATS: f64 = 1e-3;
/// `make_tiny_model.py --seed 0`.
const TINY: &str = "tests/data/spine/tiny";
/// Tokens of a row of the real logs: they have 6,663 to 16,538 in this model's tokens, and a debug build takes its time, so the
/// shortest must do. `triagent export` itself leaves the others out, with their number.
const SHORT: &str = "6700";
/// Whole conversations, in a folder of their own.
const MESSAGES: &str = "trl-sft-messages";

/// Folder and format of everything that is written.
fn all() -> impl Iterator<Item = (String, Format, Shape)> {
    let plain = Format::ALL
        .iter()
        .map(|f| (f.word().to_owned(), *f, Shape::default()));
    plain.chain([(MESSAGES.to_owned(), Format::TrlSft, Shape::Messages)])
}

/// The four endings and the shapes that trip readers.
fn fixture(root: &Path) {
    let runs: Vec<_> = four().into_iter().chain(wide()).collect();
    for (name, format, shape) in all() {
        let options = Options {
            shape,
            ..Options::new(format)
        };
        let (input, out) = (input(&runs, &pairs(&runs)), root.join(&name));
        let manifest = write(input, &options, &out, &Progress::default()).unwrap();
        let rows: u64 = manifest.rows.values().sum();
        assert!(rows > 0, "{name} wrote nothing");
        assert!(out.join("manifest.json").is_file() && out.join("README.md").is_file());
    }
}

/// Every format of a workspace, through the command line.
fn workspace(desk: &Desk, root: &Path, limit: Option<&str>) {
    let tiny = repository(TINY);
    for (name, format, shape) in all() {
        let out = root.join(&name);
        let mut args = vec!["export", format.word(), "--out", out.to_str().unwrap()];
        args.extend(["--draft", "--reference", "other", "--shape", shape.word()]);
        if matches!(format, Format::TrlSft | Format::TrlDpo | Format::TrlKto) {
            args.extend(["--model", tiny.to_str().unwrap()]);
            args.extend(limit.iter().flat_map(|n| ["--max-tokens", n]));
        }
        let ran = desk.run(&args);
        // A format that can say none of these rows ends with 3, and its manifest says the same.
        let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        let rows = manifest["rows"].as_object().unwrap().values();
        let is_empty = rows.filter_map(serde_json::Value::as_u64).sum::<u64>() == 0;
        ran.ended(if is_empty { 3 } else { 0 });
    }
}

/// The demo's workspace with its decisions.
fn demo(root: &Path) {
    let desk = Desk::new();
    let progress = Progress::default();
    let mut demo = Demo::start(&desk.path(""), 1_790_000_000_000_000).unwrap();
    demo.import(&progress).unwrap();
    demo.label().unwrap();
    demo.pair().unwrap();
    demo.clean(&progress).unwrap();
    drop(demo);
    workspace(&desk, root, None);
}

/// The 29 real failures, with the reviewed decisions of `tests/data/spine/plan.json`.
fn real(root: &Path) -> Option<()> {
    let desk = Desk::new();
    let runs = crate::spine::import(&desk)?;
    let plan = crate::spine::plan();
    crate::spine::label(&desk, &runs, &plan);
    crate::spine::pair(&desk, &runs, &plan);
    let check = ["check", "--redact", "secret,personal", "--keep"];
    desk.run(&[&check[..], &["duplicate,template"]].concat())
        .ok();
    workspace(&desk, root, Some(SHORT));
    Some(())
}

/// `TRIAGENT_CONSUME_DIR` keeps the files; else they go to a temporary folder.
#[test]
fn every_format_writes_the_four_endings() {
    let kept = std::env::var_os("TRIAGENT_CONSUME_DIR").map(PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    fixture(&kept.unwrap_or_else(|| temporary.path().to_owned()));
}

/// Python with the trainers, and the scripts that drive them.
struct Trainers {
    python: PathBuf,
    scripts: PathBuf,
}

impl Trainers {
    fn find() -> Option<Self> {
        let venv = std::env::var_os("TRIAGENT_CONSUME_VENV").map(PathBuf::from);
        let python = venv.map(|v| v.join("bin/python")).filter(|p| p.is_file());
        let scripts = std::env::var_os("TRIAGENT_CONSUME")
            .map_or_else(|| repository("../shared/consume"), PathBuf::from);
        let (Some(python), true) = (python, scripts.join("dpo.py").is_file()) else {
            eprintln!(
                "skipped: TRIAGENT_CONSUME_VENV names no Python with the trainers, or TRIAGENT_CONSUME no folder with dpo.py"
            );
            return None;
        };
        Some(Self { python, scripts })
    }

    fn run(&self, args: &[&str]) -> (bool, Vec<Value>) {
        let mut command = Command::new(&self.python);
        let out = command
            .args(args)
            .env("HF_HUB_OFFLINE", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let lines: Vec<Value> = text
            .lines()
            .filter_map(|l| serde_json::from_str(l).ok())
            .collect();
        for line in &lines {
            eprintln!("{line}");
        }
        if !out.status.success() {
            eprintln!("{text}{}", String::from_utf8_lossy(&out.stderr));
        }
        (out.status.success(), lines)
    }

    /// LLaMA-Factory and verl as unpacked wheels: their readers are plain Python. `None` says why on stderr.
    fn wheel(&self, name: &str, version: &str) -> Option<PathBuf> {
        let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("consume-wheels");
        let unpacked = cache.join(format!("{name}-{version}"));
        if unpacked.is_dir() {
            return Some(unpacked);
        }
        std::fs::create_dir_all(&cache).unwrap();
        let wanted = format!("{name}=={version}");
        let to = cache.to_str().unwrap();
        let download = [
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            to,
            &wanted,
        ];
        let file = cache.join(format!("{name}-{version}-py3-none-any.whl"));
        if !self.run(&download).0 || !file.is_file() {
            eprintln!("skipped: {wanted} could not be fetched, so its readers did not read");
            return None;
        }
        let unpack = ["-m", "zipfile", "-e", file.to_str().unwrap()];
        let part = cache.join(format!("{name}.part"));
        assert!(
            self.run(&[&unpack[..], &[part.to_str().unwrap()]].concat())
                .0
        );
        std::fs::rename(part, &unpacked).unwrap();
        Some(unpacked)
    }
}

/// Which sets there are.
fn sets(root: &Path) -> Vec<PathBuf> {
    let mut names = vec![root.join("sets/demo"), root.join("sets/fixture")];
    fixture(&names[1]);
    demo(&names[0]);
    if real(&root.join("sets/real")).is_some() {
        names.push(root.join("sets/real"));
    }
    names
}

#[test]
fn the_real_trainers_read_train_mask_and_compute_what_we_say() {
    let Some(trainers) = Trainers::find() else {
        return;
    };
    let kept = std::env::var_os("TRIAGENT_CONSUME_ROOT").map(PathBuf::from);
    let temporary = tempfile::tempdir().unwrap();
    let root = kept.unwrap_or_else(|| temporary.path().to_owned());
    let began = std::time::Instant::now();
    let told = |what: &str| eprintln!("{what}: {} s", began.elapsed().as_secs());
    let sets = sets(&root);
    told("written");
    let (tiny, driver) = (repository(TINY), repository("scripts/consume_trl.py"));
    let text = |p: &Path| p.to_str().unwrap().to_owned();
    let (ok, lines) = trainers.run(&[
        &text(&driver),
        "--consume",
        &text(&trainers.scripts),
        "--root",
        &text(&root),
        "--model",
        &text(&tiny),
    ]);
    told("trained");
    assert!(ok, "a trainer refused a file");
    assert!(lines.len() >= 5 * sets.len() - 1, "{}", lines.len());
    let mut ours = Ours::open(&tiny, &root.join("other"));
    for set in &sets {
        let reports = root.join("reports").join(set.file_name().unwrap());
        compare(&mut ours, set, &reports);
    }
    told("compared");
    others(&trainers, &sets, &tiny);
    told("read by the others");
}

/// LLaMA-Factory's converters and verl's dataset classes.
fn others(trainers: &Trainers, sets: &[PathBuf], tiny: &Path) {
    let script = repository("scripts/consume_others.py");
    for (name, version, flag) in [
        ("llamafactory", "0.9.5", "--llamafactory"),
        ("verl", "0.9.1", "--verl"),
    ] {
        let Some(wheel) = trainers.wheel(name, version) else {
            continue;
        };
        let mut args = vec![script.to_str().unwrap(), "--data"];
        args.extend(sets.iter().map(|s| s.to_str().unwrap()));
        args.extend([
            "--model",
            tiny.to_str().unwrap(),
            flag,
            wheel.to_str().unwrap(),
        ]);
        let (ok, lines) = trainers.run(&args);
        assert!(ok && !lines.is_empty(), "{name} read something else");
    }
}

/// Our scorer on the two tiny models.
struct Ours {
    policy: Scorer,
    reference: Scorer,
}

impl Ours {
    fn open(policy: &Path, reference: &Path) -> Self {
        let options = ScoreOptions::default();
        Self {
            policy: open(policy, &options),
            reference: open(reference, &options),
        }
    }
}

fn score(
    scorer: &mut Scorer,
    row: &Value,
    context: &[ChatMessage],
    actions: &[ChatMessage],
) -> Vec<ActionScore> {
    let tools: Value = serde_json::from_str(row["tools"].as_str().unwrap()).unwrap();
    let request = Request {
        context,
        tools: tools.as_array().map_or(&[], Vec::as_slice),
        actions,
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    scores.into_iter().map(Result::unwrap).collect()
}

fn rows(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

/// A report with its rows, once it has said that nothing was changed, dropped or cut.
fn report(set: &Path, reports: &Path, format: &str) -> Option<(Vec<Value>, Value)> {
    let file = set.join(format).join("train.jsonl");
    if !file.is_file() {
        return None;
    }
    let rows = rows(&file);
    let text = std::fs::read_to_string(reports.join(format!("{format}.json"))).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let at = file.display();
    assert_eq!(
        report["data"]["rows_changed_by_reader"],
        serde_json::json!([]),
        "{at}"
    );
    assert_eq!(report["data"]["rows"], rows.len(), "{at}");
    for name in ["rows_dropped_by_trainer", "rows_cut", "same_pairs"] {
        assert!(report[name].as_u64().is_none_or(|n| n == 0), "{at}: {name}");
    }
    let steps = report["steps"].as_array().unwrap();
    let log = report["log"].as_array().unwrap_or(steps);
    assert_eq!(steps.len().max(log.len()), 1, "{at}: one real step");
    Some((rows, report))
}

fn near(ours: f64, theirs: &Value, at: &str) {
    let theirs = theirs.as_f64().unwrap();
    assert!(
        (ours - theirs).abs() < NATS,
        "{at}: {ours} instead of {theirs}"
    );
}

fn compare(ours: &mut Ours, set: &Path, reports: &Path) {
    let name = set.file_name().unwrap().to_str().unwrap();
    let mut compared = std::collections::BTreeMap::new();
    // A debug build takes half a minute for each of the real rows; there `spine` compares the same row with TRL's recorded
    // numbers, and here the reports alone must hold. A release build computes them all.
    let is_real = name == "real";
    let computes = !(is_real && cfg!(debug_assertions));
    if let Some((rows, report)) = report(set, reports, "trl-sft") {
        compared.insert("sft", rows.len());
        if computes {
            supervised(ours, &rows, &report);
        }
    }
    if let Some((rows, report)) = report(set, reports, MESSAGES) {
        compared.insert("messages", rows.len());
        conversations(ours, &rows, &report);
    }
    if let Some((rows, report)) = report(set, reports, "trl-dpo") {
        compared.insert("dpo", rows.len());
        if computes {
            preferences(ours, &rows, &report);
        }
    }
    if let Some((rows, report)) = report(set, reports, "trl-kto") {
        compared.insert("kto", rows.len());
        if computes {
            marks(ours, &rows, &report);
        }
    }
    if let Some((rows, report)) = report(set, reports, "trl-grpo") {
        compared.insert("grpo", rows.len());
        groups(&report);
    }
    eprintln!("{name}: rows fed {compared:?}, computed again: {computes}");
    let wanted = if is_real { 4 } else { 5 };
    assert!(compared.len() >= wanted, "{name}: {compared:?}");
}

/// Text of the tokens that the loss counts; what one character was cut into cannot be told apart by text.
fn trained(score: &ActionScore) -> String {
    score.per_token.iter().map(|t| t.text.as_str()).collect()
}

fn same_text(ours: &str, theirs: &Value, at: &str) {
    if !ours.contains('\u{FFFD}') {
        assert_eq!(ours, theirs.as_str().unwrap(), "{at}");
    }
}

fn supervised(ours: &mut Ours, rows: &[Value], report: &Value) {
    let examples = report["examples"].as_array().unwrap();
    assert_eq!(examples.len(), rows.len());
    for (row, example) in rows.iter().zip(examples) {
        let at = row["id"].as_str().unwrap();
        let (context, target) = (messages(&row["prompt"]), messages(&row["completion"]));
        let one = score(&mut ours.policy, row, &context, &target).remove(0);
        near(one.logp_sum_trl, &example["logp_sum"], at);
        assert_eq!(example["trained_tokens"], one.per_token.len(), "{at}");
        assert_eq!(example["masked_tokens"], one.prompt_tokens, "{at}");
        same_text(&trained(&one), &example["trained_text"], at);
    }
}

/// Whole conversations: every turn of the model's, without the line break that the template puts after it.
fn conversations(ours: &mut Ours, rows: &[Value], report: &Value) {
    for (row, example) in rows.iter().zip(report["examples"].as_array().unwrap()) {
        let at = row["id"].as_str().unwrap();
        let talk = messages(&row["messages"]);
        let (mut sum, mut tokens, mut text) = (0.0, 0, String::new());
        for (i, message) in talk.iter().enumerate() {
            if message.role != triagent::domain::chat::Role::Assistant {
                continue;
            }
            let turn = std::slice::from_ref(message);
            let one = score(&mut ours.policy, row, &talk[..i], turn).remove(0);
            let own = one.per_token.iter().filter(|t| t.part != Part::Tail);
            for token in own {
                sum += f64::from(token.logp);
                tokens += 1;
                text += &token.text;
            }
        }
        near(sum, &example["logp_sum"], at);
        assert_eq!(example["trained_tokens"], tokens, "{at}");
        same_text(&text, &example["trained_text"], at);
    }
}

fn preferences(ours: &mut Ours, rows: &[Value], report: &Value) {
    let pairs = report["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), rows.len());
    for (row, theirs) in rows.iter().zip(pairs) {
        let at = row["id"].as_str().unwrap();
        let context = messages(&row["prompt"]);
        let sides = [
            messages(&row["chosen"]).remove(0),
            messages(&row["rejected"]).remove(0),
        ];
        let policy = score(&mut ours.policy, row, &context, &sides);
        let reference = score(&mut ours.reference, row, &context, &sides);
        for (i, side) in ["chosen", "rejected"].iter().enumerate() {
            near(policy[i].logp_sum_trl, &theirs["trainer_logps"][i], at);
            near(
                reference[i].logp_sum_trl,
                &theirs["trainer_ref_logps"][i],
                at,
            );
            assert_eq!(theirs[side]["tokens"], policy[i].per_token.len(), "{at}");
            same_text(&trained(&policy[i]), &theirs[side]["text"], at);
        }
        assert_eq!(theirs["prompt_tokens"], policy[0].prompt_tokens, "{at}");
        // DPO (Rafailov et al.): m = β Σ (log π − log π₀) chosen minus rejected, loss = softplus(−m).
        let ratio = |i: usize| policy[i].logp_sum_trl - reference[i].logp_sum_trl;
        let margin = report["beta"].as_f64().unwrap() * (ratio(0) - ratio(1));
        near(margin, &theirs["margin"], at);
        near((-margin).exp().ln_1p(), &theirs["sigmoid_loss"], at);
    }
}

fn marks(ours: &mut Ours, rows: &[Value], report: &Value) {
    let examples = report["examples"].as_array().unwrap();
    assert_eq!(examples.len(), rows.len());
    for (n, (row, example)) in rows.iter().zip(examples).enumerate() {
        let at = row["id"].as_str().unwrap();
        assert_eq!(example["label"], row["label"], "{at}");
        // The rows of the other two files are here again; of many, every third is computed a second time.
        if rows.len() > 20 && n % 3 > 0 {
            continue;
        }
        let (context, target) = (messages(&row["prompt"]), messages(&row["completion"]));
        let one = score(&mut ours.policy, row, &context, &target).remove(0);
        near(one.logp_sum_trl, &example["logp_sum"], at);
        assert_eq!(example["tokens"], one.per_token.len(), "{at}");
        same_text(&trained(&one), &example["text"], at);
    }
}

/// What TRL made of its own fresh groups equals what our convention makes of the same rewards.
fn groups(report: &Value) {
    let groups = report["groups"].as_array().unwrap();
    let theirs = report["advantages"].as_array().unwrap();
    let mut at = 0;
    for group in groups {
        let rewards: Vec<Option<f64>> = group
            .as_array()
            .unwrap()
            .iter()
            .map(Value::as_f64)
            .collect();
        let ours = advantages(&rewards, Convention::Trl, None).unwrap();
        for ours in ours.advantages {
            near(ours.unwrap(), &theirs[at], "grpo");
            at += 1;
        }
    }
    assert_eq!(at, theirs.len());
    assert!(at > 0);
}
