//! The page's sections. One that has nothing to say says what would give it something.

use super::html::{Escaped, table};
use super::{ChangePage, CohortPage, Count, Overview, plot, total};
use crate::text;
use std::fmt::{self, Write};

/// Cohorts shown in full; the others stand in a table.
const COHORTS_SHOWN: usize = 20;

fn open(out: &mut String, title: &str) -> fmt::Result {
    writeln!(out, "<section>\n<h2>{}</h2>", Escaped(title))
}

fn close(out: &mut String) {
    out.push_str("</section>\n");
}

fn say(out: &mut String, class: &str, words: &str) -> fmt::Result {
    writeln!(out, "<p class=\"{class}\">{}</p>", Escaped(words))
}

pub(super) fn head(out: &mut String, overview: &Overview) -> fmt::Result {
    writeln!(
        out,
        "<h1>Why agents failed</h1>\n<p class=\"soft\">{} · {}</p>",
        Escaped(&overview.workspace),
        Escaped(&overview.made)
    )?;
    let of = |name: &str| {
        let found = overview.outcomes.iter().find(|c| c.name == name);
        found.map_or(0, |c| c.count)
    };
    let figures = [
        (overview.runs(), "runs"),
        (of("fail"), "failed"),
        (total(&overview.layers), "labelled"),
        (total(&overview.pairs), "pairs decided"),
        (overview.reviewers, "reviewers"),
    ];
    out.push_str("<dl>\n");
    for (n, what) in figures {
        writeln!(
            out,
            "<div><dt>{what}</dt><dd>{}</dd></div>",
            text::grouped(n)
        )?;
    }
    out.push_str("</dl>\n");
    if overview.runs() == 0 {
        say(
            out,
            "empty",
            "There is no run in this workspace yet; `triagent import PATH` reads some.",
        )?;
    }
    Ok(())
}

pub(super) fn cohorts(out: &mut String, cohorts: &[CohortPage]) -> fmt::Result {
    if cohorts.is_empty() {
        return Ok(());
    }
    open(out, "What to fix")?;
    for cohort in cohorts.iter().take(COHORTS_SHOWN) {
        one_cohort(out, cohort)?;
    }
    let rest = cohorts.get(COHORTS_SHOWN..).unwrap_or_default();
    if !rest.is_empty() {
        let rows = rest.iter().map(|c| {
            vec![
                c.name.clone(),
                text::grouped(c.runs.0),
                text::grouped(c.runs.1),
                c.headline.clone(),
            ]
        });
        table(out, &["cohort", "runs", "failed", "what to fix"], rows)?;
    }
    close(out);
    Ok(())
}

fn one_cohort(out: &mut String, cohort: &CohortPage) -> fmt::Result {
    let (runs, failed, labelled) = cohort.runs;
    writeln!(
        out,
        "<h3>{}</h3>\n<p class=\"headline\">{}</p>",
        Escaped(&cohort.name),
        Escaped(&cohort.headline)
    )?;
    say(out, "", &cohort.meaning)?;
    if let Some(other) = &cohort.overridden {
        say(out, "warn", &format!("A lead decided otherwise: {other}"))?;
    }
    let told = format!(
        "{}, {} failed, {} of these labelled",
        text::plural(runs, "run"),
        text::grouped(failed),
        text::grouped(labelled)
    );
    say(out, "soft", &told)?;
    if cohort.layers.is_empty() {
        say(
            out,
            "empty",
            "No labelled failure counts yet: `triagent queue` says what to label next.",
        )?;
    } else {
        plot::shares(out, &cohort.layers)?;
    }
    for apart in cohort.apart.iter().filter(|c| c.count > 0) {
        let told = format!("{} {}", text::grouped(apart.count), apart.name);
        say(out, "soft", &told)?;
    }
    list(out, "Next", "ol", cohort.next.iter().cloned())?;
    let causes = cohort.causes.iter();
    let causes = causes.map(|c| format!("{} ({})", c.name, text::grouped(c.count)));
    list(out, "Causes", "ul", causes)?;
    refused(out, cohort)?;
    gates(out, cohort)
}

fn list(
    out: &mut String,
    title: &str,
    tag: &str,
    items: impl Iterator<Item = String>,
) -> fmt::Result {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "<p class=\"label\">{}</p>\n<{tag}>", Escaped(title))?;
    for item in items {
        writeln!(out, "<li>{}</li>", Escaped(&item))?;
    }
    writeln!(out, "</{tag}>")
}

fn refused(out: &mut String, cohort: &CohortPage) -> fmt::Result {
    if cohort.refused.is_empty() {
        return Ok(());
    }
    say(out, "label", "Training that a gate refuses")?;
    let rows = cohort.refused.iter().map(|r| {
        vec![
            r.method.clone(),
            r.gate.clone(),
            r.value.clone(),
            r.threshold.clone(),
            r.missing.clone(),
        ]
    });
    table(
        out,
        &[
            "method",
            "gate",
            "measured",
            "needed",
            "missing, and how to get it",
        ],
        rows,
    )
}

fn gates(out: &mut String, cohort: &CohortPage) -> fmt::Result {
    if cohort.gates.is_empty() {
        return Ok(());
    }
    let n = cohort.gates.len() as u64;
    writeln!(
        out,
        "<details><summary>All {}</summary>",
        text::plural(n, "gate")
    )?;
    let rows = cohort.gates.iter().map(|g| {
        vec![
            g.id.clone(),
            g.state.replace('_', " "),
            g.value.clone(),
            g.threshold.clone(),
            g.asks.clone(),
        ]
    });
    table(out, &["gate", "state", "measured", "needed", "asks"], rows)?;
    out.push_str("</details>\n");
    Ok(())
}

pub(super) fn layers(out: &mut String, overview: &Overview) -> fmt::Result {
    if overview.runs() == 0 {
        return Ok(());
    }
    open(out, "All runs")?;
    plot::counts(out, &overview.outcomes)?;
    say(out, "label", "Labels by layer")?;
    if overview.layers.is_empty() {
        say(
            out,
            "empty",
            "No run is labelled yet; `triagent` opens the screen, and a digit labels.",
        )?;
    } else {
        plot::counts(out, &overview.layers)?;
    }
    close(out);
    Ok(())
}

pub(super) fn changes(out: &mut String, changes: &[ChangePage]) -> fmt::Result {
    if changes.is_empty() {
        return Ok(());
    }
    open(out, "Changes")?;
    for change in changes {
        writeln!(
            out,
            "<h3>{} <span class=\"soft\">{} · {}</span></h3>",
            Escaped(&change.name),
            Escaped(&change.layer),
            Escaped(&change.state)
        )?;
        say(out, "", &change.claim)?;
        match &change.sides {
            Some((before, after)) => {
                plot::shares(out, &[before.clone(), after.clone()])?;
                say(out, "soft", &change.same_tasks)?;
            }
            None => say(
                out,
                "empty",
                "No run carries a version that this change names, so before and after cannot be told apart.",
            )?,
        }
    }
    close(out);
    Ok(())
}

pub(super) fn agreement(out: &mut String, overview: &Overview) -> fmt::Result {
    if overview.agreement.is_empty() {
        return Ok(());
    }
    open(out, "Agreement on layers")?;
    let rows = overview.agreement.iter().map(|s| {
        let interval = s.interval.map(|(low, high)| format!("{low:.2}–{high:.2}"));
        vec![
            s.name.clone(),
            s.value.map(|v| format!("{v:.2}")).unwrap_or_default(),
            interval.unwrap_or_default(),
            text::grouped(s.n),
            s.note.clone(),
        ]
    });
    table(
        out,
        &["statistic", "value", "95 % interval", "n", "note"],
        rows,
    )?;
    let differ = format!(
        "{} on which reviewers differ; `triagent adjudicate` settles them",
        text::plural(overview.disagreements, "run")
    );
    if overview.disagreements > 0 {
        say(out, "soft", &differ)?;
    }
    close(out);
    Ok(())
}

pub(super) fn pairs(out: &mut String, pairs: &[Count]) -> fmt::Result {
    if pairs.is_empty() {
        return Ok(());
    }
    open(out, "Pairs")?;
    plot::counts(out, pairs)?;
    close(out);
    Ok(())
}

pub(super) fn versions(out: &mut String, versions: &[(String, Vec<Count>)]) -> fmt::Result {
    let told: Vec<_> = versions.iter().filter(|(_, v)| !v.is_empty()).collect();
    if told.is_empty() {
        return Ok(());
    }
    open(out, "What ran")?;
    for (what, values) in told {
        say(out, "label", what)?;
        plot::counts(out, values)?;
    }
    close(out);
    Ok(())
}

pub(super) fn foot(out: &mut String, overview: &Overview) -> fmt::Result {
    writeln!(
        out,
        "<p class=\"soft\">Made by triagent {} from one workspace. Whiskers are 95 % intervals (Wilson). Labels that people picked by hand \
         count, but stand outside the shares. Secrets are masked. The machine advises; people decide.</p>",
        Escaped(&overview.version)
    )
}
