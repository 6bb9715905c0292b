//! `triagent guide`: pages about layers, data flow, questions and exercises. Reads no workspace.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table};
use crate::error::{Failure, Result};
use crate::guide::{PAGES, page};
use serde_json::json;

/// Read a page: layers, data flow, questions, exercises, the probe's limits
///
/// Without a topic it lists the pages. The text is Markdown.
#[derive(Debug, clap::Args)]
pub(crate) struct GuideArgs {
    /// Page to read
    topic: Option<String>,
}

pub(crate) fn run(args: &GuideArgs, env: &mut Env) -> Result<Done> {
    let Some(topic) = &args.topic else {
        return list(env);
    };
    let Some(found) = page(topic) else {
        let topics: Vec<&str> = PAGES.iter().map(|p| p.topic).collect();
        let said = format!(
            "no page is called {topic:?}; there are {}",
            topics.join(", ")
        );
        return Err(Failure::user(said));
    };
    if env.out.is_json() {
        env.out
            .row(&json!({"topic": found.topic, "about": found.about, "text": found.text}))?;
    } else {
        env.out.line(found.text)?;
    }
    Ok(Done::Whole)
}

fn list(env: &mut Env) -> Result<Done> {
    let mut table = Table::new(&["topic", "about"]);
    for page in PAGES {
        if env.out.is_json() {
            env.out
                .row(&json!({"topic": page.topic, "about": page.about}))?;
        }
        table.push(vec![Cell::new(page.topic), Cell::new(page.about)]);
    }
    if !env.out.is_json() {
        env.out.table(&table)?;
    }
    Ok(Done::Whole)
}
