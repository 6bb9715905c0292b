//! Chat templates rendered byte for byte as transformers renders them.

use serde_json::{Map, Value};
use std::path::Path;
use triagent::score::template::Template;

fn check(path: &Path) {
    let packed = std::fs::File::open(path).unwrap();
    let golden: Value = serde_json::from_reader(flate2::read::GzDecoder::new(packed)).unwrap();
    let special: Map<String, Value> = golden["special"].as_object().unwrap().clone();
    let now = golden["now_us"].as_i64();
    let mut wrong = Vec::new();
    let mut rendered = 0;
    for template in golden["templates"].as_array().unwrap() {
        let name = template["name"].as_str().unwrap();
        let source = template["source"].as_str().unwrap();
        let compiled = match Template::new(source, None, special.clone()) {
            Ok(compiled) => compiled,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        for case in template["cases"].as_array().unwrap() {
            let talk = &golden["conversations"][case["case"].as_str().unwrap()];
            let got = compiled.render_dicts(
                talk["messages"].as_array().unwrap(),
                talk["tools"].as_array().unwrap(),
                case["prompt"].as_bool().unwrap(),
                now,
            );
            rendered += usize::from(case["text"].is_string());
            if let Some(problem) = difference(&got, case) {
                wrong.push(format!(
                    "{name} / {} / prompt {}: {problem}",
                    case["case"], case["prompt"]
                ));
            }
        }
    }
    assert!(rendered > 100, "only {rendered} renderings were compared");
    assert!(
        wrong.is_empty(),
        "{} of the cases differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn difference(
    got: &Result<triagent::score::template::Rendered, triagent::score::ScoreError>,
    case: &Value,
) -> Option<String> {
    match (got, case["text"].as_str()) {
        (Err(_), None) => None,
        (Err(error), Some(_)) => Some(format!("{error}")),
        (Ok(_), None) => Some(format!("rendered; transformers says {}", case["error"])),
        (Ok(got), Some(text)) if got.text != text => {
            let same = got
                .text
                .chars()
                .zip(text.chars())
                .take_while(|(a, b)| a == b)
                .count();
            let around = |t: &str| {
                t.chars()
                    .skip(same.saturating_sub(20))
                    .take(60)
                    .collect::<String>()
            };
            Some(format!(
                "\n   ours {:?}\n theirs {:?}",
                around(&got.text),
                around(text)
            ))
        }
        (Ok(got), Some(_)) => {
            let spans: Vec<Value> = got
                .generated
                .iter()
                .map(|r| serde_json::json!([r.start, r.end]))
                .collect();
            (Value::from(spans.clone()) != case["generated"])
                .then(|| format!("generated {spans:?} instead of {}", case["generated"]))
        }
    }
}

/// All 70 templates that TRL 1.16 ships, 17 conversations each, with and without generation prompt.
#[test]
fn public_templates_render_as_in_python() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/templates.json.gz"));
}

/// A run of 1,500 messages and 1.5 MB renders: the fuel that
/// stops endless templates is no limit on honest ones.
#[test]
fn long_runs_do_not_run_out_of_fuel() {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/score/templates.json.gz");
    let packed = std::fs::File::open(packed).unwrap();
    let golden: Value = serde_json::from_reader(flate2::read::GzDecoder::new(packed)).unwrap();
    let talk = &golden["conversations"]["long-loop"];
    let turns = talk["messages"].as_array().unwrap();
    let mut messages = turns[..2].to_vec();
    for i in 0..749 {
        let mut result = turns[3].clone();
        result["content"] = Value::from(format!("{i} {}", "words of a result ".repeat(110)));
        messages.extend([turns[2].clone(), result]);
    }
    let wanted = ["qwen3", "llama3_1", "gptoss", "glm4moe"];
    for template in golden["templates"].as_array().unwrap() {
        let name = template["name"].as_str().unwrap();
        if !wanted.contains(&name) {
            continue;
        }
        let special = golden["special"].as_object().unwrap().clone();
        let compiled = Template::new(template["source"].as_str().unwrap(), None, special).unwrap();
        let tools = talk["tools"].as_array().unwrap();
        let text = compiled.render_dicts(&messages, tools, true, golden["now_us"].as_i64());
        assert!(
            text.as_ref().is_ok_and(|t| t.text.len() > 1_400_000),
            "{name}: {:?}",
            text.err()
        );
    }
}
