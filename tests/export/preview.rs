//! A preview shows the very lines of the export, and shades what the loss does not count.

use super::fixtures::*;
use triagent::domain::*;
use triagent::export::*;

#[test]
fn a_preview_is_the_beginning_of_the_export_in_every_format() {
    let runs: Vec<RunInput> = four().into_iter().chain(wide()).collect();
    for format in Format::ALL.iter().copied() {
        let shown = preview(
            input(&runs, &pairs(&runs)),
            &Options::new(format),
            2,
            &Progress::default(),
        )
        .unwrap();
        let out = export(format, &runs, &pairs(&runs));
        for file in ["train.jsonl", "train-last-turn.jsonl"] {
            let lines = out.text(file);
            let shown: Vec<&str> = shown
                .rows
                .iter()
                .filter(|r| r.file == file)
                .map(|r| r.line.as_str())
                .collect();
            let written: Vec<&str> = lines.lines().take(shown.len()).collect();
            assert_eq!(shown, written, "{format}");
        }
        if !matches!(format, Format::Atif | Format::Parquet) {
            assert_eq!(shown.rows.len(), 2, "{format}");
        }
    }
}

fn shading(row: &PreviewRow) -> Vec<(String, bool)> {
    row.segments
        .iter()
        .flatten()
        .map(|s| (s.owner.clone(), s.trained))
        .collect()
}

#[test]
fn only_the_models_own_words_are_counted() {
    let shown = preview(
        input(&four(), &[]),
        &Options::new(Format::TrlSft),
        2,
        &Progress::default(),
    )
    .unwrap();
    let expect = |owners: &[(&str, bool)]| {
        owners
            .iter()
            .map(|(o, t)| ((*o).to_owned(), *t))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shading(&shown.rows[0]),
        expect(&[("system", false), ("user", false), ("model", true)])
    );
    // The first decision is a condition of the second.
    let second = expect(&[
        ("system", false),
        ("user", false),
        ("model", false),
        ("tool", false),
        ("model", true),
    ]);
    assert_eq!(shading(&shown.rows[1]), second);
    // Whole conversations count both.
    let talks = Options {
        shape: Shape::Messages,
        ..Options::new(Format::TrlSft)
    };
    let shown = preview(input(&four(), &[]), &talks, 1, &Progress::default()).unwrap();
    let both = expect(&[
        ("system", false),
        ("user", false),
        ("model", true),
        ("tool", false),
        ("model", true),
    ]);
    assert_eq!(shading(&shown.rows[0]), both);
}

#[test]
fn what_the_harness_put_in_is_shown_as_its_own() {
    let story = Story::new("r", "t").user("q").step(
        Owner::Runtime,
        StepKind::Text,
        Role::User,
        "reminder: cite",
    );
    let run = story.says("Which year?").passes();
    let shown = preview(
        input(&[run], &[]),
        &Options::new(Format::TrlSft),
        1,
        &Progress::default(),
    )
    .unwrap();
    let owners: Vec<String> = shading(&shown.rows[0])
        .into_iter()
        .map(|(o, _)| o)
        .collect();
    assert_eq!(owners, ["user", "runtime", "model"]);
}

#[test]
fn a_pair_has_two_sides_and_tokens_where_the_model_is_at_hand() {
    let runs = four();
    let shown = preview(
        input(&runs, &pairs(&runs)),
        &Options::new(Format::TrlDpo),
        1,
        &Progress::default(),
    )
    .unwrap();
    assert_eq!(shown.rows[0].segments.len(), 2);
    let token = |text: &str, trained| Segment {
        text: text.to_owned(),
        owner: "model".to_owned(),
        trained,
    };
    let measure = |_: &[ChatMessage], target: &ChatMessage, _: &[serde_json::Value]| {
        let said = target.content.as_deref().unwrap_or("call");
        let segments = vec![token(said, true), token("<|im_end|>", true)];
        Ok(Measured {
            segments,
            ..Measured::default()
        })
    };
    let target = Some(Target {
        has_generation_marks: true,
        measure: &measure,
    });
    let options = Options {
        target,
        ..Options::new(Format::TrlDpo)
    };
    let shown = preview(
        input(&runs, &pairs(&runs)),
        &options,
        1,
        &Progress::default(),
    )
    .unwrap();
    let trained = |side: usize| {
        let side = shown.rows[0].segments[side].iter().filter(|s| s.trained);
        side.map(|s| s.text.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(trained(0), ["上限为 600 元/晚 [T-7 v3]。", "<|im_end|>"]);
    assert_eq!(trained(1), ["上限为 500 元/晚 [T-7 v2]。", "<|im_end|>"]);
}

#[test]
fn a_preview_of_everything_tells_what_is_closed_and_what_stays_out() {
    let runs = vec![four().remove(0), four().remove(1)];
    let shown = preview(
        input(&runs, &[]),
        &Options::new(Format::TrlSft),
        100,
        &Progress::default(),
    )
    .unwrap();
    let said = &shown.manifest;
    assert_eq!(
        said.blocked.iter().map(|b| b.gate).collect::<Vec<_>>(),
        ["S-38"]
    );
    assert_eq!(said.left_out.len(), 1);
    assert!(!said.acceptable_for_training);
}
