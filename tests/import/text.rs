//! Text and encoding, each in its smallest input (the importers' first gotchas). Expected texts are read off the inputs.

use super::seen::{Seen, see_bytes};
use triagent::domain::{Owner, StepKind};

fn chat(content: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user"{content}}},{{"role":"assistant","content":"ok"}}]}}"#)
}

fn first_texts(seen: &Seen) -> Vec<String> {
    let user = seen.steps().filter(|s| s.owner == Owner::User);
    user.map(|s| s.text.clone()).collect()
}

/// Content is a string, a list of parts, a list of strings, one object, null, missing, or an empty list.
#[test]
fn content_comes_in_seven_shapes() {
    let cases: [(&str, &[&str]); 8] = [
        (r#","content":"a""#, &["a"]),
        (
            r#","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
            &["a", "b"],
        ),
        (r#","content":["a","b"]"#, &["a", "b"]),
        (r#","content":{"type":"text","text":"a"}"#, &["a"]),
        (r#","content":null"#, &[""]),
        ("", &[""]),
        (r#","content":[]"#, &[""]),
        // AgentDojo's parts carry the text under `content`.
        (r#","content":[{"type":"text","content":"a"}]"#, &["a"]),
    ];
    for (content, want) in cases {
        let seen = see_bytes("a.jsonl", chat(content).as_bytes());
        assert_eq!(first_texts(&seen), want, "{content}");
        assert_eq!(seen.report.skips, 0, "{content}");
    }
}

/// What terminals choke on is kept as it is; cleaning is for display.
#[test]
fn hostile_characters_are_stored_unchanged() {
    let text = "\u{1b}[31mred\r50%\r100%\0 \u{202e}bidi\u{2066} zero\u{200b}width \u{7f}";
    let quoted = serde_json::to_string(text).unwrap();
    let seen = see_bytes(
        "a.jsonl",
        chat(&format!(r#","content":{quoted}"#)).as_bytes(),
    );
    assert_eq!(first_texts(&seen), [text]);
}

/// `\ud83d` alone is legal JSON text and not legal Unicode: it becomes U+FFFD and is counted. A pair is one character.
#[test]
fn a_lone_surrogate_is_replaced_and_counted() {
    let seen = see_bytes(
        "a.jsonl",
        chat(r#","content":"a\ud83db \ud83d\ude00 \udc00""#).as_bytes(),
    );
    assert_eq!(first_texts(&seen), ["a\u{fffd}b \u{1f600} \u{fffd}"]);
    let counted: u64 = seen.report.not_understood.values().sum();
    assert_eq!(counted, 2, "{:?}", seen.report.not_understood);
}

/// Bytes that are not UTF-8 are told too.
#[test]
fn bytes_that_are_no_utf8_are_replaced_and_counted() {
    let mut bytes = chat(r#","content":"aXb""#).into_bytes();
    let at = bytes.iter().position(|&b| b == b'X').unwrap();
    bytes[at] = 0xFF;
    let seen = see_bytes("a.jsonl", &bytes);
    assert_eq!(first_texts(&seen), ["a\u{fffd}b"]);
    assert!(!seen.report.not_understood.is_empty());
}

#[test]
fn a_line_of_200_000_characters_stays_whole() {
    let long = "x".repeat(200_000);
    let seen = see_bytes(
        "a.jsonl",
        chat(&format!(r#","content":"{long}""#)).as_bytes(),
    );
    assert_eq!(first_texts(&seen), [long]);
}

/// Pictures never become text: a short description stands for them, with type and size.
#[test]
fn base64_of_pictures_becomes_a_description() {
    let data = "QUJD".repeat(300);
    let openai = format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}"}}}}]}},{{"role":"assistant","content":"ok"}}]}}"#
    );
    let anthropic = format!(
        r#"{{"messages":[{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}},{{"role":"assistant","content":"ok"}}]}}"#
    );
    let gemini = format!(
        r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"1","type":"user","content":[{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}]}},{{"id":"2","type":"gemini","content":"ok"}}]}}"#
    );
    for text in [openai, anthropic, gemini] {
        let seen = see_bytes("a.json", text.as_bytes());
        let media: Vec<_> = seen.steps().filter(|s| s.kind == StepKind::Media).collect();
        assert_eq!(media.len(), 1, "{text:.60}");
        let shown = &media[0].text;
        assert!(shown.len() < 100, "{shown:.100}");
        assert!(
            shown.contains("image/png") && shown.contains("1200 bytes"),
            "{shown}"
        );
    }
}

/// Base64 that a tool printed is what the model saw: it stays.
#[test]
fn bare_base64_of_a_tool_stays() {
    let data = "QUJD".repeat(300);
    let row = format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"cat","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c","content":"{data}"}}]}}"#
    );
    let seen = see_bytes("a.jsonl", row.as_bytes());
    assert_eq!(seen.steps().last().unwrap().text, data);
}

/// A byte order mark, CRLF, blank lines, and a comma behind the last row or element.
#[test]
fn marks_line_ends_blank_lines_and_trailing_commas_do_no_harm() {
    let row = chat(r#","content":"a""#);
    let cases = [
        format!("\u{feff}{row}\n"),
        format!("{row}\r\n{row}\r\n"),
        format!("\n\n{row}\n   \n{row}\n\n"),
        format!("{row},\n{row},\n"),
        format!("[{row},\n{row},\n]"),
        format!("\u{feff}[{row}]"),
    ];
    for text in cases {
        let seen = see_bytes("a.jsonl", text.as_bytes());
        let want = text.matches("messages").count();
        assert_eq!(seen.runs.len(), want, "{text:?}");
        assert_eq!(
            seen.report.skips, 0,
            "{:?} of {text:?}",
            seen.report.skipped
        );
    }
}

/// UTF-16 in both orders, with and without a mark.
#[test]
fn utf16_is_read_and_told() {
    let row = chat(r#","content":"gr\u00fc\u00df \ud83d\ude00 日本""#);
    let units: Vec<u16> = row.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|u| u.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|u| u.to_be_bytes()).collect();
    let marked = |mark: [u8; 2], body: &[u8]| [&mark[..], body].concat();
    let cases = [
        marked([0xFF, 0xFE], &little),
        marked([0xFE, 0xFF], &big),
        little.clone(),
        big.clone(),
    ];
    for bytes in cases {
        let seen = see_bytes("a.jsonl", &bytes);
        assert_eq!(first_texts(&seen), ["grüß 😀 日本"]);
        assert!(seen.report.notes.iter().any(|n| n.contains("UTF-16")));
    }
}

/// Gzip or zstd around any format, and around UTF-16 inside.
#[test]
fn packed_files_are_unpacked_whatever_is_inside() {
    let row = chat(r#","content":"a""#);
    let utf16: Vec<u8> = row.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for inside in [row.as_bytes(), &utf16] {
        let zstd = zstd::encode_all(inside, 1).unwrap();
        for packed in [super::seen::gzip(inside), zstd] {
            let seen = see_bytes("a.jsonl.packed", &packed);
            assert_eq!(first_texts(&seen), ["a"]);
            assert!(seen.report.notes[0].contains("unpacked"));
        }
    }
}
