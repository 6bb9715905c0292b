//! verl's two sets (TRAINING A6). JSON lines say everything; parquet merges what a list holds, so only rows that it
//! reads back unbent go there too.

use super::columns::{Shape, Table};
use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Messages, tools_text};
use super::rl::{Start, Starts};
use super::split::Part;
use super::talk::{Talk, accept, of_success, written};
use super::trl::human_demonstration;
use crate::domain::TaskId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAME: &str = "verl's SFT set";
/// A dataset class that reads JSON lines as they are.
const READER: &str = include_str!("../../assets/export/verl_jsonl.py");
const READER_NAME: &str = "triagent_verl.py";

fn message_shape() -> Shape {
    let function = Shape::fields(&[("name", Shape::Text), ("arguments", Shape::Text)]);
    let call = Shape::fields(&[
        ("id", Shape::Text),
        ("type", Shape::Text),
        ("function", function),
    ]);
    Shape::list(Shape::fields(&[
        ("role", Shape::Text),
        ("content", Shape::Text),
        ("reasoning_content", Shape::Text),
        ("tool_calls", Shape::list(call)),
        ("tool_call_id", Shape::Text),
        ("name", Shape::Text),
    ]))
}

fn value<T: serde::Serialize>(of: T) -> Result<Value, Error> {
    serde_json::to_value(of).map_err(|e| Error::Options(e.to_string()))
}

/// `verl-sft`: whole conversations.
#[derive(Default)]
pub(crate) struct Sft {
    /// Parquet shards: one for each side of the split and shape of the tool list, since one file has one schema.
    shards: BTreeMap<(Part, Option<Shape>), (String, Table)>,
    only_lines: u64,
}

impl Consumer for Sft {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        of_success(run, desk)
            .iter()
            .try_for_each(|talk| self.write(desk, talk, &talk.at.to_string()))
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(preference) = human_demonstration(pair, desk) else {
            return Ok(());
        };
        self.write(
            desk,
            &written(preference.chosen.clone()),
            pair.record.id.as_str(),
        )
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        for (name, table) in std::mem::take(&mut self.shards).into_values() {
            let rows = table.rows;
            let sheet = table.finish().map_err(Error::parquet)?;
            desk.folder.give_back(&name, sheet, rows)?;
        }
        if self.only_lines > 0 {
            desk.warnings.insert(format!("{} rows stand in the JSON lines alone: parquet would fill their tool schemas with nulls", self.only_lines));
        }
        desk.folder.whole(READER_NAME, READER.as_bytes(), 0)?;
        desk.units.rows = "one conversation, cut where the context was rewritten";
        desk.units.loss = "verl: tokens of every assistant message";
        let class = format!(
            "path={READER_NAME}, name=TriagentJsonl; reads the JSON lines as they are, arguments as objects"
        );
        desk.settings.insert("data.custom_cls", class);
        desk.settings.insert(
            "parquet",
            "arguments are JSON strings there: only for templates that print strings as they are"
                .to_owned(),
        );
        desk.settings.insert(
            "ignore_input_ids_mismatch",
            "leave false: a template that renders messages differently alone must stop".to_owned(),
        );
        Ok(())
    }
}

impl Sft {
    fn write(&mut self, desk: &mut Desk<'_>, talk: &Talk<'_>, subject: &str) -> Result<(), Error> {
        let said = talk.is_sayable(NAME);
        let (Some(messages), Some(last)) =
            (accept(desk, talk, subject, "", said), talk.targets.last())
        else {
            return Ok(());
        };
        let part = desk.part(talk.run);
        let head = &talk.run.head;
        let mut row = json!({
            "messages": value(Messages(&messages, Dialect { object_arguments: true, ..Dialect::VERL }))?,
            "tools": if head.tools.is_empty() { Value::Null } else { Value::Array(head.tools.clone()) },
            "enable_thinking": messages.iter().any(|m| m.reasoning.is_some()),
            "id": subject, "run": head.id, "task_id": head.task.as_ref().map_or("", TaskId::as_str),
            "source": last.source,
        });
        desk.row(part, &row)?;
        row["messages"] = value(Messages(&messages, Dialect::VERL))?;
        self.parquet(desk, part, &row, &head.tools)
    }

    fn parquet(
        &mut self,
        desk: &Desk<'_>,
        part: Part,
        row: &Value,
        tools: &[Value],
    ) -> Result<(), Error> {
        let shape = if tools.is_empty() {
            None
        } else {
            Shape::of(&Value::Array(tools.to_vec()))
        };
        if shape.is_none() && !tools.is_empty() {
            self.only_lines += 1;
            return Ok(());
        }
        let number = self.shards.keys().filter(|(p, _)| *p == part).count();
        let key = (part, shape.clone());
        if !self.shards.contains_key(&key) {
            let name = format!("parquet/{part}-{number:02}.parquet");
            let table =
                Table::new(desk.folder.lend(&name)?, columns(shape)).map_err(Error::parquet)?;
            self.shards.insert(key.clone(), (name, table));
        }
        match self.shards.get_mut(&key) {
            Some((_, table)) => table.push(row).map_err(Error::parquet),
            None => Ok(()),
        }
    }
}

fn columns(tools: Option<Shape>) -> Vec<(String, Shape)> {
    let mut columns = vec![("messages".to_owned(), message_shape())];
    columns.extend(tools.map(|shape| ("tools".to_owned(), shape)));
    columns.push(("enable_thinking".to_owned(), Shape::Bool));
    columns.extend(["id", "run", "task_id", "source"].map(|n| (n.to_owned(), Shape::Text)));
    columns
}

/// `verl-rl`: tasks.
#[derive(Default)]
pub(crate) struct Rl {
    starts: Starts,
}

impl Consumer for Rl {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        self.starts.run(run, desk)
    }

    fn pair(&mut self, _: &PairInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        let mut tables: BTreeMap<Part, Table> = BTreeMap::new();
        for (index, start) in std::mem::take(&mut self.starts)
            .into_sorted(desk)
            .iter()
            .enumerate()
        {
            let row = rl_row(start, index)?;
            desk.row(start.part, &row)?;
            let table = match tables.remove(&start.part) {
                Some(table) => table,
                None => Table::new(desk.folder.lend(&rl_name(start.part))?, rl_columns())
                    .map_err(Error::parquet)?,
            };
            tables
                .entry(start.part)
                .or_insert(table)
                .push(&row)
                .map_err(Error::parquet)?;
        }
        for (part, table) in tables {
            let rows = table.rows;
            let sheet = table.finish().map_err(Error::parquet)?;
            desk.folder.give_back(&rl_name(part), sheet, rows)?;
        }
        desk.units.loss = "verl: token mean over the batch";
        desk.settings.insert("actor_rollout_ref.rollout.multi_turn.tool_config_path", "your tools; rows do not carry schemas, `extra_info.tools_seen` only says what the logs showed".to_owned());
        desk.settings.insert(
            "data.max_prompt_length",
            "above your longest prompt; longer ones are filtered silently".to_owned(),
        );
        Ok(())
    }
}

fn rl_name(part: Part) -> String {
    format!("parquet/{part}.parquet")
}

fn rl_row(start: &Start, index: usize) -> Result<Value, Error> {
    let agent = if start.tools.is_empty() {
        "single_turn_agent"
    } else {
        "tool_agent"
    };
    Ok(json!({
        "data_source": if start.family.is_empty() { "triagent" } else { &start.family },
        "prompt": value(Messages(&start.prompt, Dialect::VERL))?,
        "ability": start.family,
        "reward_model": {"style": "rule", "ground_truth": start.answer},
        "extra_info": {
            "split": start.part.word(), "index": index, "need_tools_kwargs": false,
            "task_id": start.task.as_ref().map_or("", TaskId::as_str), "scenario": start.scenario,
            "reset": start.reset, "grader": start.grader, "tools_seen": tools_text(&start.tools),
            "recorded_runs": start.runs.join(","),
        },
        "agent_name": agent,
    }))
}

fn rl_columns() -> Vec<(String, Shape)> {
    let text = |names: &[&'static str]| names.iter().map(|n| (*n, Shape::Text)).collect::<Vec<_>>();
    let mut extra = vec![
        ("split", Shape::Text),
        ("index", Shape::Int),
        ("need_tools_kwargs", Shape::Bool),
    ];
    extra.extend(text(&[
        "task_id",
        "scenario",
        "reset",
        "grader",
        "tools_seen",
        "recorded_runs",
    ]));
    vec![
        ("data_source".to_owned(), Shape::Text),
        ("prompt".to_owned(), message_shape()),
        ("ability".to_owned(), Shape::Text),
        (
            "reward_model".to_owned(),
            Shape::fields(&[("style", Shape::Text), ("ground_truth", Shape::Text)]),
        ),
        ("extra_info".to_owned(), Shape::fields(&extra)),
        ("agent_name".to_owned(), Shape::Text),
    ]
}
