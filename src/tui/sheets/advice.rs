//! Advice: one row a cohort; its page shows headline, shares, gates and refusals, all of which can be checked.

use super::bars;
use crate::advise::Page;
use crate::domain::{Advice, Gate, GateState, Shares};
use crate::jobs::CohortAdvice;
use crate::text::{pad, pad_left, per_cent, plural};
use crate::tui::app::sheet::{Filling, Row, Target};
use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Fills the sheet.
pub(crate) fn advice(said: &[CohortAdvice]) -> Filling {
    Filling {
        heads: vec![("cohort", 3), ("counted", 1), ("headline", 4)],
        rows: said.iter().map(row).collect(),
        note: "the first rule that holds is the headline. Counted: labelled failures, of the queue (Space q) where it was used; \
               passes, unproven and undetermined ones do not count"
            .to_owned(),
        empty: (
            "There are no runs to advise on.".to_owned(),
            "I  reads logs".to_owned(),
        ),
    }
}

fn row(said: &CohortAdvice) -> Row {
    let advice = &said.book.advice;
    Row {
        cells: vec![
            (Ink::Strong, advice.cohort.clone()),
            (Ink::Dim, advice.shares.n.to_string()),
            (Ink::Text, advice.headline.clone()),
        ],
        page: page(said),
        target: Target::None,
    }
}

fn page(said: &CohortAdvice) -> Doc {
    let advice = &said.book.advice;
    let mut doc = Doc::default();
    doc.line(Ink::Accent, &advice.headline);
    doc.line(
        Ink::Dim,
        &format!(
            "rule {} of the rules, version {}",
            advice.rule, advice.rules_version
        ),
    );
    if let Some(lead) = &said.book.overridden {
        doc.line(Ink::Warn, &format!("a lead decided otherwise: {lead:?}"));
    }
    next(&mut doc, advice);
    shares(&mut doc, &advice.shares);
    refusals(&mut doc, advice);
    gates(&mut doc, &advice.gates);
    meaning(&mut doc, &said.book.page);
    doc
}

fn next(doc: &mut Doc, advice: &Advice) {
    doc.heading("next");
    for (i, step) in advice.next.iter().enumerate() {
        doc.push(Ink::Accent, &format!("{}. ", i + 1))
            .line(Ink::Text, step);
    }
}

fn shares(doc: &mut Doc, shares: &Shares) {
    doc.heading(&format!(
        "why they failed: {} counted",
        plural(shares.n as u64, "labelled failure")
    ));
    if shares.n == 0 {
        doc.line(
            Ink::Dim,
            "none is labelled yet: Space q goes to the next one",
        );
        return;
    }
    let layers = shares
        .layers
        .iter()
        .map(|(layer, share)| (layer.word(), share));
    let system = shares.system.iter().map(|share| ("= system", share));
    for (name, share) in layers.chain(system) {
        let bar = bars::interval(share.low, share.share, share.high);
        doc.push(Ink::Text, &pad(name, 13)).push(Ink::Bar, &bar);
        let numbers = format!(
            " {}  {} to {}  ({})",
            pad_left(&per_cent(share.share), 5),
            per_cent(share.low),
            per_cent(share.high),
            share.count
        );
        doc.line(Ink::Text, &numbers);
    }
    doc.line(
        Ink::Dim,
        "█ lower end of the 95 % interval  ▓ share  ░ upper end",
    );
    let apart = [
        (shares.unproven, "model verdicts unproven"),
        (shares.undetermined, "undetermined"),
        (shares.picked_by_hand, "picked by hand, so in no interval"),
    ];
    for (count, words) in apart.into_iter().filter(|(count, _)| *count > 0) {
        doc.line(Ink::Dim, &format!("{count} {words}"));
    }
}

fn gates(doc: &mut Doc, gates: &[Gate]) {
    doc.heading("gates");
    for gate in gates {
        let (sign, ink) = sign(gate.state);
        doc.push(ink, &format!("{sign} {} ", pad(&gate.id, 5)))
            .line(Ink::Text, &gate.asks);
        if gate.state == GateState::NotApplicable {
            continue;
        }
        let measured = format!("        {}, asked {}", gate.value, gate.threshold);
        doc.line(Ink::Dim, &measured);
        if gate.state != GateState::Pass {
            if !gate.missing.is_empty() {
                doc.push(Ink::Dim, "        missing: ")
                    .line(Ink::Text, &gate.missing);
            }
            if !gate.how.is_empty() {
                doc.push(Ink::Dim, "        how: ")
                    .line(Ink::Text, &gate.how);
            }
        }
    }
}

fn sign(state: GateState) -> (&'static str, Ink) {
    match state {
        GateState::Pass => ("✓", Ink::Pass),
        GateState::Fail => ("✗", Ink::Fail),
        GateState::Unmeasured => ("?", Ink::Unsure),
        GateState::NotApplicable => ("·", Ink::Dim),
    }
}

/// One line a method; value, threshold, what is missing and how to get it stand with each gate below.
fn refusals(doc: &mut Doc, advice: &Advice) {
    doc.heading("refused, and by which gate");
    let mut methods: Vec<&str> = Vec::new();
    for refusal in &advice.refusals {
        if !methods.contains(&refusal.method.as_str()) {
            methods.push(&refusal.method);
        }
    }
    for method in &methods {
        let gates: Vec<&str> = advice
            .refusals
            .iter()
            .filter(|refusal| refusal.method == **method)
            .map(|refusal| refusal.gate.as_str())
            .collect();
        doc.push(Ink::Fail, &format!("✗ {} ", pad(method, 9)))
            .line(Ink::Text, &gates.join(", "));
    }
    if methods.is_empty() {
        doc.line(Ink::Dim, "nothing is refused");
    }
}

fn meaning(doc: &mut Doc, page: &Page) {
    doc.heading("what the headline means");
    doc.line(Ink::Text, &page.change);
    for (name, text) in [("changes", &page.changes), ("back to", &page.rollback)] {
        if !text.is_empty() {
            doc.field(name, Ink::Text, text);
        }
    }
    for slot in &page.evidence {
        let (sign, ink) = if slot.filled {
            ("☑", Ink::Pass)
        } else {
            ("☐", Ink::Unsure)
        };
        doc.push(ink, &format!("{sign} "))
            .push(Ink::Text, &slot.asks);
        doc.line(Ink::Dim, &format!(": {}", slot.shown));
    }
}
