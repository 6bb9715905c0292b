//! `triagent report`: the page says what the workspace says, and nothing that may not leave it.

use super::desk::{Desk, repository};

/// The sample desk: its logs, registers, and a few labels of two people.
fn labelled() -> Desk {
    let desk = Desk::new();
    let path = |name: &str| repository("sample-logs").join(name).display().to_string();
    desk.run(&["import", &path("runs")]);
    desk.run(&["docs", "import", &path("documents.jsonl")]).ok();
    desk.run(&["tasks", "import", &path("tasks.jsonl")]).ok();
    for (run, layer, who) in [
        ("four-stale-citation", "index", "ann"),
        ("four-stale-citation", "model", "bob"),
    ] {
        desk.run(&["label", run, "--layer", layer, "--reviewer", who])
            .ok();
    }
    // An invented key, so that it can be looked for.
    let claim = "dates are asked for; key sk-proj-Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp";
    let before = ["--before", "prompt=desk-3", "--after", "prompt=desk-4"];
    let add = ["change", "add", "prompt", "p4", "--claim", claim];
    desk.run(&[&add[..], &before[..]].concat()).ok();
    desk
}

#[test]
fn the_page_tells_what_advice_tells_and_hides_secrets() {
    let desk = labelled();
    let row = desk
        .run(&["report", "--out", "page.html", "--json"])
        .ok()
        .row();
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert_eq!(row["bytes"], page.len());
    let runs = desk.run(&["list", "runs", "--json"]).rows().len();
    assert_eq!(row["runs"], runs);
    let advice = desk.run(&["advise", "--json"]).rows();
    assert_eq!(row["cohorts"], advice.len());
    let escaped = |text: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        text.replace('>', "&gt;").replace('\'', "&#39;")
    };
    for one in &advice {
        let headline = one["headline"].as_str().unwrap();
        assert!(page.contains(&escaped(headline)), "{headline}");
    }
    assert!(page.contains("dates are asked for") && !page.contains("Zz9Yy8Xx7"));
    assert!(page.contains("1 run on which reviewers differ"));
    // Nothing is asked of anywhere.
    assert!(
        !page.contains("http") || page.contains("http-equiv") && page.matches("http").count() == 1
    );
}

#[test]
fn the_name_of_the_workspace_is_masked_too() {
    let desk = Desk::new();
    let logs = repository("sample-logs").join("runs").display().to_string();
    let key = "sk-proj-Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp";
    let workspace = format!("desk {key} x.db");
    desk.run(&["-w", &workspace, "import", &logs]);
    desk.run(&["-w", &workspace, "report", "--out", "page.html"])
        .ok();
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.contains("x.db") && !page.contains("Zz9Yy8Xx7"));
}

#[test]
fn the_same_workspace_gives_the_same_page_and_a_file_is_not_overwritten() {
    let desk = labelled();
    let page = |out: &str| {
        desk.run(&["report", "--out", out]).ok();
        let text = std::fs::read_to_string(desk.path(out)).unwrap();
        // The time of making is the one thing that moves on.
        let (head, tail) = text.split_once("<p class=\"soft\">").unwrap();
        format!("{head}{}", tail.split_once("</p>").unwrap().1)
    };
    assert_eq!(page("one.html"), page("two.html"));
    let again = desk.run(&["report", "--out", "one.html"]).ended(1);
    assert!(again.err.contains("--force"), "{}", again.err);
    desk.run(&["report", "--out", "one.html", "--force"]).ok();
    let piped = desk.run(&["report", "--out", "-"]).ok();
    assert!(piped.out.starts_with("<!doctype html>"));
}

#[test]
fn an_empty_workspace_gives_a_page_that_says_what_to_do() {
    let desk = Desk::new();
    let log = desk.write("none.jsonl", "");
    desk.run(&["import", log.to_str().unwrap()]);
    let page = desk.run(&["report", "--out", "-"]).ok().out;
    assert!(page.contains("triagent import"), "{page}");
}
