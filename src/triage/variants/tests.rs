//! Edits, leaks, placebos and plans on the policy desk.

use super::*;
use crate::domain::{ChatMessage, Document, EvidenceStatus, Role};
use crate::triage::evidence::{Evidence, SpanFound};
use crate::triage::probe::{Placement, Variant};
use serde_json::json;

fn context() -> Context {
    let mut tool = ChatMessage::text(Role::Tool, "hotel-cap v1: Employees: up to 120 EUR.");
    tool.tool_call_id = Some("c1".into());
    Context {
        messages: vec![
            ChatMessage::text(Role::System, "You are a desk."),
            ChatMessage::text(Role::User, "Hotel cap?"),
            ChatMessage {
                content: None,
                ..ChatMessage::text(Role::Assistant, "")
            },
            tool,
        ],
        tools: ["search", "guests"]
            .map(|n| {
                json!({"type": "function", "function": {"name": n, "description": "old",
                "parameters": {"properties": {"q": {"type": "string"}}}}})
            })
            .to_vec(),
    }
}

fn contents(context: &Context) -> Vec<String> {
    context
        .messages
        .iter()
        .map(|m| m.content.clone().unwrap_or_default())
        .collect()
}

#[test]
fn edits_do_what_they_say() {
    let base = context();
    let insert = Edit::InsertText { text: "DOC".into() };
    let at = |p| contents(&apply_edit(&base, &insert, p).unwrap());
    assert_eq!(at(Placement::Start)[0], "DOC\nYou are a desk.");
    assert_eq!(
        at(Placement::Natural)[3],
        "hotel-cap v1: Employees: up to 120 EUR.\nDOC"
    );
    let remove = Edit::RemoveText {
        message: 3,
        text: "Employees: up to 120 EUR.".into(),
    };
    assert_eq!(
        contents(&apply_edit(&base, &remove, Placement::Natural).unwrap())[3],
        "hotel-cap v1: "
    );
    let moved = Edit::MoveText {
        message: 3,
        text: "Employees: up to 120 EUR.".into(),
    };
    assert!(
        contents(&apply_edit(&base, &moved, Placement::Start).unwrap())[0].starts_with("Employees")
    );
    let swap = Edit::ReplaceText {
        message: 3,
        edits: vec![TextEdit {
            find: "v1".into(),
            put: "v1 (ended)".into(),
        }],
    };
    assert!(
        contents(&apply_edit(&base, &swap, Placement::Natural).unwrap())[3].contains("v1 (ended)")
    );
    let tool = Edit::ReplaceTool {
        edits: vec![ToolEdit {
            tool: "guests".into(),
            description: "new".into(),
            arguments: [("q".into(), "a name".into())].into(),
        }],
    };
    let changed = apply_edit(&base, &tool, Placement::Start).unwrap();
    assert_eq!(changed.tools[0]["function"]["description"], "new");
    assert_eq!(
        changed.tools[0]["function"]["parameters"]["properties"]["q"]["description"],
        "a name"
    );
}

#[test]
fn several_tools_are_rewritten_and_moved_together() {
    let names = |placement| {
        let edits = ["guests", "search"].map(|tool| ToolEdit {
            tool: tool.into(),
            description: "new".into(),
            ..ToolEdit::default()
        });
        let mut base = context();
        base.tools
            .insert(1, json!({"name": "rooms", "description": "old"}));
        let edit = Edit::ReplaceTool {
            edits: edits.to_vec(),
        };
        let changed = apply_edit(&base, &edit, placement).unwrap();
        let name = |t: &serde_json::Value| {
            t.pointer("/function/name")
                .unwrap_or(&t["name"])
                .as_str()
                .unwrap()
                .to_owned()
        };
        changed.tools.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(Placement::Start), ["guests", "search", "rooms"]);
    assert_eq!(names(Placement::Natural), ["search", "rooms", "guests"]);
    assert_eq!(names(Placement::End), ["rooms", "guests", "search"]);
}

#[test]
fn edits_that_do_not_apply_say_so() {
    let base = context();
    let no = |e: Edit| apply_edit(&base, &e, Placement::Natural).unwrap_err();
    assert_eq!(
        no(Edit::RemoveText {
            message: 9,
            text: "x".into()
        }),
        EditError::NoMessage(9)
    );
    assert_eq!(
        no(Edit::RemoveText {
            message: 3,
            text: "E".into()
        }),
        EditError::NotOnce("E".into(), 2, 3)
    );
    let tool = Edit::ReplaceTool {
        edits: vec![ToolEdit {
            tool: "nope".into(),
            ..ToolEdit::default()
        }],
    };
    assert_eq!(no(tool), EditError::NoTool("nope".into()));
}

#[test]
fn eight_shared_words_are_a_leak_unless_the_rule_itself_holds_them() {
    let corrected = ChatMessage::text(
        Role::Assistant,
        "An employee may spend up to 150 EUR a night in Lyon.",
    );
    let copied = "Note: an employee may spend up to 150 EUR a night.";
    assert_eq!(
        leaked_words(copied, &corrected, &[]).as_deref(),
        Some("an employee may spend up to 150 eur")
    );
    assert_eq!(
        leaked_words(
            copied,
            &corrected,
            &["Rule 1: an employee may spend up to 150 EUR a night"]
        ),
        None
    );
    assert_eq!(
        leaked_words("employees: up to 150 EUR", &corrected, &[]),
        None
    );
    let chinese = ChatMessage::text(Role::Assistant, "员工每晚最多可以花费一百五十欧元");
    assert!(leaked_words("提示：员工每晚最多可以花费一百五十", &chinese, &[]).is_some());
}

const STOCK: [&str; 4] = [
    "Harvest drums. Menders paint ninety panels each spring. Gloves hang beside doors.",
    "Library moss. Sorters count sixty pieces weekly. Rust is brushed away by keepers.",
    "Paper lanterns. Ringers oil nine hinges monthly. A ledger lists all the repairs done.",
    "旧书修补。每周清点六十册。手套挂在门旁。",
];

fn tokens(text: &str) -> usize {
    text.split_whitespace().count()
}

#[test]
fn placebos_are_distinct_in_the_right_language_and_of_equal_length() {
    let target = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty";
    let got = pick_placebos(&STOCK, target, 3, &tokens, 7);
    assert_eq!(got.len(), 3);
    for p in &got {
        assert!((19..=21).contains(&tokens(&p.text)), "{}", p.text);
        assert!(!p.text.contains('旧'));
    }
    assert_ne!(got[0].text, got[1].text);
    assert_eq!(got, pick_placebos(&STOCK, target, 3, &tokens, 7));
    let letters = |t: &str| t.chars().count();
    let chinese = pick_placebos(&STOCK, "全职员工每年十五天", 1, &letters, 7);
    assert_eq!(letters(&chinese[0].text), 9);
}

fn evidence(status: EvidenceStatus) -> Evidence {
    Evidence {
        doc_id: "hotel-cap".into(),
        version: Some("v2".into()),
        status,
        valid: Some(true),
        reason: String::new(),
        decisive_step: None,
        spans: vec![SpanFound {
            part: "span",
            text: "employees: up to 120 EUR".into(),
            in_view: true,
            places: vec![],
        }],
        seen: vec![],
    }
}

fn plan(
    status: EvidenceStatus,
    written: &WrittenTexts,
    cells: usize,
) -> Result<ProbePlan, PlanError> {
    let document = Document {
        doc_id: "hotel-cap".into(),
        version: "v2".into(),
        title: Some("Hotel cap".into()),
        text: "Employees: up to 150 EUR a night.".into(),
        valid_from: Some("2025-07-01".into()),
        valid_until: None,
        indexed_in: None,
    };
    let stock: Vec<String> = (0..60)
        .map(|i| {
            format!(
                "Drum {i} is painted green by menders who keep ropes dry and lamps clean all year."
            )
        })
        .collect();
    let stock: Vec<&str> = stock.iter().map(String::as_str).collect();
    let wrappers: Vec<String> = (0..12)
        .map(|i| {
            if i == 0 {
                String::new()
            } else {
                format!("Wrapper {i}.")
            }
        })
        .collect();
    let wrappers: Vec<&str> = wrappers.iter().map(String::as_str).collect();
    plan_probe(&PlanFacts {
        context: &context(),
        corrected: &ChatMessage::text(Role::Assistant, "150 EUR [v2]"),
        is_tool_decision: false,
        evidence: &[evidence(status)],
        documents: &[Some(&document)],
        written,
        stock: &stock,
        wrappers: &wrappers,
        count: &tokens,
        seed: 3,
        cells,
    })
}

#[test]
fn a_missing_document_is_planned_with_twelve_cells_and_thirty_six_placebos() {
    let plan = plan(EvidenceStatus::StaleOnly, &WrittenTexts::default(), 12).unwrap();
    let kinds: Vec<Variant> = plan.variants.iter().map(|v| v.variant).collect();
    assert_eq!(kinds, [Variant::Evidence, Variant::Oracle]);
    let e = &plan.variants[0];
    assert_eq!((e.cells.len(), e.author.as_str()), (12, "register"));
    // SCIENCE 3 step 4: 3 placements × 4 wrappers; every cell with its own three placebos, 36 distinct documents.
    for p in [Placement::Start, Placement::Natural, Placement::End] {
        assert_eq!(e.cells.iter().filter(|c| c.placement == p).count(), 4);
    }
    let mut texts: Vec<String> = e
        .placebos
        .iter()
        .flatten()
        .map(|p| format!("{p:?}"))
        .collect();
    assert!(e.placebos.iter().all(|p| p.len() == 3));
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 36);
    let cell = plan.cell(&context(), e, 5).unwrap();
    assert!(contents(&cell.baseline).concat().contains("Wrapper 1."));
    assert!(contents(&cell.changed).concat().contains("150 EUR a night"));
    assert_eq!(cell.placebos.len(), 3);
}

#[test]
fn evidence_in_the_prompt_is_taken_out_and_moved() {
    let plan = plan(EvidenceStatus::InPrompt, &WrittenTexts::default(), 12).unwrap();
    let kinds: Vec<Variant> = plan.variants.iter().map(|v| v.variant).collect();
    assert_eq!(kinds, [Variant::Removed, Variant::Moved, Variant::Oracle]);
    // Removed text: own slot × 12 wrappers.
    assert!(
        plan.variants[0]
            .cells
            .iter()
            .all(|c| c.placement == Placement::Natural)
    );
    let cell = plan.cell(&context(), &plan.variants[0], 0).unwrap();
    assert!(!contents(&cell.changed).concat().contains("120 EUR"));
}

#[test]
fn a_screen_has_one_cell_and_a_leak_is_refused() {
    let screen = plan(EvidenceStatus::StaleOnly, &WrittenTexts::default(), 1).unwrap();
    assert!(screen.variants.iter().all(|v| v.cells.len() == 1));
    let leaking = WrittenTexts {
        author: "ann".into(),
        document: Some("so 150 EUR v2 one two three four five".into()),
        ..WrittenTexts::default()
    };
    assert!(
        plan(EvidenceStatus::Unknown, &leaking, 12).is_ok(),
        "short answers cannot share eight words"
    );
    assert_eq!(
        plan(EvidenceStatus::Unknown, &WrittenTexts::default(), 12),
        Err(PlanError::NothingToChange)
    );
}

#[test]
fn a_reviewer_may_take_evidence_out_and_is_asked_the_second_question_too() {
    let written = WrittenTexts {
        author: "ann".into(),
        removed: Some(Edit::RemoveText {
            message: 3,
            text: "Employees: up to 120 EUR.".into(),
        }),
        ..WrittenTexts::default()
    };
    let plan = plan(EvidenceStatus::Unknown, &written, 12).unwrap();
    let kinds: Vec<(Variant, &str)> = plan
        .variants
        .iter()
        .map(|v| (v.variant, v.author.as_str()))
        .collect();
    assert_eq!(
        kinds,
        [
            (Variant::Removed, "ann"),
            (Variant::Moved, "ann"),
            (Variant::Oracle, "corrected action")
        ]
    );
}
