//! Rules, rows, thresholds and facts as data.

use super::*;

#[test]
fn s48_three_lists_and_no_shared_checklist() {
    let rules = Rules::embedded().unwrap();
    let of = |list: &str| rules.gates.iter().filter(|g| g.list == list).count();
    assert_eq!((of("SFT"), of("DPO"), of("RL")), (6, 10, 12));
}

#[test]
fn every_refusal_says_what_is_missing_and_how_to_get_it() {
    let book = ask(&failed(&[(Layer::Index, 10), (Layer::Model, 10)]));
    for r in &book.advice.refusals {
        assert!(!r.value.is_empty() && !r.threshold.is_empty(), "{r:?}");
        assert!(!r.missing.is_empty() && !r.how.is_empty(), "{r:?}");
    }
    // SCIENCE's example of a refusal: R3 0% of action tokens (need 99%).
    let r3 = book
        .advice
        .refusals
        .iter()
        .find(|r| r.gate == "R3")
        .unwrap();
    assert_eq!(
        (r3.value.as_str(), r3.threshold.as_str()),
        ("0% of action tokens", ">= 99%")
    );
}

#[test]
fn s06_to_s10_each_recommendation_shows_its_row_with_slots() {
    let rows = Rules::embedded().unwrap().rows;
    let ids: Vec<&str> = rows.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["runtime", "prompt", "SFT", "DPO", "RL"]);
    let book = ask(&failed(&[(Layer::Index, 10), (Layer::Model, 10)]));
    assert_eq!(book.page.row, "runtime");
    let asks: Vec<&str> = book.page.evidence.iter().map(|e| e.asks.as_str()).collect();
    assert_eq!(
        asks,
        [
            "the document is visible",
            "its version is valid",
            "the result is correct"
        ]
    );
    assert!(book.page.rollback.contains("trigger"));
    assert!(
        book.page
            .evidence
            .iter()
            .all(|e| !e.shown.is_empty() && !e.shown.contains("not known here"))
    );
}

#[test]
fn thresholds_can_be_overridden_and_are_recorded() {
    let table: toml::Table = toml::from_str("G1a = 5\nG1b = 0.1").unwrap();
    let rules = Rules::embedded().unwrap().with_overrides(&table).unwrap();
    let book = advise(&failed(&[(Layer::Model, 10)]), &rules);
    assert_eq!(state(&book, "G1a"), GateState::Pass);
    assert_eq!(book.thresholds.get("G1a"), Some(&5.0));
    let wrong: toml::Table = toml::from_str("G1x = 5").unwrap();
    let error = Rules::embedded()
        .unwrap()
        .with_overrides(&wrong)
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean"), "{error}");
    let text: toml::Table = toml::from_str("G1a = \"many\"").unwrap();
    assert!(Rules::embedded().unwrap().with_overrides(&text).is_err());
}

#[test]
fn facts_have_names_and_an_override_travels_with_the_advice() {
    let rules = Rules::embedded().unwrap();
    assert_eq!(rules.check_fact("environment"), Ok(()));
    assert!(
        rules
            .check_fact("enviroment")
            .unwrap_err()
            .to_string()
            .contains("`environment`")
    );
    let mut facts = failed(&[(Layer::Index, 10), (Layer::Model, 10)]);
    facts.overridden = Some(OverrideFact {
        reviewer: "lea".into(),
        headline: "SFT".into(),
        reason: "pilot".into(),
    });
    let json = serde_json::to_value(ask(&facts)).unwrap();
    assert_eq!(json["override"]["reviewer"], "lea");
    assert_eq!(json["headline"], "runtime: index");
}

#[test]
fn advice_repeats_byte_for_byte_from_stored_facts() {
    let facts = failed(&[(Layer::Index, 10), (Layer::Model, 10)]);
    let stored = serde_json::to_string(&facts).unwrap();
    let again: CohortFacts = serde_json::from_str(&stored).unwrap();
    let bytes = |f: &CohortFacts| serde_json::to_string(&ask(f)).unwrap();
    assert_eq!(bytes(&facts), bytes(&again));
}

#[test]
fn thresholds_read_as_people_write_them() {
    let book = ask(&failed(&[(Layer::Index, 10)]));
    let of = |id: &str| {
        book.advice
            .gates
            .iter()
            .find(|g| g.id == id)
            .unwrap()
            .threshold
            .clone()
    };
    assert_eq!(
        [of("R1"), of("D1"), of("G6"), of("G1a")],
        ["yes", "100%", "0", ">= 20"]
    );
}

#[test]
fn s05_sub_causes_are_counted_with_their_runs() {
    let mut facts = failed(&[(Layer::Index, 3), (Layer::Model, 1)]);
    facts.labels[0].cause = Some("index-not-refreshed".into());
    facts.labels[1].cause = Some("index-not-refreshed".into());
    let book = ask(&facts);
    let index = &book.causes[&Layer::Index];
    assert_eq!(
        (index["index-not-refreshed"].len(), index[""].len()),
        (2, 1)
    );
}
