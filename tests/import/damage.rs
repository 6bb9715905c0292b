//! Damaged files: what stands before the damage is kept, and the damage is told.

use super::seen::see_bytes;

const ROW: &str =
    r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]}"#;

#[test]
fn a_truncated_last_line_costs_only_itself() {
    let text = format!("{ROW}\n{ROW}\n{{\"messages\":[{{\"role\":\"us");
    let seen = see_bytes("a.jsonl", text.as_bytes());
    assert_eq!(seen.runs.len(), 2);
    assert_eq!(seen.report.skips, 1);
    assert_eq!(seen.report.skipped[0].line, 3);
    assert!(
        seen.report.skipped[0].reason.contains("incomplete"),
        "{:?}",
        seen.report.skipped
    );
}

#[test]
fn a_broken_line_in_the_middle_is_told_and_the_rest_goes_on() {
    let text = format!("{ROW}\n{{broken}}\n{ROW}\n");
    let seen = see_bytes("a.jsonl", text.as_bytes());
    assert_eq!(seen.runs.len(), 2);
    assert_eq!((seen.report.skips, seen.report.skipped[0].line), (1, 2));
}
