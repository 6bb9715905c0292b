//! The demo walks the whole path from any folder, and what it finds is what was written down beside the logs.

use super::desk::{Desk, repository};
use serde_json::Value;

fn expected() -> Value {
    let text = std::fs::read_to_string(repository("sample-logs/EXPECTED.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn s55_the_demo_walks_the_whole_path_and_leaves_files_that_can_be_read() {
    let desk = Desk::new();
    let rows = desk
        .run(&["demo", "--headless", "--out", "out", "--json"])
        .ok()
        .rows();
    let of = |name: &str| {
        let row = rows.iter().find(|r| r["stage"] == name);
        row.unwrap_or_else(|| panic!("no stage {name}"))["result"].clone()
    };
    // The answers of sample-logs/EXPECTED.json, which was written before any program looked.
    let expected = expected();
    let runs = expected["runs"].as_object().unwrap();
    let with = |key: &str| runs.values().filter(|r| !r[key].is_null()).count();
    let evidence = of("evidence");
    assert_eq!(evidence["known"], with("evidence_status"));
    assert_eq!(evidence["agree"], evidence["known"]);
    assert_eq!(of("label")["labelled"], with("layer"));
    // This run never got the valid version, and the proxy copies what it is given (assets/proxy/CARD.md).
    let probe = of("probe");
    let put_in = &probe["effects"].as_array().unwrap()[0];
    assert!(
        put_in["variant"] == "evidence inserted" && put_in["effect"].as_f64().unwrap() > 1.0,
        "{probe}"
    );
    // S-67, S-68.
    let graders = of("audit")["graders"].clone();
    assert!(graders[0]["grader"] == "source-marker" && graders[0]["fooled"].as_u64().unwrap() > 0);
    assert!(graders[1]["grader"] == "policy-evidence" && graders[1]["fooled"] == 0);
    let advice = of("advise");
    let first = &advice["cohorts"][0];
    assert_eq!(first["headline"], expected["teaching"]["headline"]);
    assert_eq!(first["rule"], expected["teaching"]["rule"]);
    for set in of("export")["sets"].as_array().unwrap() {
        let folder = desk.path(set["folder"].as_str().unwrap());
        let text = std::fs::read_to_string(folder.join("train.jsonl")).unwrap();
        assert_eq!(set["rows"], text.lines().count());
        assert!(text.lines().count() > 0, "{set}");
        for line in text.lines() {
            serde_json::from_str::<Value>(line).unwrap();
        }
        assert!(folder.join("manifest.json").is_file());
    }
    // Nothing stays behind but what was asked for.
    let left: Vec<_> = std::fs::read_dir(desk.path(""))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["out"]);
}
