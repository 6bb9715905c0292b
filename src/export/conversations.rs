//! `trl-sft --shape messages`: whole conversations. TRL trains every token of them unless `assistant_only_loss=True`,
//! which needs generation marks in the template; without the marks this shape is refused (TRAINING A1).

use super::desk::{Consumer, Desk};
use super::error::Error;
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Messages, tools_text};
use super::options::{Options, Shape};
use super::talk::{Talk, accept, of_success, written};
use super::trl::{Origin, human_demonstration, length_setting};
use serde::Serialize;

const NAME: &str = "TRL with assistant_only_loss";

/// The shape fits the format and the template.
pub(crate) fn check(options: &Options<'_>) -> Result<(), Error> {
    if options.shape != Shape::Messages {
        return Ok(());
    }
    if options.format != super::options::Format::TrlSft {
        return Err(Error::Options(format!(
            "shape `messages` belongs to trl-sft; {} has a shape of its own",
            options.format
        )));
    }
    if options.target.is_some_and(|t| !t.has_generation_marks) {
        return Err(Error::Options(
            "the model's template has no {% generation %} marks, so TRL would train every token; use prompt-completion".to_owned(),
        ));
    }
    Ok(())
}

#[derive(Serialize)]
struct Row<'a> {
    messages: Messages<'a>,
    tools: String,
    #[serde(flatten)]
    origin: Origin<'a>,
}

/// Whole conversations for TRL.
#[derive(Default)]
pub(crate) struct Conversations;

impl Consumer for Conversations {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        of_success(run, desk)
            .iter()
            .try_for_each(|talk| write(desk, talk, &talk.at.to_string(), None))
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(preference) = human_demonstration(pair, desk) else {
            return Ok(());
        };
        let talk = written(preference.chosen.clone());
        let origin = Origin::preferred(&preference);
        write(desk, &talk, pair.record.id.as_str(), Some(origin))
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one conversation, cut where the context was rewritten";
        desk.units.loss = "TRL: mean over the assistant tokens of the batch";
        desk.settings.insert(
            "assistant_only_loss",
            "True; without it every token is trained, prompts and tool results too".to_owned(),
        );
        if desk.options.target.is_none() {
            desk.warnings.insert(
                "the template was not at hand: make sure that it has {% generation %} marks"
                    .to_owned(),
            );
        }
        length_setting(desk);
        Ok(())
    }
}

fn write(
    desk: &mut Desk<'_>,
    talk: &Talk<'_>,
    subject: &str,
    origin: Option<Origin<'_>>,
) -> Result<(), Error> {
    let said = talk.is_sayable(NAME);
    let (Some(messages), Some(last)) = (accept(desk, talk, subject, "", said), talk.targets.last())
    else {
        return Ok(());
    };
    let row = Row {
        messages: Messages(&messages, Dialect::TRL),
        tools: tools_text(&talk.run.head.tools),
        origin: origin.unwrap_or_else(|| Origin::of(last)),
    };
    desk.row(desk.part(talk.run), &row)
}
