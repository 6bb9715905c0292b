//! `trl-grpo` and `agent-lightning`: tasks as the trainer samples them anew (TRAINING A1, A8).

use super::columns::{Shape, Table};
use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Messages, tools_text};
use super::rl::{Start, Starts};
use super::split::Part;
use crate::domain::{Role, TaskId};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct GrpoRow<'a> {
    prompt: Messages<'a>,
    answer: &'a str,
    ground_truth: &'a str,
    task_id: &'a str,
    family: &'a str,
    scenario: &'a str,
    environment: &'a str,
    reset: &'a str,
    grader: &'a str,
    tools_seen: String,
    recorded_runs: String,
}

/// `trl-grpo`.
#[derive(Default)]
pub(crate) struct Grpo {
    starts: Starts,
}

fn name(task: Option<&TaskId>) -> &str {
    task.map_or("", TaskId::as_str)
}

impl Consumer for Grpo {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        self.starts.run(run, desk)
    }

    fn pair(&mut self, _: &PairInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        for start in std::mem::take(&mut self.starts).into_sorted(desk) {
            let row = GrpoRow {
                prompt: Messages(&start.prompt, Dialect::TRL),
                answer: &start.answer,
                ground_truth: &start.answer,
                task_id: name(start.task.as_ref()),
                family: &start.family,
                scenario: &start.scenario,
                environment: &start.scenario,
                reset: &start.reset,
                grader: &start.grader,
                // Not `tools`: GRPO takes callables, and a column of that name would only mislead.
                tools_seen: tools_text(&start.tools),
                recorded_runs: start.runs.join(","),
            };
            desk.row(start.part, &row)?;
        }
        desk.units.loss = "TRL: dapo, over the tokens of the generation batch";
        desk.settings.insert("tools", "pass the real tools as callables; the column `tools_seen` only says what the logs showed".to_owned());
        desk.settings.insert(
            "reward_funcs",
            "yours; every column reaches it by name".to_owned(),
        );
        Ok(())
    }
}

#[derive(Serialize)]
struct LightningRow<'a> {
    data_id: String,
    task_id: &'a str,
    question: String,
    answer: &'a str,
    family: &'a str,
    scenario: &'a str,
    reset: &'a str,
    grader: &'a str,
    messages: String,
    tools: String,
    agent: &'a str,
}

/// `agent-lightning`: rollout inputs for 1.0, as JSON lines and as parquet.
#[derive(Default)]
pub(crate) struct Lightning {
    starts: Starts,
    formats: BTreeSet<String>,
}

impl Consumer for Lightning {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if run.head.format.starts_with("agent-lightning") {
            self.formats.insert(run.head.format.clone());
        }
        // The legacy branch and 1.0 cut rollouts differently; one set never mixes them (S-31).
        if self.formats.len() > 1 {
            let both: Vec<&str> = self.formats.iter().map(String::as_str).collect();
            return Err(Error::Options(format!(
                "runs of {} do not mix in one set; filter by format",
                both.join(" and ")
            )));
        }
        self.starts.run(run, desk)
    }

    fn pair(&mut self, _: &PairInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        let mut tables: BTreeMap<Part, Table> = BTreeMap::new();
        for start in std::mem::take(&mut self.starts).into_sorted(desk) {
            let row = serde_json::to_value(lightning_row(&start))
                .map_err(|e| Error::Options(e.to_string()))?;
            desk.row(start.part, &row)?;
            let table = match tables.remove(&start.part) {
                Some(table) => table,
                None => Table::new(
                    desk.folder.lend(&parquet_name(start.part))?,
                    text_columns(&row),
                )
                .map_err(Error::parquet)?,
            };
            let table = tables.entry(start.part).or_insert(table);
            table.push(&row).map_err(Error::parquet)?;
        }
        for (part, table) in tables {
            let rows = table.rows;
            let sheet = table.finish().map_err(Error::parquet)?;
            desk.folder.give_back(&parquet_name(part), sheet, rows)?;
        }
        desk.units.loss = "Agent Lightning 1.0: per rollout";
        desk.settings.insert(
            "agent-lightning",
            "1.0; a row is the `input` of a rollout".to_owned(),
        );
        desk.settings.insert(
            "reward_fillna_value",
            "leave missing rewards out; the default of 0.0 turns them into failures".to_owned(),
        );
        Ok(())
    }
}

fn parquet_name(part: Part) -> String {
    format!("{part}.parquet")
}

fn text_columns(row: &Value) -> Vec<(String, Shape)> {
    let keys = row.as_object().into_iter().flat_map(|o| o.keys());
    keys.map(|k| (k.clone(), Shape::Text)).collect()
}

fn lightning_row(start: &Start) -> LightningRow<'_> {
    let asked = start.prompt.iter().rev().find(|m| m.role == Role::User);
    let id = start
        .task
        .as_ref()
        .map_or_else(|| start.context.clone(), ToString::to_string);
    LightningRow {
        data_id: id,
        task_id: name(start.task.as_ref()),
        question: asked.and_then(|m| m.content.clone()).unwrap_or_default(),
        answer: &start.answer,
        family: &start.family,
        scenario: &start.scenario,
        reset: &start.reset,
        grader: &start.grader,
        messages: serde_json::to_string(&Messages(&start.prompt, Dialect::OPENAI))
            .unwrap_or_default(),
        tools: tools_text(&start.tools),
        agent: &start.agent,
    }
}
