//! One page for people who do not have the program: what was looked at, why runs failed, what to fix, what changes did, and how
//! far reviewers agree. It draws what it is given and computes nothing; every text in it comes masked.
//!
//! The page is one HTML file: no script, no request to anywhere, readable on paper and on dark screens.

mod html;
mod plot;
mod sections;

use html::Escaped;
use std::fmt::Write;

/// How often something was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// What.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// A share with its 95 % interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Of what.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// Share, lower and upper end; nothing where there is nothing to divide by.
    pub share: Option<(f64, f64, f64)>,
}

/// A way of training that a gate refuses.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// SFT, DPO, RL.
    pub method: String,
    /// The gate.
    pub gate: String,
    /// What was measured.
    pub value: String,
    /// What would do.
    pub threshold: String,
    /// What is missing, and how to get it.
    pub missing: String,
}

/// A gate in its state.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLine {
    /// Its name.
    pub id: String,
    /// What it asks.
    pub asks: String,
    /// What was measured.
    pub value: String,
    /// What would do.
    pub threshold: String,
    /// `pass`, `fail`, `unmeasured`, `not_applicable`.
    pub state: String,
}

/// One cohort: what failed and what to do.
#[derive(Debug, Clone, PartialEq)]
pub struct CohortPage {
    /// Its name.
    pub name: String,
    /// Runs, failures, and failures with a label.
    pub runs: (u64, u64, u64),
    /// What to fix.
    pub headline: String,
    /// What that means, in plain words.
    pub meaning: String,
    /// A lead decided otherwise, and why.
    pub overridden: Option<String>,
    /// Layers of labelled failures.
    pub layers: Vec<Share>,
    /// Labels that count and stand outside the shares, in words.
    pub apart: Vec<Count>,
    /// Sub-causes, as `layer: cause`.
    pub causes: Vec<Count>,
    /// Next steps, in order.
    pub next: Vec<String>,
    /// Refused methods.
    pub refused: Vec<Refused>,
    /// All gates.
    pub gates: Vec<GateLine>,
}

/// A change and its two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePage {
    /// Its name.
    pub name: String,
    /// Which layer it really touched.
    pub layer: String,
    /// What was claimed.
    pub claim: String,
    /// `accepted`, `rolled-back`, or nothing yet.
    pub state: String,
    /// Passed before and after.
    pub sides: Option<(Share, Share)>,
    /// The same tasks on both sides, in words.
    pub same_tasks: String,
}

/// A statistic of agreement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatLine {
    /// Its name.
    pub name: String,
    /// Value; where there is none, the reason stands in `note`.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Items.
    pub n: u64,
    /// Why there is no value, or what to keep in mind.
    pub note: String,
}

/// All that the page shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overview {
    /// The workspace's file name.
    pub workspace: String,
    /// When, as people read it.
    pub made: String,
    /// Version of the program.
    pub version: String,
    /// Runs by outcome.
    pub outcomes: Vec<Count>,
    /// Runs with a current label, by layer.
    pub layers: Vec<Count>,
    /// Decisions on pairs.
    pub pairs: Vec<Count>,
    /// People who labelled.
    pub reviewers: u64,
    /// Runs by what ran them: harness, model, index version, …
    pub versions: Vec<(String, Vec<Count>)>,
    /// Cohorts, most failures first.
    pub cohorts: Vec<CohortPage>,
    /// Changes, oldest first.
    pub changes: Vec<ChangePage>,
    /// Agreement on layers.
    pub agreement: Vec<StatLine>,
    /// Runs on which reviewers differ.
    pub disagreements: u64,
}

impl Overview {
    /// Runs in all.
    pub fn runs(&self) -> u64 {
        total(&self.outcomes)
    }
}

fn total(counts: &[Count]) -> u64 {
    counts.iter().map(|c| c.count).sum()
}

const STYLE: &str = include_str!("../assets/report/page.css");

/// Draws the page.
pub fn page(overview: &Overview) -> String {
    let mut out = String::with_capacity(64 << 10);
    // Writing to a String does not fail.
    let _ = write(&mut out, overview);
    out
}

fn write(out: &mut String, overview: &Overview) -> std::fmt::Result {
    let title = format!("Why agents failed: {}", overview.workspace);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n",
        Escaped(&title)
    )?;
    sections::head(out, overview)?;
    sections::cohorts(out, &overview.cohorts)?;
    sections::layers(out, overview)?;
    sections::changes(out, &overview.changes)?;
    sections::agreement(out, overview)?;
    sections::pairs(out, &overview.pairs)?;
    sections::versions(out, &overview.versions)?;
    sections::foot(out, overview)?;
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cohort(text: &str, count: &Count, share: &Share) -> CohortPage {
        CohortPage {
            name: text.to_owned(),
            runs: (5, 4, 4),
            headline: text.to_owned(),
            meaning: text.to_owned(),
            overridden: Some(text.to_owned()),
            layers: vec![share.clone()],
            apart: vec![count.clone()],
            causes: vec![count.clone()],
            next: vec![text.to_owned()],
            refused: vec![Refused {
                method: text.to_owned(),
                gate: text.to_owned(),
                value: text.to_owned(),
                threshold: text.to_owned(),
                missing: text.to_owned(),
            }],
            gates: vec![GateLine {
                id: text.to_owned(),
                asks: text.to_owned(),
                value: text.to_owned(),
                threshold: text.to_owned(),
                state: text.to_owned(),
            }],
        }
    }

    fn hostile() -> Overview {
        let text = "<script>alert(1)</script>\u{1b}[31m\u{202e}\"&'";
        let count = Count {
            name: text.to_owned(),
            count: 3,
        };
        let share = Share {
            name: text.to_owned(),
            count: 1,
            of: 4,
            share: Some((0.25, 0.05, 0.7)),
        };
        Overview {
            workspace: text.to_owned(),
            made: "2026-01-01 00:00 UTC".to_owned(),
            version: "1".to_owned(),
            outcomes: vec![count.clone()],
            layers: vec![count.clone()],
            pairs: vec![count.clone()],
            reviewers: 2,
            versions: vec![(text.to_owned(), vec![count.clone()])],
            cohorts: vec![cohort(text, &count, &share)],
            changes: vec![ChangePage {
                name: text.to_owned(),
                layer: text.to_owned(),
                claim: text.to_owned(),
                state: text.to_owned(),
                sides: Some((share.clone(), share)),
                same_tasks: text.to_owned(),
            }],
            agreement: vec![StatLine {
                name: text.to_owned(),
                value: Some(0.5),
                interval: Some((0.1, 0.9)),
                n: 3,
                note: text.to_owned(),
            }],
            disagreements: 1,
        }
    }

    /// Each text of the page comes from logs or people, and none of it may become markup or reach a terminal raw.
    #[test]
    fn no_text_becomes_markup() {
        let page = page(&hostile());
        assert!(!page.contains("<script"));
        assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
        assert!(page.matches("&lt;script&gt;").count() >= 20);
    }

    /// By counting brackets: every tag that is opened is closed, whatever the sections hold.
    #[test]
    fn tags_are_closed() {
        for overview in [hostile(), Overview::default()] {
            let page = page(&overview);
            for tag in [
                "main", "section", "table", "tr", "td", "th", "div", "ul", "ol", "li", "details",
                "summary", "p", "h1", "h2", "h3", "span", "dl", "dt", "dd",
            ] {
                let opened = page.matches(&format!("<{tag}>")).count()
                    + page.matches(&format!("<{tag} ")).count();
                assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
            }
        }
    }

    /// An empty place says what to do next.
    #[test]
    fn an_empty_workspace_says_what_to_do() {
        let page = page(&Overview::default());
        assert!(page.contains("triagent import"), "{page}");
    }

    /// By hand: a quarter of a bar that is 100 wide, and an interval from 5 to 70.
    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let page = page(&hostile());
        assert!(page.contains("width:25.0%"), "{page}");
        assert!(page.contains("left:5.0%;width:65.0%"), "{page}");
    }
}
