//! One redacted page of a run, as text and Markdown: the unit that people paste into an issue.
//!
//! Redacts nothing by itself: the mask is passed in, and every text of a log goes through it.

use super::evidence::Evidence;
use super::taxonomy::Taxonomy;
use super::view::RunView;
use crate::domain::chat::{decision_at, decisions};
use crate::domain::{ChatMessage, Owner, StepKind, Task, Verdict};
use crate::text::{capped, one_line, visible};

/// Longest stretch of one text on a card, in bytes: a page, not a log.
const MAX_TEXT_BYTES: usize = 1200;
/// What is masked of a longer text: far more than is shown, so that no secret is cut where it would show.
const MASKED_BYTES: usize = 64 << 10;
/// Longest name of a run in the title, in columns.
const TITLE_COLUMNS: usize = 200;

/// What a card is made of.
#[derive(Clone, Copy)]
pub struct CardFacts<'a> {
    /// The run.
    pub run: RunView<'a>,
    /// Its task.
    pub task: Option<&'a Task>,
    /// The current verdict.
    pub verdict: Option<&'a Verdict>,
    /// Status of each required document.
    pub evidence: &'a [Evidence],
    /// The codebook.
    pub taxonomy: &'a Taxonomy,
    /// Puts placeholders in the place of secrets and personal data.
    pub mask: &'a dyn Fn(&str) -> String,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Card {
    /// Its title.
    pub title: String,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Section {
    /// Its heading.
    pub heading: &'static str,
    /// Lines of ours.
    pub lines: Vec<String>,
    /// Text of the log, quoted as it is.
    pub quote: Option<String>,
}

/// Makes the page of a run.
pub fn card(facts: &CardFacts) -> Card {
    let mut sections = vec![head(facts), request(facts)];
    sections.extend(wrong_decision(facts));
    sections.extend(evidence(facts));
    sections.push(verdict(facts));
    sections.extend(proof(facts));
    Card {
        title: format!(
            "{} ({})",
            one_line(facts.run.rollout.id.as_str(), TITLE_COLUMNS),
            facts.run.rollout.outcome
        ),
        sections,
    }
}

impl Card {
    /// The page as plain text.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for section in &self.sections {
            out.push_str(&format!("\n{}\n", section.heading));
            for line in &section.lines {
                // A line of the log must not pass for one of ours.
                out.push_str(&format!("  {}\n", line.replace('\n', " ")));
            }
            for line in section.quote.iter().flat_map(|q| q.lines()) {
                out.push_str(&format!("  | {line}\n"));
            }
        }
        out
    }

    /// The page as Markdown; log text stands in fences that it cannot close.
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}\n", escape(&self.title));
        for section in &self.sections {
            out.push_str(&format!("\n**{}**\n\n", section.heading));
            for line in &section.lines {
                out.push_str(&format!("- {}\n", escape(line)));
            }
            if let Some(quote) = &section.quote {
                let fence = fence(quote);
                let gap = if section.lines.is_empty() { "" } else { "\n" };
                out.push_str(&format!("{gap}{fence}text\n{quote}\n{fence}\n"));
            }
        }
        out
    }
}

fn head(facts: &CardFacts) -> Section {
    let r = facts.run.rollout;
    let known = |name: &str, value: &Option<String>| {
        value
            .as_ref()
            .map(|v| format!("{name}: {}", safe(facts, v)))
    };
    let lines = [
        r.task
            .as_ref()
            .map(|t| format!("task: {}", safe(facts, t.as_str()))),
        known("family", &r.family),
        known("model", &r.model),
        known("harness", &r.harness.name),
        known("index", &r.index_version),
        known("prompt", &r.prompt_version),
        known("tool set", &r.toolset_version),
        known("checkpoint", &r.checkpoint),
        Some(format!(
            "{} steps, {} calls, {}",
            facts.run.steps.len(),
            facts.run.calls.len(),
            r.format
        )),
    ];
    Section {
        heading: "Run",
        lines: lines.into_iter().flatten().collect(),
        quote: None,
    }
}

fn request(facts: &CardFacts) -> Section {
    let listed = facts.task.and_then(|t| t.prompt.clone());
    let logged = || {
        let mut user = facts
            .run
            .steps
            .iter()
            .filter(|s| s.owner == Owner::User && s.kind == StepKind::Text);
        user.next().map(|s| s.text.clone())
    };
    Section {
        heading: "Request",
        lines: facts
            .task
            .and_then(|t| t.date.as_ref())
            .map(|d| format!("asked on {}", safe(facts, d)))
            .into_iter()
            .collect(),
        quote: listed.or_else(logged).map(|t| safe(facts, &t)),
    }
}

fn wrong_decision(facts: &CardFacts) -> Option<Section> {
    let steps = facts.run.steps;
    let named = facts.verdict.and_then(|v| v.decisive_step);
    let at = named.or_else(|| decisions(steps).last().copied())?;
    let message = decision_at(steps, at)?;
    let line = if named.is_some() {
        format!("step {at}, named by the reviewer")
    } else {
        format!("step {at}, the last decision: nobody has named the first wrong one yet")
    };
    Some(Section {
        heading: "First wrong decision",
        lines: vec![line],
        quote: Some(safe(facts, &said(&message))),
    })
}

fn said(message: &ChatMessage) -> String {
    let text = message.content.clone().into_iter();
    let calls = message
        .tool_calls
        .iter()
        .map(|c| format!("{} {}", c.name, c.arguments));
    text.chain(calls).collect::<Vec<_>>().join("\n")
}

fn evidence(facts: &CardFacts) -> Option<Section> {
    let line = |e: &Evidence| {
        let version = e.version.as_deref().unwrap_or("");
        let valid = match e.valid {
            Some(true) => "valid on the date",
            Some(false) => "not valid on the date",
            None => "validity unknown",
        };
        safe(
            facts,
            &format!(
                "{} {version}: {}, {valid}; {}",
                e.doc_id, e.status, e.reason
            ),
        )
    };
    (!facts.evidence.is_empty()).then(|| Section {
        heading: "Evidence",
        lines: facts.evidence.iter().map(line).collect(),
        quote: None,
    })
}

fn verdict(facts: &CardFacts) -> Section {
    let Some(v) = facts.verdict else {
        return Section {
            heading: "Verdict",
            lines: vec!["not labelled yet".to_owned()],
            quote: None,
        };
    };
    let mut lines = vec![match (v.is_proven(), &v.cause) {
        (true, Some(cause)) => format!("{}: {}", v.layer, safe(facts, cause)),
        (true, None) => v.layer.to_string(),
        (false, _) => format!(
            "{} (unproven: the evidence checklist is incomplete)",
            v.layer
        ),
    }];
    lines.extend(
        facts
            .taxonomy
            .entry(v.layer)
            .map(|e| format!("goes to {}", e.owner)),
    );
    lines.extend(
        v.pins
            .iter()
            .map(|p| safe(facts, &format!("step {}: \"{}\"", p.step, p.quote))),
    );
    Section {
        heading: "Verdict",
        lines,
        quote: (!v.note.trim().is_empty()).then(|| safe(facts, &v.note)),
    }
}

fn proof(facts: &CardFacts) -> Option<Section> {
    let entry = facts.taxonomy.entry(facts.verdict?.layer)?;
    Some(Section {
        heading: "What would prove the fix",
        lines: vec![entry.proof.clone()],
        quote: None,
    })
}

/// Masked, harmless on a terminal, and not longer than a page can hold.
fn safe(facts: &CardFacts, text: &str) -> String {
    let (head, is_cut) = capped(text, MASKED_BYTES);
    let masked = (facts.mask)(head);
    let shown = visible(&masked);
    let unread = text.len() - head.len();
    match capped(&shown, MAX_TEXT_BYTES) {
        (all, false) if !is_cut => all.to_owned(),
        (cut, _) => format!("{cut} … ({} more bytes)", shown.len() - cut.len() + unread),
    }
}

/// A fence longer than any run of backticks inside.
fn fence(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(|run| run.chars().count())
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(' '),
            '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '|' | '\\' | '~' | '&' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EvidenceStatus, Layer, Outcome, Pin, Role, Rollout, Step};

    fn page(answer: &str) -> Card {
        named("r1", answer)
    }

    fn named(run: &str, answer: &str) -> Card {
        let mut rollout = Rollout::new(run, "atif", "f");
        rollout.outcome = Outcome::Fail;
        rollout.task = Some("hotel".into());
        let mut steps = vec![
            Step::new(
                Owner::User,
                StepKind::Text,
                Role::User,
                "酒店上限多少? key sk-12345",
            ),
            Step::new(Owner::Model, StepKind::Text, Role::Assistant, answer),
        ];
        (steps[1].index, steps[1].message) = (1, 1);
        let taxonomy = Taxonomy::embedded();
        let mut verdict = Verdict::new("r1".into(), Layer::Index);
        verdict.decisive_step = Some(1);
        verdict.cause = Some("index-not-refreshed".into());
        verdict.pins = vec![Pin {
            step: 1,
            quote: "120 [v1]".into(),
        }];
        verdict.note = "旧版".into();
        let evidence = [Evidence {
            doc_id: "hotel-cap".into(),
            version: Some("v2".into()),
            status: EvidenceStatus::StaleOnly,
            valid: Some(true),
            reason: "index idx-1 holds only v1".into(),
            decisive_step: Some(1),
            spans: vec![],
            seen: vec![],
        }];
        card(&CardFacts {
            run: RunView {
                rollout: &rollout,
                steps: &steps,
                calls: &[],
            },
            task: None,
            verdict: Some(&verdict),
            evidence: &evidence,
            taxonomy: &taxonomy,
            mask: &|t| t.replace("sk-12345", "<secret:1>"),
        })
    }

    #[test]
    fn a_page_holds_what_an_issue_needs() {
        let text = page("120 [v1]").text();
        for part in [
            "r1 (fail)",
            "Request",
            "酒店上限多少",
            "First wrong decision",
            "120 [v1]",
            "stale only",
            "index: index-not-refreshed",
            "What would prove the fix",
            "旧版",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert!(!text.contains("sk-12345") && text.contains("<secret:1>"));
    }

    #[test]
    fn log_text_can_neither_close_its_fence_nor_reach_the_terminal() {
        let hostile = "```\n# mine now\n````\n\u{1b}[31mred\u{202e}";
        let page = page(hostile);
        let markdown = page.markdown();
        assert!(markdown.contains("`````text"), "{markdown}");
        assert!(!markdown.contains('\u{1b}') && !markdown.contains('\u{202e}'));
        assert!(!page.text().contains('\u{1b}'));
    }

    #[test]
    fn a_runs_name_cannot_reach_the_terminal_either() {
        let page = named("a\u{1b}]0;pwn\u{7}\n<img src=x>&lt;", "no");
        for shown in [page.text(), page.markdown(), page.title.clone()] {
            assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
        }
        let markdown = page.markdown();
        let title = markdown.lines().next().unwrap();
        assert!(title.contains("\\<img src=x\\>\\&lt;"), "{title}");
    }

    #[test]
    fn a_long_answer_is_cut_and_says_so() {
        let text = page(&"长".repeat(5000)).text();
        assert!(text.len() < 6000 && text.contains("more bytes"));
    }
}
