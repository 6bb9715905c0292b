//! Damaged files: what stands before the damage is kept, and the damage is told.

use super::seen::{see, see_bytes};
use std::ops::ControlFlow;
use std::path::PathBuf;
use triagent::domain::{Ending, Item, Progress, Sink};
use triagent::import::{Unit, read};

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

/// Brackets 10,000 deep would exhaust the stack: the line is told, the rows around it are read.
#[test]
fn brackets_ten_thousand_deep_cost_only_their_line() {
    let deep = format!(
        "{{\"messages\":{}{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let objects = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    for hostile in [&deep, &objects] {
        let seen = see_bytes("a.jsonl", format!("{ROW}\n{hostile}\n{ROW}\n").as_bytes());
        assert_eq!(seen.runs.len(), 2);
        let told = &seen.report.skipped[0];
        assert_eq!(told.line, 2);
        assert!(told.reason.contains("deep"), "{}", told.reason);
    }
    // Alone, and as one document.
    for hostile in [deep, "[".repeat(10_000), "{\"a\":".repeat(10_000)] {
        let seen = see_bytes("a.json", hostile.as_bytes());
        assert_eq!(seen.runs.len(), 0);
        assert!(seen.report.skips > 0);
    }
}

/// 13 million characters without a line end: kept whole, for they are below the limit of one value.
#[test]
fn a_line_of_13_million_characters_is_read() {
    let long = "y".repeat(13_000_000);
    let row = ROW.replace("hi", &long);
    let seen = see_bytes("a.jsonl", format!("{row}\n{ROW}\n").as_bytes());
    assert_eq!(seen.runs.len(), 2);
    assert_eq!(seen.runs[0].steps[0].text.len(), 13_000_000);
}

/// A line over the limit is told with its size and line, and the next one read.
#[test]
fn a_line_over_the_limit_costs_only_itself() {
    let row = ROW.replace("hi", &"z".repeat(65 << 20));
    let seen = see_bytes("a.jsonl", format!("{ROW}\n{row}\n{ROW}\n").as_bytes());
    assert_eq!(seen.runs.len(), 2);
    let told = &seen.report.skipped[0];
    assert_eq!(told.line, 2);
    assert!(told.reason.contains("limit"), "{}", told.reason);
}

/// Nothing, bytes that are no text, text that is no JSON, archives of something else: each is named.
#[test]
fn files_that_hold_no_log_say_what_they_are() {
    let binary: Vec<u8> = (0..=255).cycle().skip(1).take(4096).collect();
    let other = super::seen::zip_stored(&[("readme.txt", b"hello")]);
    let cases: [(&[u8], &str); 7] = [
        (b"", "empty"),
        (b"  \n\n ", "empty"),
        (&binary, "binary"),
        (b"hello world\nhow are you\n", "no JSON"),
        (&other, "zip"),
        (b"SQLite format 3\0\x10\0", "SQLite"),
        (b"PAR1 this is no table", "parquet"),
    ];
    for (bytes, word) in cases {
        let seen = see_bytes("file", bytes);
        assert_eq!(seen.runs.len(), 0);
        let told = seen
            .report
            .skipped
            .first()
            .map_or("", |s| s.reason.as_str());
        assert!(
            told.to_lowercase().contains(&word.to_lowercase()),
            "{told:?} does not say {word:?}"
        );
    }
}

/// A packed file that unpacks to a multiple of what logs do is a bomb, and so is such a member of an archive.
#[test]
fn bombs_are_refused() {
    let zeros = vec![b' '; 9 << 20];
    let seen = see_bytes("a.jsonl.gz", &super::seen::gzip(&zeros));
    assert_eq!(seen.runs.len(), 0);
    assert!(
        seen.report.skipped[0].reason.contains("bomb"),
        "{:?}",
        seen.report.skipped
    );
    let header = br#"{"version":2,"status":"success","eval":{"task":"t","model":"m"}}"#;
    let zip =
        super::seen::zip_deflated(&[("header.json", header), ("samples/1_epoch_1.json", &zeros)]);
    let seen = see_bytes("a.eval", &zip);
    assert_eq!(seen.runs.len(), 0);
    assert!(
        seen.report
            .skipped
            .iter()
            .any(|s| s.reason.contains("bomb")),
        "{:?}",
        seen.report.skipped
    );
}

/// A packed file that breaks off gives what stands before, and tells the damage.
#[test]
fn a_gzip_that_breaks_off_gives_its_rows_and_is_told() {
    let rows: String = (0..2_000)
        .map(|i| format!("{}\n", ROW.replace("hi", &format!("{:x}", i * 7_919_u64))))
        .collect();
    let whole = super::seen::gzip(rows.as_bytes());
    let seen = see_bytes("a.jsonl.gz", &whole[..whole.len() / 2]);
    assert!(seen.runs.len() > 100, "{}", seen.runs.len());
    let told = seen.report.skipped.iter().find(|s| s.line == 0);
    assert!(
        told.is_some_and(|s| s.reason.contains("damaged")),
        "{:?}",
        seen.report.skipped
    );
}

/// An archive whose directory is gone, because its writer died, is read by its members' own headers.
#[test]
fn an_archive_without_its_directory_is_read() {
    let sample = br#"{"id":1,"epoch":1,"input":"q","target":"","messages":[{"role":"user","content":"q","source":"input"}],"scores":{}}"#;
    let start = br#"{"version":2,"eval":{"task":"t","model":"m"}}"#;
    let zip = super::seen::zip_stored(&[
        ("_journal/start.json", start),
        ("samples/1_epoch_1.json", sample),
    ]);
    let at = zip.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let seen = see_bytes("a.eval", &zip[..at]);
    assert_eq!(seen.runs.len(), 1, "{:?}", seen.report);
    assert!(
        seen.report.notes.iter().any(|n| n.contains("crashed")),
        "{:?}",
        seen.report.notes
    );
}

/// Rows that no format knows are counted by name, never dropped.
#[test]
fn unknown_rows_and_fields_are_counted() {
    let text = format!(
        "{}\n{}\n{}\n",
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"brand-new","uuid":"v","sessionId":"s"}"#,
        r#"{"type":"brand-new","uuid":"w","sessionId":"s"}"#,
    );
    let seen = see_bytes("s.jsonl", text.as_bytes());
    assert_eq!(seen.report.not_understood["row type \"brand-new\""], 2);
    let row = ROW.replacen('{', "{\"mood\":1,", 1);
    let seen = see_bytes("a.jsonl", row.as_bytes());
    assert_eq!(seen.report.not_understood["field row.mood"], 1);
    assert_eq!(seen.runs[0].head.extra["mood"], 1);
}

/// A table of 300 kB whose one row names one text of its dictionary two thousand times would make a line of 200 MB; a
/// million times, of 100 GB.
#[test]
fn a_table_row_that_repeats_its_dictionary_is_refused() {
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    let table = |count: usize, len: usize| {
        let schema = "message m { repeated binary texts (STRING); }";
        let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
        let settings = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, schema.into(), settings.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts = vec![ByteArray::from("y".repeat(len).into_bytes()); count];
        let (def, mut rep) = (vec![1; count], vec![1; count]);
        rep[0] = 0;
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, Some(&def), Some(&rep)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    };
    let small = see_bytes("a.parquet", &table(3, 5));
    assert!(
        small.report.reason.contains("texts"),
        "its rows are read: {:?}",
        small.report
    );
    let bytes = table(2_000, 100_000);
    assert!(bytes.len() < 300_000, "{}", bytes.len());
    let seen = see_bytes("a.parquet", &bytes);
    let told = &seen.report.skipped[0].reason;
    assert!(told.contains("a row is larger than the limit"), "{told}");
}

/// UTF-16 inside a gzip that breaks off: the damage is that of the gzip, and both wrappings are told.
#[test]
fn damage_is_told_through_two_wrappings() {
    let rows: String = (0..2_000)
        .map(|i| format!("{}\n", ROW.replace("hi", &format!("{:x}", i * 7_919_u64))))
        .collect();
    let utf16: Vec<u8> = rows.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let whole = super::seen::gzip(&utf16);
    let seen = see_bytes("a.jsonl.gz", &whole[..whole.len() / 2]);
    assert!(seen.runs.len() > 100, "{}", seen.runs.len());
    let told = seen.report.skipped.iter().find(|s| s.line == 0);
    assert!(told.is_some_and(|s| s.reason.contains("damaged")));
    for word in ["gzip", "UTF-16"] {
        assert!(seen.report.notes.iter().any(|n| n.contains(word)));
    }
}

/// The largest number that an event's file can bear.
#[test]
fn the_last_possible_event_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    std::fs::create_dir(&events).unwrap();
    let event = r#"{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#;
    std::fs::write(events.join(format!("event-{}.json", u64::MAX)), event).unwrap();
    let found = triagent::import::discover(&[folder.path().to_owned()]);
    let seen = super::seen::see_unit(&found.units[0], None);
    assert_eq!(seen.lines(), ["user text hi"]);
}

/// Takes the file away as soon as a run begins, as a disk that fails does.
struct Failing(PathBuf, Vec<Item>);

impl Sink for Failing {
    fn put(&mut self, item: Item) -> ControlFlow<()> {
        if matches!(item, Item::Begin(_)) {
            std::fs::remove_file(&self.0).unwrap();
        }
        self.1.push(item);
        ControlFlow::Continue(())
    }
}

/// A run that the disk cuts off keeps what was known of it.
#[test]
fn a_run_that_the_disk_cuts_off_keeps_its_head() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    // More than is kept in memory.
    let text = "y".repeat(9 << 20);
    let row = format!(
        r#"{{"type":"text","timestamp":1,"sessionID":"ses_1","part":{{"type":"text","text":"{text}","messageID":"m"}}}}"#
    );
    std::fs::write(&path, row).unwrap();
    let mut sink = Failing(path.clone(), Vec::new());
    let report = read(&Unit::file(&path), None, &mut sink, &Progress::default());
    assert_eq!((report.runs, report.skips), (1, 1), "{report:?}");
    let ends = sink.1.iter().filter_map(|item| match item {
        Item::End(head) => Some((head.id.as_str(), head.ending, head.harness.name.as_deref())),
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends, [("ses_1", Ending::Abrupt, Some("opencode"))]);
    assert!(!path.exists() && see(&path).runs.is_empty());
}
