//! `triagent doctor`: paths, terminal, device, workspace; what to mend and how.

use super::Done;
use super::env::Env;
use super::output::Tone;
use crate::error::Result;
use crate::store::{Health, Store};
use crate::{paths, text};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::Path;

/// Look this installation and this workspace over
///
/// Prints paths, settings files, the terminal's abilities, the scoring device and the state of the workspace file. Exit code 1 if
/// something needs mending.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read every page of the workspace file
    #[arg(long)]
    thorough: bool,
}

/// One line of the examination.
#[derive(Debug, Serialize)]
struct Finding {
    topic: &'static str,
    what: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

fn fine(topic: &'static str, what: impl Into<String>) -> Finding {
    Finding {
        topic,
        what: what.into(),
        ok: true,
        hint: None,
    }
}

fn ill(topic: &'static str, what: impl Into<String>, hint: impl Into<String>) -> Finding {
    Finding {
        topic,
        what: what.into(),
        ok: false,
        hint: Some(hint.into()),
    }
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let mut findings = vec![fine("version", program())];
    findings.extend(settings(env)?);
    findings.extend(terminal());
    findings.extend(workspace(args, env)?);
    let sound = findings.iter().all(|f| f.ok);
    for finding in &findings {
        tell(finding, env)?;
    }
    Ok(if sound { Done::Whole } else { Done::Refused })
}

fn program() -> String {
    let features: Vec<&str> = [
        ("cuda", cfg!(feature = "cuda")),
        ("cudnn", cfg!(feature = "cudnn")),
        ("metal", cfg!(feature = "metal")),
    ]
    .into_iter()
    .filter_map(|(name, on)| on.then_some(name))
    .collect();
    let features = if features.is_empty() {
        "CPU only".to_owned()
    } else {
        features.join(", ")
    };
    format!("triagent {} ({features})", env!("CARGO_PKG_VERSION"))
}

fn settings(env: &Env) -> Result<Vec<Finding>> {
    let database = env.existing_workspace()?;
    let mut found = Vec::new();
    for file in crate::config::files(database.as_deref()) {
        let state = if file.is_file() { "read" } else { "none" };
        found.push(fine("settings", format!("{} ({state})", file.display())));
    }
    if let Err(failure) = env.config() {
        found.push(ill("settings", failure.error.to_string(), "mend that file"));
    }
    match env.reviewer() {
        Ok(name) => found.push(fine("reviewer", name)),
        Err(f) => found.push(ill("reviewer", f.error.to_string(), f.hints.join("; "))),
    }
    if let Some(log) = paths::log_file() {
        found.push(fine("log", log.display().to_string()));
    }
    Ok(found)
}

fn terminal() -> Vec<Finding> {
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let is_terminal = std::io::stdout().is_terminal();
    let mut found = vec![fine(
        "terminal",
        format!(
            "TERM={} COLORTERM={}, stdout is {}",
            of("TERM"),
            of("COLORTERM"),
            if is_terminal {
                "a terminal"
            } else {
                "no terminal"
            }
        ),
    )];
    if !of("NO_COLOR").is_empty() {
        found.push(fine("terminal", "NO_COLOR is set: monochrome"));
    }
    let locale = [of("LC_ALL"), of("LC_CTYPE"), of("LANG")];
    let locale = locale.iter().find(|v| !v.is_empty());
    let is_utf8 = locale.is_some_and(|l| l.to_lowercase().replace('-', "").contains("utf8"));
    if is_terminal && !is_utf8 {
        let what = format!("locale is {:?}", locale.map_or("", |l| l.as_str()));
        found.push(ill(
            "terminal",
            what,
            "set LANG to a UTF-8 locale, or Chinese text and glyphs may break",
        ));
    }
    found
}

fn workspace(args: &Args, env: &Env) -> Result<Vec<Finding>> {
    let Some(path) = env.existing_workspace()? else {
        let what = "none here or in a folder above (`triagent import PATH` makes one)";
        return Ok(vec![fine("workspace", what)]);
    };
    // Looking must not change anything, not even the schema.
    match Store::open_read_only(&path).and_then(|store| store.health(args.thorough)) {
        Ok(health) => Ok(of_health(&health, &path)),
        Err(error) => Ok(vec![ill(
            "workspace",
            format!("{}: {error}", path.display()),
            "copy the file away before anything else; a bundle or a re-import can rebuild it",
        )]),
    }
}

fn of_health(health: &Health, path: &Path) -> Vec<Finding> {
    let mut found = vec![
        fine("workspace", path.display().to_string()),
        fine(
            "workspace",
            format!(
                "schema {} of {}, SQLite {}, {}",
                health.schema,
                health.newest_schema,
                health.sqlite,
                text::bytes(health.file_bytes)
            ),
        ),
        fine(
            "workspace",
            format!(
                "{}, {}, {} ({}), {}",
                text::plural(health.runs, "run"),
                text::plural(health.steps, "step"),
                text::plural(health.bodies, "distinct text"),
                text::bytes(health.body_bytes),
                text::plural(health.decisions, "decision")
            ),
        ),
    ];
    if health.integrity == "ok" {
        found.push(fine("integrity", "ok"));
    } else {
        let hint =
            "copy the file away, then re-import the logs and merge a bundle of the decisions";
        found.push(ill("integrity", health.integrity.clone(), hint));
    }
    if health.unindexed > 0 {
        let waiting = text::plural(health.unindexed, "text");
        found.push(fine(
            "search",
            format!("{waiting} not indexed yet; the next import or the screen goes on"),
        ));
    }
    found
}

fn tell(finding: &Finding, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return env.out.row(finding);
    }
    let (glyph, tone) = if finding.ok {
        ("✓", Tone::Good)
    } else {
        ("✗", Tone::Bad)
    };
    let glyph = env.out.tone(tone, glyph);
    let line = format!("{:<10}{}", finding.topic, text::visible(&finding.what));
    env.out.line(format!("{glyph} {line}"))?;
    match &finding.hint {
        Some(hint) => env.out.line(format!("            hint: {hint}")),
        None => Ok(()),
    }
}
