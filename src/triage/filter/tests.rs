//! The language on a page of cases, and what must hold for any filter.

use super::*;
use crate::domain::filter::{Compare, Condition, Feature, Field, Filter, Sort, Term};
use proptest::prelude::*;

fn is(field: Field, values: &[&str]) -> Condition {
    let values = values.iter().map(|v| (*v).to_owned()).collect();
    Condition::Is { field, values }
}

fn check(text: &str, terms: Vec<(bool, Condition)>, sort: Vec<Sort>) {
    let terms = terms
        .into_iter()
        .map(|(negated, condition)| Term { negated, condition })
        .collect();
    assert_eq!(
        parse_filter(text, Some("ann")),
        Ok(Filter { terms, sort }),
        "{text}"
    );
}

#[test]
fn reads_the_example_of_the_design() {
    check(
        r#"layer:index outcome:fail family:refund step.tool:search text:"旧政策" -labelled:me reward.result:0 has:secret sort:-steps"#,
        vec![
            (false, is(Field::Layer, &["index"])),
            (false, is(Field::Outcome, &["fail"])),
            (false, is(Field::Family, &["refund"])),
            (false, Condition::StepTool("search".into())),
            (false, Condition::Text("旧政策".into())),
            (true, Condition::Labelled(Some("ann".into()))),
            (
                false,
                Condition::Number {
                    field: Field::RewardResult,
                    compare: Compare::Equal,
                    value: "0".into(),
                },
            ),
            (false, Condition::Has(Feature::Secret)),
        ],
        vec![Sort {
            field: Field::Steps,
            descending: true,
        }],
    );
}

#[test]
fn reads_words_lists_quotes_and_comparisons() {
    check("", vec![], vec![]);
    check(
        "refund -\"old rule\"",
        vec![
            (false, Condition::Text("refund".into())),
            (true, Condition::Text("old rule".into())),
        ],
        vec![],
    );
    check(
        r#"family:refund,"price match""#,
        vec![(false, is(Field::Family, &["refund", "price match"]))],
        vec![],
    );
    check(
        "text:a,b",
        vec![(false, Condition::Text("a,b".into()))],
        vec![],
    );
    check(
        "layer:none",
        vec![(false, is(Field::Layer, &["none"]))],
        vec![],
    );
    check(
        "labelled:none",
        vec![(true, Condition::Labelled(None))],
        vec![],
    );
    check(
        "-labelled:none",
        vec![(false, Condition::Labelled(None))],
        vec![],
    );
    check(
        "steps:>=20",
        vec![(
            false,
            Condition::Number {
                field: Field::Steps,
                compare: Compare::AtLeast,
                value: "20".into(),
            },
        )],
        vec![],
    );
    check(
        "reward.result:none",
        vec![(false, is(Field::RewardResult, &["none"]))],
        vec![],
    );
    check(
        r#""a \"b\" \\ c""#,
        vec![(false, Condition::Text("a \"b\" \\ c".into()))],
        vec![],
    );
}

#[test]
fn errors_say_where_and_what_to_do() {
    let cases = [
        (
            "lyer:index",
            0,
            "unknown key `lyer`",
            "did you mean `layer`",
        ),
        (
            "a layer:indx",
            8,
            "`indx` is no layer",
            "did you mean `index`",
        ),
        (
            "outcome:failed",
            8,
            "`failed` is no outcome",
            "did you mean `fail`",
        ),
        (
            "has:secrets",
            4,
            "`has:` does not know `secrets`",
            "did you mean `secret`",
        ),
        (
            "steps:many",
            6,
            "`many` is no number for `steps`",
            "steps:>20",
        ),
        (
            "sort:-stps",
            5,
            "cannot sort by `stps`",
            "did you mean `steps`",
        ),
        ("layer:", 6, "a value is missing", "key:value"),
        ("family:a,", 9, "a value is missing", "key:none"),
        ("旧 text:\"abc", 7, "a quote that never closes", "closing"),
        ("http://x", 0, "unknown key `http`", "quote them"),
        ("has:error,secret", 10, "only one value", "repeat the key"),
        ("imported:today", 9, "only be sorted by", "sort:imported"),
    ];
    for (text, at, what, hint) in cases {
        let error = parse_filter(text, None).unwrap_err();
        assert_eq!(error.at, at, "{text}");
        assert!(error.what.contains(what), "{text}: {}", error.what);
        assert!(
            error.hint.as_deref().unwrap_or("").contains(hint),
            "{text}: {error}"
        );
    }
    assert!(
        parse_filter("labelled:me", None)
            .unwrap_err()
            .to_string()
            .contains("--reviewer")
    );
}

#[test]
fn completes_keys_and_values_in_place() {
    let known = |field: Field| match field {
        Field::Family => vec!["refund".to_owned(), "price match".to_owned()],
        _ => Vec::new(),
    };
    let done = |text: &str| {
        let c = complete_filter(text, text.chars().count(), &known);
        let words: Vec<String> = c.choices.iter().map(|c| c.insert.clone()).collect();
        (c.start, words)
    };
    assert_eq!(done("-lay"), (1, vec!["layer:".to_owned()]));
    assert_eq!(done("旧 layer:ind"), (8, vec!["index".to_owned()]));
    assert_eq!(
        done("family:refund,pri"),
        (14, vec!["\"price match\"".to_owned()])
    );
    assert_eq!(done("sort:-ste"), (5, vec!["-steps".to_owned()]));
    assert_eq!(done("nonsense:x").1, Vec::<String>::new());
    assert!(done("").1.len() > 20);
}

proptest! {
    #[test]
    fn any_text_gives_a_filter_or_an_error_inside_the_text(text in "\\PC{0,60}") {
        match parse_filter(&text, Some("me")) {
            Ok(filter) => prop_assert_eq!(parse_filter(&print_filter(&filter), Some("me")), Ok(filter)),
            Err(e) => prop_assert!(e.at + e.len <= text.chars().count() && !e.what.is_empty()),
        }
    }

    #[test]
    fn completion_never_leaves_the_line(text in "\\PC{0,40}", cursor in 0usize..60) {
        let c = complete_filter(&text, cursor, &|_| vec!["x y".to_owned()]);
        prop_assert!(c.start <= c.end && c.end <= text.chars().count());
    }
}
