//! LLaMA-Factory's sharegpt rows (TRAINING A4). Its converter empties a row that does not alternate, so such a row
//! never gets there; its template is its own, so token-level equality with TRL is not to be expected.

use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::message::compact_object;
use super::select::{Example, Preference};
use super::split::Part;
use super::talk::{Talk, accept, of_success, written};
use super::trl::{Origin, accept_pair, human_demonstration};
use super::why::Why;
use crate::domain::{ChatMessage, Role};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const NAME: &str = "LLaMA-Factory's sharegpt";
/// What its own converter puts between the results of parallel calls.
const BETWEEN_RESULTS: &str = "\n</tool_response>\n<tool_response>\n";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Said {
    from: &'static str,
    value: String,
}

/// Turns after the system line.
struct Sharegpt {
    system: String,
    turns: Vec<Said>,
}

fn cannot(what: impl Into<String>) -> Why {
    Why::CannotSay {
        consumer: NAME,
        what: what.into(),
    }
}

fn sharegpt(messages: &[ChatMessage]) -> Result<Sharegpt, Why> {
    let mut out = Sharegpt {
        system: String::new(),
        turns: Vec::new(),
    };
    for (at, message) in messages.iter().enumerate() {
        let text = message.content.clone().unwrap_or_default();
        match message.role {
            Role::System | Role::Developer if at == 0 => out.system = text,
            Role::System | Role::Developer => {
                return Err(cannot("a system message stands in the middle"));
            }
            Role::User => out.turns.push(Said {
                from: "human",
                value: text,
            }),
            Role::Assistant => out.turns.push(answer(message)?),
            Role::Tool => match out.turns.last_mut().filter(|t| t.from == "observation") {
                Some(open) => open.value = format!("{}{BETWEEN_RESULTS}{text}", open.value),
                None => out.turns.push(Said {
                    from: "observation",
                    value: text,
                }),
            },
        }
    }
    for (at, turn) in out.turns.iter().enumerate() {
        let asks = matches!(turn.from, "human" | "observation");
        if asks != (at % 2 == 0) {
            return Err(cannot(format!(
                "turns must alternate, and turn {} is `{}`",
                at + 1,
                turn.from
            )));
        }
    }
    Ok(out)
}

/// `gpt` or `function_call`, never both in one.
fn answer(message: &ChatMessage) -> Result<Said, Why> {
    if message.reasoning.is_some() {
        return Err(cannot("reasoning stands beside an answer; drop it"));
    }
    let text = message.content.clone().unwrap_or_default();
    if message.tool_calls.is_empty() {
        return Ok(Said {
            from: "gpt",
            value: text,
        });
    }
    if !text.trim().is_empty() {
        return Err(cannot("text stands beside a tool call"));
    }
    let calls: Option<Vec<Call<'_>>> = (message.tool_calls.iter())
        .map(|c| {
            Some(Call {
                name: &c.name,
                arguments: compact_object(&c.arguments)?,
            })
        })
        .collect();
    let calls = calls.ok_or_else(|| cannot("a call's arguments are no JSON object"))?;
    let value = match calls.as_slice() {
        [one] => serde_json::to_string(one),
        many => serde_json::to_string(many),
    };
    Ok(Said {
        from: "function_call",
        value: value.map_err(|e| cannot(e.to_string()))?,
    })
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    arguments: Box<RawValue>,
}

/// Tools as the text of a list; empty = none, which its converter takes for no tools.
fn tools(example: &Example<'_>) -> String {
    if example.run.head.tools.is_empty() {
        return String::new();
    }
    super::message::tools_text(&example.run.head.tools)
}

#[derive(Serialize)]
struct SftRow<'a> {
    conversations: Vec<Said>,
    system: String,
    tools: String,
    #[serde(flatten)]
    origin: Origin<'a>,
}

/// `llamafactory-sft`: whole conversations, and single decisions for `mask_history`.
#[derive(Default)]
pub(crate) struct Sft {
    files: BTreeMap<String, bool>,
}

/// File of rows of which only the last turn may be trained.
const LAST_TURN: &str = "-last-turn";

impl Consumer for Sft {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        of_success(run, desk)
            .into_iter()
            .try_for_each(|talk| self.talk(desk, talk))
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(preference) = human_demonstration(pair, desk) else {
            return Ok(());
        };
        let talk = written(preference.chosen.clone());
        let suffix = if talk.all_targets(NAME).is_ok() {
            ""
        } else {
            LAST_TURN
        };
        let subject = pair.record.id.as_str();
        self.write(desk, &talk, subject, suffix, Origin::preferred(&preference))
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows =
            "one conversation; rows in a `-last-turn` file teach their last turn alone";
        desk.units.loss =
            "LLaMA-Factory: every answer of the conversation, or the last with mask_history";
        if self.files.keys().any(|name| name.contains(LAST_TURN)) {
            let value = "true for the `-last-turn` sets; without it their earlier turns would be trained too";
            desk.settings.insert("mask_history", value.to_owned());
        }
        write_info(desk, &self.files, "sft")
    }
}

impl Sft {
    /// One row where every answer is a target, else one row a decision.
    fn talk(&mut self, desk: &mut Desk<'_>, talk: Talk<'_>) -> Result<(), Error> {
        if talk.all_targets(NAME).is_ok() {
            let subject = talk.at.to_string();
            let origin = talk.targets.last().map(Origin::of);
            return match origin {
                Some(origin) => self.write(desk, &talk, &subject, "", origin),
                None => Ok(()),
            };
        }
        for target in talk.targets {
            let single = written(target);
            let subject = single.at.to_string();
            if let Some(target) = single.targets.first() {
                self.write(desk, &single, &subject, LAST_TURN, Origin::of(target))?;
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        desk: &mut Desk<'_>,
        talk: &Talk<'_>,
        subject: &str,
        suffix: &str,
        origin: Origin<'_>,
    ) -> Result<(), Error> {
        let said = sharegpt(&talk.messages());
        let (Some(said), Some(last)) = (
            accept(desk, talk, subject, suffix, said),
            talk.targets.last(),
        ) else {
            return Ok(());
        };
        let row = SftRow {
            conversations: said.turns,
            system: said.system,
            tools: tools(last),
            origin,
        };
        let part = desk.part(talk.run);
        let name = format!("{part}{suffix}.jsonl");
        desk.row_in(&name, part, &row)?;
        self.files.insert(name, false);
        Ok(())
    }
}

#[derive(Serialize)]
struct DpoRow<'a> {
    conversations: Vec<Said>,
    chosen: Said,
    rejected: Said,
    system: String,
    tools: String,
    #[serde(flatten)]
    origin: Origin<'a>,
    rejected_id: String,
}

/// `llamafactory-dpo`: ranking rows.
#[derive(Default)]
pub(crate) struct Dpo {
    files: BTreeMap<String, bool>,
}

impl Consumer for Dpo {
    fn run(&mut self, _: &RunInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let preference = match desk.select.preference(pair) {
            Ok(preference) => preference,
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                return Ok(());
            }
        };
        match dpo_row(&preference).and_then(|row| accept_pair(desk, &preference).map(|()| row)) {
            Ok(row) => {
                let part = desk.part(preference.chosen.run);
                self.files.insert(format!("{part}.jsonl"), true);
                desk.row(part, &row)
            }
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                Ok(())
            }
        }
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one pair of decisions";
        desk.units.loss = "LLaMA-Factory: DPO over the two answers";
        write_info(desk, &self.files, "dpo")
    }
}

fn dpo_row<'a>(preference: &'a Preference<'_>) -> Result<DpoRow<'a>, Why> {
    let said = sharegpt(&preference.chosen.prompt)?;
    if said.turns.len() % 2 == 0 {
        return Err(cannot(
            "a ranked prompt must end with a request or an observation",
        ));
    }
    Ok(DpoRow {
        conversations: said.turns,
        chosen: answer(&preference.chosen.target)?,
        rejected: answer(&preference.rejected.target)?,
        system: said.system,
        tools: tools(&preference.chosen),
        origin: Origin::preferred(preference),
        rejected_id: preference.rejected.at.to_string(),
    })
}

/// `dataset_info.json`: how LLaMA-Factory finds the files.
fn write_info(
    desk: &mut Desk<'_>,
    files: &BTreeMap<String, bool>,
    kind: &str,
) -> Result<(), Error> {
    let mut info = Map::new();
    for (file, ranking) in files {
        let stem = file.trim_end_matches(".jsonl");
        let train = Part::Train.word();
        let rest = stem.strip_prefix(train).unwrap_or(stem).replace('-', "_");
        let rest = if rest.is_empty() || rest.starts_with('_') {
            rest
        } else {
            format!("_{rest}")
        };
        let mut columns =
            json!({"messages": "conversations", "system": "system", "tools": "tools"});
        if *ranking {
            columns["chosen"] = json!("chosen");
            columns["rejected"] = json!("rejected");
        }
        let entry = json!({
            "file_name": file, "formatting": "sharegpt", "ranking": ranking, "columns": columns,
            "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
                "observation_tag": "observation", "function_tag": "function_call", "system_tag": "system"},
        });
        info.insert(format!("triagent_{kind}{rest}"), entry);
    }
    let names: Vec<&str> = info.keys().map(String::as_str).collect();
    desk.settings.insert("dataset", names.join(","));
    desk.settings
        .insert("dataset_dir", "this folder".to_owned());
    let text = serde_json::to_string_pretty(&Value::Object(info)).unwrap_or_default();
    desk.folder
        .whole("dataset_info.json", format!("{text}\n").as_bytes(), 0)
}
