//! `triagent export` as a script sees it: bound to its model, redacted where asked, previewed without a file.

use super::desk::{Desk, repository};
use crate::score::models::folder;
use serde_json::{Value, json};
use std::path::Path;

/// The four endings of the policy desk: every version but the model's own is in the logs.
fn desk() -> Desk {
    let desk = Desk::new();
    let logs = repository("sample-logs/runs/four");
    desk.run(&["import", logs.to_str().unwrap()]).ok();
    desk.run(&["check"]).ok();
    desk
}

fn everything(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all += &if path.is_dir() {
            everything(&path)
        } else {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        };
    }
    all
}

/// S-78: named files bind weights, tokenizer and template, and only then is the set acceptable.
#[test]
fn a_set_is_acceptable_once_its_model_is_bound() {
    let desk = desk();
    let bare = desk
        .run(&["export", "trl-sft", "--out", "bare", "--json"])
        .ok()
        .row();
    assert_eq!(
        bare["missing_bindings"],
        json!(["model", "template", "tokenizer"])
    );
    assert_eq!(bare["acceptable_for_training"], false);
    let name = ["export", "trl-sft", "--out", "named", "--model", "desk-7b"];
    let named = desk.run(&[&name[..], &["--json"]].concat()).ok().row();
    assert_eq!(named["missing_bindings"], json!(["template", "tokenizer"]));

    let model = folder("llama", "llama");
    let path = model.path().to_str().unwrap();
    let args = [
        "export", "trl-sft", "--out", "bound", "--model", path, "--json",
    ];
    let bound = desk.run(&args).ok().row();
    assert_eq!(bound["missing_bindings"], json!([]));
    assert_eq!(bound["acceptable_for_training"], true, "{bound}");
    // What scores are bound to, by the scorer itself.
    let scorer = crate::score::models::open(model.path(), &triagent::score::Options::default());
    let binding = scorer.binding();
    let value = |name: &str| bound["bindings"][name]["values"][0].as_str().unwrap();
    assert_eq!(value("tokenizer"), binding.tokenizer);
    assert_eq!(value("template"), binding.template);
    assert!(value("model").contains(&binding.weights));
    // Where the model lies is no part of the set: the same bytes on every machine.
    assert!(!everything(&desk.path("bound")).contains(path));
    let card = std::fs::read_to_string(desk.path("bound/README.md")).unwrap();
    assert!(card.contains("Acceptable for training"));
    // What cannot be a name is a file that is not there.
    desk.run(&["export", "trl-sft", "--out", "no", "--model", "./gone.gguf"])
        .ended(1);
    assert!(!desk.path("no").exists());
}

/// The manifest carries what `triagent agreement` says, and the card its headline.
#[test]
fn a_set_tells_how_far_its_reviewers_agree() {
    let desk = desk();
    for (reviewer, first, second) in [("lin", "index", "model"), ("wang", "index", "context")] {
        for (run, layer) in [
            ("four-stale-citation", first),
            ("four-missing-but-sure", second),
        ] {
            desk.run(&["label", run, "--layer", layer, "--reviewer", reviewer])
                .ok();
        }
    }
    let args = ["export", "trl-sft", "--out", "o", "--draft", "--json"];
    let manifest = desk.run(&args).ok().row();
    let said = desk.run(&["agreement", "--json"]).ok().rows();
    let layers = &manifest["agreement"]["layers"];
    assert_eq!(layers["statistics"].as_array().unwrap(), &said);
    assert_eq!(layers["items_differing"], 1);
    let card = std::fs::read_to_string(desk.path("o/README.md")).unwrap();
    assert!(card.contains("## Reviewers agree\n\n- layers: "), "{card}");
}

/// The tokenizer counts: what the trainer would cut stays out with its own number.
#[test]
fn the_models_own_tokens_decide_what_is_too_long() {
    let desk = desk();
    let model = folder("llama", "llama");
    let path = model.path().to_str().unwrap();
    let args = [
        "export",
        "trl-sft",
        "--out",
        "o",
        "--model",
        path,
        "--max-tokens",
        "40",
        "--draft",
        "--json",
    ];
    // No row is left, which is no success.
    let manifest = desk.run(&args).ended(3).row();
    assert_eq!(manifest["rows"], json!({}));
    assert!(manifest["left_out_by_reason"]["too-long"].as_u64().unwrap() > 0);
}

const ADDRESS: &str = "li.wei@hengtong-tech.cn";

/// A run that asks back, with an address in its question.
fn with_address(desk: &Desk) {
    let run = json!({"messages": [
        {"role": "system", "content": "Answer from policies."},
        {"role": "user", "content": format!("Write to {ADDRESS}: what is the cap?")},
        {"role": "assistant", "content": "Which country do you travel to?"},
        {"role": "user", "content": "France."},
        {"role": "assistant", "content": "The cap is 150 EUR."}]});
    desk.write("logs/asks.jsonl", &format!("{run}\n"));
    desk.run(&["import", "logs/asks.jsonl"]).ok();
    let run = desk.run(&["list", "runs", "--json"]).ok().rows();
    let name = run[0]["run"].as_str().unwrap().to_owned();
    desk.run(&["outcome", "pass", &name]).ok();
    desk.run(&["check"]).ok();
}

#[test]
fn undecided_words_stay_out_or_leave_as_placeholders_and_never_as_they_are() {
    let desk = Desk::new();
    with_address(&desk);
    for format in [
        "trl-sft",
        "openai-sft",
        "llamafactory-sft",
        "verl-sft",
        "jsonl",
        "atif",
    ] {
        let row = |out: &str, extra: &[&str]| {
            let args = ["export", format, "--out", out, "--draft", "--json"];
            let ran = desk.run(&[&args[..], extra].concat());
            let manifest = ran.row();
            let is_empty = manifest["rows"].as_object().unwrap().is_empty();
            assert_eq!(ran.code, if is_empty { 3 } else { 0 }, "{}", ran.err);
            let all = everything(&desk.path(out));
            assert!(!all.contains(ADDRESS), "{format} {extra:?}");
            (manifest, all)
        };
        let (kept_out, _) = row(&format!("out-{format}"), &[]);
        assert_eq!(kept_out["rows"], json!({}), "{format}");
        let why: Vec<&String> = kept_out["left_out_by_reason"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(why, ["unresolved-finding"], "{format}");
        let (left, all) = row(&format!("redacted-{format}"), &["--redact-undecided"]);
        assert!(left["rows"]["train"].as_u64().unwrap() > 0, "{format}");
        assert!(all.contains("[EMAIL_"), "{format}");
        assert_eq!(left["choices"]["undecided"], "redact");
        assert_eq!(left["redacted"].as_array().unwrap().len(), 1);
    }
}

/// A score is of the words as logged; once they leave as placeholders, it says so.
#[test]
fn a_score_of_a_redacted_run_is_marked() {
    let desk = Desk::new();
    with_address(&desk);
    let model = folder("llama", "llama");
    let args = [
        "score",
        "--runs",
        "--model",
        model.path().to_str().unwrap(),
        "--json",
    ];
    let marks = |desk: &Desk| {
        let rows = desk.run(&args).ok().rows();
        let marks = rows
            .iter()
            .map(|r| r["before_redaction"].as_bool().unwrap());
        marks.collect::<Vec<_>>()
    };
    assert_eq!(marks(&desk), [false, false]);
    desk.run(&["check", "--redact", "personal"]).ok();
    assert_eq!(marks(&desk), [true, true]);
    desk.run(&["undo"]).ok();
    assert_eq!(marks(&desk), [false, false]);
}

/// The preview shades in the model's own tokens, and writes nothing.
#[test]
fn a_preview_tells_learnt_from_masked_token_by_token() {
    let desk = desk();
    let model = folder("llama", "llama");
    let path = model.path().to_str().unwrap();
    let args = ["export", "trl-sft", "--preview", "--model", path];
    let rows = desk.run(&[&args[..], &["--json"]].concat()).ok().rows();
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let line: Value = serde_json::from_str(row["line"].as_str().unwrap()).unwrap();
        let side = row["segments"][0].as_array().unwrap();
        let text = |trained: bool| {
            let of = side.iter().filter(|s| s["trained"] == trained);
            of.map(|s| s["text"].as_str().unwrap()).collect::<String>()
        };
        // ChatML by hand: the loss begins after the generation prompt and covers the stop token and its line break.
        assert!(text(false).ends_with("<|im_start|>assistant\n"), "{row}");
        assert!(text(true).ends_with("<|im_end|>\n"), "{row}");
        let said = &line["completion"][0];
        let expected = match said["content"].as_str() {
            Some(content) => content,
            None => said["tool_calls"][0]["function"]["name"].as_str().unwrap(),
        };
        assert!(text(true).contains(expected), "{row}");
        let asked = line["prompt"][1]["content"].as_str().unwrap();
        let users = side.iter().filter(|s| s["owner"] == "user");
        let users: String = users.map(|s| s["text"].as_str().unwrap()).collect();
        assert_eq!(users.trim(), asked, "{row}");
    }
    let shown = desk.run(&args).ok();
    assert!(shown.out.contains("▶ model"), "{}", shown.out);
    assert!(shown.out.contains("░ user"), "{}", shown.out);
    assert!(shown.out.contains('│'));
    // S-36: by hand from sample-logs/runs/four: both tasks search and answer, one asks back.
    let covered = shown.out.lines().find(|l| l.contains("clarification"));
    assert!(covered.unwrap().contains("boundary"), "{}", shown.out);
    let left: Vec<_> = std::fs::read_dir(desk.path(""))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".triagent" && name != "home")
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

/// A reviewer may quote a key; nobody is asked about words of reviewers, so they leave masked, whatever the format carries of them.
#[test]
fn secrets_that_a_reviewer_typed_do_not_leave() {
    let desk = desk();
    // An invented key, so that it can be looked for.
    let key = "sk-proj-Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp";
    let words = format!("v1 ended in June; the key {key} was in use");
    let label = ["label", "four-stale-citation", "--layer", "index", "--note"];
    desk.run(&[&label[..], &[&words]].concat()).ok();
    let sides = ["pair", "four-correct-citation:4", "four-stale-citation:4"];
    let said = ["--prefer", "a", "--criterion", "citation-valid", "--reason"];
    desk.run(&[&sides[..], &said[..], &[&words]].concat()).ok();
    for format in ["trl-dpo", "jsonl", "atif"] {
        let out = format!("out-{format}");
        let ran = desk.run(&["export", format, "--out", &out, "--draft"]);
        assert!(matches!(ran.code, 0 | 3), "{format}: {}", ran.err);
        let all = everything(&desk.path(&out));
        assert!(!all.contains(key), "{format}");
        assert!(all.contains("v1 ended in June"), "{format}");
    }
}
