//! Rows for TRL: prompt–completion, and preferences (TRAINING A1, A2). One assistant message a side, arguments
//! as objects, tools as a JSON string, everything else as flat strings, the same keys in every row.

use super::desk::{Consumer, Desk};
use super::error::Error;
use super::gate;
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Messages, tools_text};
use super::select::{Example, Preference};
use super::why::Why;
use crate::domain::Pair;
use serde::Serialize;
use std::slice::from_ref;

/// Where a supervised row comes from, as flat strings.
#[derive(Serialize)]
pub(crate) struct Origin<'a> {
    id: String,
    run: &'a str,
    step: String,
    task_id: &'a str,
    family: &'a str,
    scenario: &'a str,
    source: &'a str,
    outcome_source: &'a str,
    harness: String,
    model: &'a str,
    pair: &'a str,
    reviewer: &'a str,
    reason: &'a str,
    criteria: String,
    evidence: &'a str,
    standard: &'a str,
}

impl<'a> Origin<'a> {
    /// Of a recorded decision.
    pub(crate) fn of(example: &'a Example<'_>) -> Self {
        let head = &example.run.head;
        let text = |t: &'a Option<String>| t.as_deref().unwrap_or("");
        Self {
            id: example.at.to_string(),
            run: head.id.as_str(),
            step: example.at.step.to_string(),
            task_id: head.task.as_ref().map_or("", |t| t.as_str()),
            family: text(&head.family),
            scenario: text(&head.scenario),
            source: &example.source,
            outcome_source: text(&head.outcome_source),
            harness: [text(&head.harness.name), text(&head.harness.version)]
                .join(" ")
                .trim()
                .to_owned(),
            model: text(&head.model),
            pair: "",
            reviewer: "",
            reason: "",
            criteria: String::new(),
            evidence: "",
            standard: "",
        }
    }

    /// Of a side that a reviewer preferred.
    pub(crate) fn preferred(preference: &'a Preference<'_>) -> Self {
        let origin = Self::of(&preference.chosen).decided(preference.input, preference.pair);
        Self {
            standard: &preference.standard,
            ..origin
        }
    }

    /// With the decision that speaks for or against it.
    pub(crate) fn decided(self, input: &'a PairInput, pair: &'a Pair) -> Self {
        Self {
            pair: input.record.id.as_str(),
            reviewer: &input.record.reviewer,
            reason: &pair.reason,
            criteria: criteria(pair),
            evidence: pair.evidence.as_deref().unwrap_or(""),
            standard: pair.standard.as_deref().unwrap_or(""),
            ..self
        }
    }
}

/// Criteria, joined.
pub(crate) fn criteria(pair: &Pair) -> String {
    let words: Vec<&str> = pair.criteria.iter().map(|c| c.word()).collect();
    words.join(",")
}

#[derive(Serialize)]
struct SftRow<'a> {
    prompt: Messages<'a>,
    completion: Messages<'a>,
    tools: String,
    #[serde(flatten)]
    origin: Origin<'a>,
}

/// `trl-sft`: decisions of successful runs, and sides that reviewers wrote and preferred.
#[derive(Default)]
pub(crate) struct Sft;

impl Consumer for Sft {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        if let Err(why) = gate::is_success(run) {
            desk.leave_out(&run.head.id, &why);
            return Ok(());
        }
        desk.coverage.success(run);
        for (at, example) in desk.select.decisions(run) {
            let ready = example.and_then(|e| accept(desk, &at.to_string(), &e).map(|()| e));
            match ready {
                Ok(example) => write_sft(desk, &example, Origin::of(&example))?,
                Err(why) => desk.leave_out(at, &why),
            }
        }
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let Some(preference) = human_demonstration(pair, desk) else {
            return Ok(());
        };
        match accept(desk, pair.record.id.as_str(), &preference.chosen) {
            Ok(()) => write_sft(desk, &preference.chosen, Origin::preferred(&preference)),
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                Ok(())
            }
        }
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one decision";
        desk.units.loss = "TRL: mean over the completion tokens of the batch";
        desk.settings.insert("trl", ">= 1.9".to_owned());
        desk.settings.insert(
            "completion_only_loss",
            "leave unset (true for prompt–completion)".to_owned(),
        );
        length_setting(desk);
        Ok(())
    }
}

/// A side that a reviewer wrote and preferred is a demonstration; a recorded one is only better than another.
pub(crate) fn human_demonstration<'p>(
    pair: &'p PairInput,
    desk: &mut Desk<'_>,
) -> Option<Preference<'p>> {
    match desk.select.preference(pair) {
        Ok(preference) if preference.chosen.source != "recorded" => Some(preference),
        Ok(_) => None,
        // A pair without a written side would not be a demonstration in any case.
        Err(why) => {
            if pair
                .pair()
                .is_some_and(|p| p.a.is_human() || p.b.is_human())
            {
                desk.leave_out(&pair.record.id, &why);
            }
            None
        }
    }
}

/// The last questions before a row with object arguments is written.
pub(crate) fn accept(desk: &mut Desk<'_>, subject: &str, example: &Example<'_>) -> Result<(), Why> {
    gate::prompt_is_sayable(&example.prompt)?;
    if example.prompt.is_empty() {
        return Err(Why::NoPrompt);
    }
    desk.measure(example)?;
    desk.once(subject, example, "")?;
    desk.tally(example);
    Ok(())
}

fn write_sft(desk: &mut Desk<'_>, example: &Example<'_>, origin: Origin<'_>) -> Result<(), Error> {
    let row = SftRow {
        prompt: Messages(&example.prompt, Dialect::TRL),
        completion: Messages(from_ref(&example.target), Dialect::TRL),
        tools: tools_text(&example.run.head.tools),
        origin,
    };
    desk.row(desk.part(example.run), &row)
}

/// TRL cuts at 1024 tokens unless it is told otherwise.
pub(crate) fn length_setting(desk: &mut Desk<'_>) {
    let value = match desk.options.limits.tokens {
        Some(limit) => format!("{limit}; the default of 1024 cuts silently"),
        None => "None, or above your longest row; the default of 1024 cuts silently".to_owned(),
    };
    desk.settings.insert("max_length", value);
}

#[derive(Serialize)]
struct DpoRow<'a> {
    prompt: Messages<'a>,
    chosen: Messages<'a>,
    rejected: Messages<'a>,
    tools: String,
    id: &'a str,
    task_id: &'a str,
    chosen_id: String,
    rejected_id: String,
    chosen_source: &'a str,
    rejected_source: &'a str,
    reviewer: &'a str,
    reason: &'a str,
    criteria: String,
    evidence: &'a str,
    standard: &'a str,
    context_hash: &'a str,
}

/// `trl-dpo`: decided pairs.
#[derive(Default)]
pub(crate) struct Dpo;

impl Consumer for Dpo {
    fn run(&mut self, _: &RunInput, _: &mut Desk<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let ready = desk
            .select
            .preference(pair)
            .and_then(|p| accept_pair(desk, &p).map(|()| p));
        match ready {
            Ok(preference) => desk.row(desk.part(preference.chosen.run), &dpo_row(&preference)),
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                Ok(())
            }
        }
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.units.rows = "one pair of decisions";
        desk.units.loss = "TRL: mean over pairs of the loss of summed log-probs";
        desk.settings.insert("trl", ">= 1.9".to_owned());
        length_setting(desk);
        Ok(())
    }
}

/// The last questions before a pair with object arguments is written.
pub(crate) fn accept_pair(desk: &mut Desk<'_>, preference: &Preference<'_>) -> Result<(), Why> {
    gate::prompt_is_sayable(&preference.chosen.prompt)?;
    if preference.chosen.prompt.is_empty() {
        return Err(Why::NoPrompt);
    }
    desk.measure(&preference.chosen)?;
    desk.measure(&preference.rejected)?;
    let rejected =
        String::from_utf8_lossy(&preference.rejected.target.fingerprint_bytes()).into_owned();
    desk.once(
        preference.input.record.id.as_str(),
        &preference.chosen,
        &rejected,
    )?;
    desk.tally(&preference.chosen);
    desk.versions(preference.rejected.run);
    desk.seen.standard.add(Some(preference.standard.clone()));
    let codebook = Some(preference.input.record.codebook.clone()).filter(|c| !c.is_empty());
    desk.seen.codebook.add(codebook);
    Ok(())
}

fn dpo_row<'a>(preference: &'a Preference<'_>) -> DpoRow<'a> {
    let (chosen, rejected, pair) = (&preference.chosen, &preference.rejected, preference.pair);
    DpoRow {
        prompt: Messages(&chosen.prompt, Dialect::TRL),
        chosen: Messages(from_ref(&chosen.target), Dialect::TRL),
        rejected: Messages(from_ref(&rejected.target), Dialect::TRL),
        tools: tools_text(&chosen.run.head.tools),
        id: preference.input.record.id.as_str(),
        task_id: chosen.run.head.task.as_ref().map_or("", |t| t.as_str()),
        chosen_id: chosen.at.to_string(),
        rejected_id: rejected.at.to_string(),
        chosen_source: &chosen.source,
        rejected_source: &rejected.source,
        reviewer: &preference.input.record.reviewer,
        reason: &pair.reason,
        criteria: criteria(pair),
        evidence: pair.evidence.as_deref().unwrap_or(""),
        standard: &preference.standard,
        context_hash: &pair.context_hash,
    }
}
