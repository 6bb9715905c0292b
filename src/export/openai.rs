//! OpenAI-shaped rows (TRAINING A3): arguments as strings, every call with an id and an answer, `weight` on
//! assistant messages. The platform refuses unknown keys, so provenance lies beside the rows, line by line.

use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Message, Messages, call_ids};
use super::select::Preference;
use super::split::Part;
use super::talk::{Talk, Turn, accept, of_success, written};
use super::trl::{Origin, accept_pair, human_demonstration};
use super::why::Why;
use crate::domain::{ChatMessage, Role};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::slice::from_ref;

const NAME: &str = "OpenAI's format";

struct Weighted<'a>(&'a [Turn]);

impl Serialize for Weighted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages: Vec<ChatMessage> = self.0.iter().map(|t| t.message.clone()).collect();
        let ids = call_ids(&messages);
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for (turn, ids) in self.0.iter().zip(&ids) {
            let weight = (turn.message.role == Role::Assistant).then_some(u8::from(turn.target));
            let message = Message {
                message: &turn.message,
                dialect: Dialect::OPENAI,
                ids,
                weight,
            };
            list.serialize_element(&message)?;
        }
        list.end()
    }
}

#[derive(Serialize)]
struct SftRow<'a> {
    messages: Weighted<'a>,
    #[serde(skip_serializing_if = "<[Value]>::is_empty")]
    tools: &'a [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
}

/// `openai-sft`: whole conversations, conditions with weight 0.
#[derive(Default)]
pub(crate) struct Sft;

impl Consumer for Sft {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        of_success(run, desk)
            .iter()
            .try_for_each(|talk| write(desk, talk, &talk.at.to_string(), Origin::of))
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(preference) = human_demonstration(pair, desk) else {
            return Ok(());
        };
        let talk = written(preference.chosen.clone());
        write(desk, &talk, pair.record.id.as_str(), |_| {
            Origin::preferred(&preference)
        })
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows =
            "one conversation, cut where the context was rewritten; weight 1 on the targets";
        desk.units.loss = "the platform: over assistant messages of weight 1";
        if desk.rows.values().sum::<u64>() < 10 {
            desk.warnings
                .insert("the platform asks for at least 10 examples".to_owned());
        }
        Ok(())
    }
}

fn write<'t, 'a>(
    desk: &mut Desk<'_>,
    talk: &'t Talk<'a>,
    subject: &str,
    origin: impl Fn(&'t super::select::Example<'a>) -> Origin<'t>,
) -> Result<(), Error> {
    let said = answered(&talk.turns);
    let (Some(()), Some(last)) = (accept(desk, talk, subject, "", said), talk.targets.last())
    else {
        return Ok(());
    };
    let tools = talk.run.head.tools.as_slice();
    let row = SftRow {
        messages: Weighted(&talk.turns),
        tools,
        parallel_tool_calls: (!tools.is_empty()).then_some(true),
    };
    let part = desk.part(talk.run);
    desk.row(part, &row)?;
    beside(desk, part, &origin(last))
}

/// Writes the provenance of the row that was just written.
fn beside<T: Serialize>(desk: &mut Desk<'_>, part: Part, origin: &T) -> Result<(), Error> {
    desk.folder.line(&format!("origin/{part}.jsonl"), origin)
}

/// Every call has its answer later, unless it is the last message.
fn answered(turns: &[Turn]) -> Result<(), Why> {
    let messages: Vec<ChatMessage> = turns.iter().map(|t| t.message.clone()).collect();
    let ids = call_ids(&messages);
    let mut open: Vec<&String> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        if turn.message.role == Role::Tool {
            open.retain(|id| ids[at].first() != Some(id));
        } else if at + 1 < turns.len() {
            open.extend(&ids[at]);
        }
    }
    match open.first() {
        Some(id) => Err(Why::CannotSay {
            consumer: NAME,
            what: format!("the call `{id}` has no answer"),
        }),
        None => Ok(()),
    }
}

#[derive(Serialize)]
struct DpoInput<'a> {
    messages: Messages<'a>,
    tools: &'a [Value],
    parallel_tool_calls: bool,
}

#[derive(Serialize)]
struct DpoRow<'a> {
    input: DpoInput<'a>,
    preferred_output: Messages<'a>,
    non_preferred_output: Messages<'a>,
}

#[derive(Serialize)]
struct PairOrigin<'a> {
    chosen_id: String,
    rejected_id: String,
    #[serde(flatten)]
    chosen: Origin<'a>,
}

/// `openai-dpo`: decided pairs.
#[derive(Default)]
pub(crate) struct Dpo;

impl Consumer for Dpo {
    fn run(&mut self, _: &RunInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let ready = desk.select.preference(pair).and_then(|p| {
            let prompt: Vec<Turn> = (p.chosen.prompt.iter())
                .map(|m| Turn {
                    message: m.clone(),
                    target: false,
                    step: 0,
                })
                .collect();
            answered_all(&prompt)?;
            accept_pair(desk, &p).map(|()| p)
        });
        match ready {
            Ok(preference) => {
                let part = desk.part(preference.chosen.run);
                desk.row(part, &dpo_row(&preference))?;
                beside(desk, part, &pair_origin(&preference))
            }
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                Ok(())
            }
        }
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one pair of decisions";
        desk.units.loss = "the platform's own";
        Ok(())
    }
}

/// In a prompt, the last message too must have its answer.
fn answered_all(turns: &[Turn]) -> Result<(), Why> {
    let mut with_end = turns.to_vec();
    with_end.push(Turn {
        message: ChatMessage::text(Role::Assistant, "."),
        target: true,
        step: 0,
    });
    answered(&with_end)
}

fn dpo_row<'a>(preference: &'a Preference<'_>) -> DpoRow<'a> {
    let (chosen, rejected) = (&preference.chosen, &preference.rejected);
    DpoRow {
        input: DpoInput {
            messages: Messages(&chosen.prompt, Dialect::OPENAI),
            tools: &chosen.run.head.tools,
            parallel_tool_calls: true,
        },
        preferred_output: Messages(from_ref(&chosen.target), Dialect::OPENAI),
        non_preferred_output: Messages(from_ref(&rejected.target), Dialect::OPENAI),
    }
}

fn pair_origin<'a>(preference: &'a Preference<'_>) -> PairOrigin<'a> {
    PairOrigin {
        chosen_id: preference.chosen.at.to_string(),
        rejected_id: preference.rejected.at.to_string(),
        chosen: Origin::preferred(preference),
    }
}
