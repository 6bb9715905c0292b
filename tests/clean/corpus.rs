//! Precision and recall on labelled lines of our own making, weak spots included. The hand that wrote the rules wrote
//! the lines too, so the figures flatter; the real logs are the second look.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use triagent::clean::{Cleaner, Rules, RunText};
use triagent::domain::*;

#[derive(Deserialize)]
struct Corpus {
    line: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    rule: Option<String>,
    text: String,
}

/// The plain text, and where the marks stood.
fn unmark(marked: &str) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut spans, mut start) = (String::new(), Vec::new(), 0);
    for c in marked.chars() {
        match c {
            '⟦' => start = text.len(),
            '⟧' => spans.push((start, text.len())),
            '§' => {}
            other => text.push(other),
        }
    }
    (text, spans)
}

pub(crate) fn cleaner() -> &'static Cleaner {
    static ONCE: OnceLock<Cleaner> = OnceLock::new();
    ONCE.get_or_init(|| Cleaner::new(Rules::built_in().unwrap(), [7; 32]))
}

/// Findings in one text.
pub(crate) fn find(text: &str) -> Vec<Finding> {
    let step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, text);
    let head = Rollout::new("r1", "test", "corpus");
    cleaner().sensitive(RunText {
        head: &head,
        steps: &[step],
        calls: &[],
    })
}

#[derive(Default, Clone, Copy)]
struct Score {
    hit: u32,
    missed: u32,
    wrong: u32,
}

fn measure() -> (BTreeMap<String, Score>, Vec<String>) {
    let corpus: Corpus = toml::from_str(include_str!("corpus.toml")).unwrap();
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut notes = Vec::new();
    for line in corpus.line {
        let (text, spans) = unmark(&line.text);
        let found = find(&text);
        let rule = line.rule.unwrap_or_default();
        for (start, end) in &spans {
            let covers = |f: &&Finding| {
                let place = f.place.as_ref().unwrap();
                place.start <= *start && *end <= place.end
            };
            let score = scores
                .entry(if rule.is_empty() {
                    "(no rule)".to_owned()
                } else {
                    rule.clone()
                })
                .or_default();
            match found.iter().find(covers) {
                Some(f) => {
                    score.hit += 1;
                    if f.rule != rule {
                        notes.push(format!("by {} instead of {rule}: {text}", f.rule));
                    }
                }
                None => {
                    score.missed += 1;
                    notes.push(format!("missed {rule}: {text}"));
                }
            }
        }
        for f in &found {
            let place = f.place.as_ref().unwrap();
            if !spans
                .iter()
                .any(|(s, e)| place.start < *e && *s < place.end)
            {
                scores.entry(f.rule.clone()).or_default().wrong += 1;
                notes.push(format!("wrong {}: {text}", f.rule));
            }
        }
    }
    (scores, notes)
}

#[test]
fn precision_and_recall_are_as_published() {
    let (scores, notes) = measure();
    let mut table = String::new();
    let mut all = Score::default();
    for (rule, s) in &scores {
        table += &format!(
            "{rule:<24} found {:>2}  missed {:>2}  wrong {:>2}\n",
            s.hit, s.missed, s.wrong
        );
        all = Score {
            hit: all.hit + s.hit,
            missed: all.missed + s.missed,
            wrong: all.wrong + s.wrong,
        };
    }
    let precision = f64::from(all.hit) / f64::from(all.hit + all.wrong);
    let recall = f64::from(all.hit) / f64::from(all.hit + all.missed);
    table += &format!("precision {precision:.3}  recall {recall:.3}\n");
    println!("{table}\n{}", notes.join("\n"));
    insta::assert_snapshot!("precision_and_recall", table);
    assert!(precision > 0.9 && recall > 0.85);
}

/// Files of other projects, read as plain lines: how often each rule speaks, and an example to look at.
#[test]
fn real_logs_are_looked_at_too() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real-logs");
    let root = std::env::var_os("TRIAGENT_REAL_LOGS").map_or(beside, Into::into);
    if !root.is_dir() {
        println!("skipped: no real logs at {}", root.display());
        return;
    }
    let (mut counts, mut bytes) = (BTreeMap::<String, (u32, String)>::new(), 0);
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            bytes += text.len();
            for f in find(&text) {
                let place = f.place.as_ref().unwrap();
                let entry = counts.entry(f.rule.clone()).or_default();
                entry.0 += 1;
                let near = text
                    .get(place.start.saturating_sub(40)..(place.end + 10).min(text.len()))
                    .unwrap_or("");
                entry.1 += &format!(
                    "   {}: {:?}\n",
                    path.file_name().unwrap().display(),
                    near.chars().take(140).collect::<String>()
                );
            }
        }
    }
    for (rule, (n, examples)) in &counts {
        println!(
            "{rule}: {n}\n{}",
            examples.lines().take(25).collect::<Vec<_>>().join("\n")
        );
    }
    println!("{bytes} bytes");
}
