//! What cleaning found, and what somebody decided: keep, redact, drop. The words themselves are never shown.

use crate::domain::{Finding, FindingAction, FindingState, TaskId};
use crate::jobs::desk::{FindingRow, Findings};
use crate::text::{grouped, plural};
use crate::tui::app::sheet::{Filling, Mark, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet, as they were found: a decided one stays where it was.
pub(crate) fn findings(found: &Findings) -> Filling {
    let open = |row: &&FindingRow| row.state.action.is_none();
    let undecided = found.rows.iter().filter(open).count();
    let mut note = format!(
        "{}, {} not decided; rows that hold one stay out of exports",
        plural(found.rows.len() as u64, "finding"),
        grouped(undecided as u64)
    );
    if found.was_checked && !found.is_fresh {
        note.push_str("; the workspace has grown since: C checks it again");
    }
    if !found.was_checked {
        "secrets, personal data and other things that must not leave".clone_into(&mut note);
    }
    let empty = if found.was_checked {
        "The last check found nothing."
    } else {
        "Nothing was checked yet."
    };
    Filling {
        heads: vec![
            ("decided", 2),
            ("kind", 3),
            ("rule", 5),
            ("where", 5),
            ("looks like", 3),
        ],
        rows: found.rows.iter().map(row).collect(),
        note,
        empty: (
            empty.to_owned(),
            "C looks for secrets, personal data, near-duplicates, templates, tampering, false evidence"
                .to_owned(),
        ),
    }
}

fn row(found: &FindingRow) -> Row {
    let finding = &found.state.finding;
    let place_of = finding.place.as_ref().zip(found.seq);
    let target = Target::Finding(Mark {
        finding: finding.id.clone(),
        rule: finding.rule.clone(),
        action: found.state.action,
        place: place_of.map(|(place, seq)| (place.run.clone(), seq, place.step.unwrap_or(0))),
    });
    Row {
        cells: vec![
            decided(found.state.action),
            (Ink::Text, finding.kind.word().to_owned()),
            (Ink::Text, finding.rule.clone()),
            (Ink::Dim, place(finding)),
            (Ink::Text, finding.excerpt.clone()),
        ],
        page: page(&found.state),
        target,
    }
}

fn decided(action: Option<FindingAction>) -> (Ink, String) {
    let ink = match action {
        None => return (Ink::Unsure, "?".to_owned()),
        Some(FindingAction::Keep) => Ink::Pass,
        Some(FindingAction::Redact) => Ink::Secret,
        Some(FindingAction::Drop) => Ink::Fail,
    };
    (ink, action.map_or("", FindingAction::word).to_owned())
}

fn place(finding: &Finding) -> String {
    if let Some(place) = &finding.place {
        let step = place.step.map_or(String::new(), |s| format!(":{s}"));
        return format!("{}{step} {}", place.run, place.field);
    }
    let tasks: Vec<&str> = finding.tasks.iter().map(TaskId::as_str).collect();
    tasks.join(", ")
}

fn page(state: &FindingState) -> Doc {
    let finding = &state.finding;
    let mut page = Doc::default();
    page.line(Ink::Strong, &finding.rule)
        .line(Ink::Text, &finding.reason)
        .end_line();
    page.field("id", Ink::Text, &finding.id);
    page.field("where", Ink::Text, &place(finding));
    page.field("looks like", Ink::Text, &finding.excerpt);
    if let Some(placeholder) = &finding.placeholder {
        page.field("leaves as", Ink::Secret, placeholder);
    }
    if let Some(score) = finding.score {
        page.field("measured", Ink::Text, &format!("{score:.2}"));
    }
    let (ink, word) = decided(state.action);
    page.field("decided", ink, &word);
    page.heading("what can be done");
    for (key, what) in [
        ("K keep", "harmless: it leaves as it is"),
        (
            "x redact",
            "a placeholder leaves in its place, the same one everywhere",
        ),
        ("X drop", "rows that hold it stay out"),
        ("*", "the same for every undecided finding of this rule"),
        ("u", "takes it back"),
    ] {
        page.field(key, Ink::Text, what);
    }
    page
}
