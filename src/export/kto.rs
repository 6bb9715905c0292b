//! `trl-kto`: single decisions marked good or bad. Bad is a side that lost, both sides of "both bad", or the decisive
//! step of a proven `model` verdict; a final reward of 0 paints no step (S-51).

use super::desk::{Consumer, Desk};
use super::error::Error;
use super::gate::{self, RunView};
use super::input::{PairInput, RunInput};
use super::message::{Dialect, Messages, tools_text};
use super::select::Example;
use super::split::Part;
use super::trl::{Origin, accept};
use super::why::Why;
use crate::domain::{Choice, Layer, StepRef};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::slice::from_ref;

#[derive(Serialize)]
struct Row<'a> {
    prompt: Messages<'a>,
    completion: Messages<'a>,
    label: bool,
    tools: String,
    #[serde(flatten)]
    origin: Origin<'a>,
}

/// Rows of one side of the split that wait for their place, on disk: good and bad ones take turns, since the KL term
/// pairs a prompt with its neighbour's completion.
struct Waiting {
    good: Pile,
    bad: Pile,
}

/// Lines in a file of their own.
struct Pile {
    path: PathBuf,
    file: BufWriter<File>,
    lines: usize,
}

impl Pile {
    fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(|e| Error::io(&path, e))?;
        Ok(Self {
            file: BufWriter::new(file),
            path,
            lines: 0,
        })
    }

    fn push(&mut self, line: &str) -> Result<(), Error> {
        self.lines += 1;
        writeln!(self.file, "{line}").map_err(|e| Error::io(&self.path, e))
    }

    fn read(&mut self) -> Result<std::io::Lines<BufReader<File>>, Error> {
        self.file.flush().map_err(|e| Error::io(&self.path, e))?;
        let file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
        Ok(BufReader::new(file).lines())
    }
}

/// `trl-kto`.
#[derive(Default)]
pub(crate) struct Kto {
    waiting: BTreeMap<Part, Waiting>,
}

impl Consumer for Kto {
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        match gate::is_success(run) {
            Ok(()) => self.success(run, desk),
            Err(why) => self.failure(run, desk, &why),
        }
    }

    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        let both_bad = pair.pair().is_some_and(|p| p.choice == Choice::BothBad);
        let marked: Result<Vec<(Example<'_>, bool)>, Why> = if both_bad {
            desk.select
                .both_sides(pair)
                .map(|sides| sides.map(|s| (s, false)).into())
        } else {
            desk.select
                .preference(pair)
                .map(|p| vec![(p.chosen, true), (p.rejected, false)])
        };
        match marked {
            Ok(sides) => {
                let standard = pair.pair().and_then(|p| p.standard.clone());
                desk.seen
                    .standard
                    .add(standard.or(Some("the task's".to_owned())));
                sides
                    .into_iter()
                    .try_for_each(|(example, label)| self.mark(desk, &example, label, Some(pair)))
            }
            Err(why) => {
                desk.leave_out(&pair.record.id, &why);
                Ok(())
            }
        }
    }

    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error> {
        let (mut good, mut bad) = (0usize, 0usize);
        for (part, waiting) in &mut self.waiting {
            good += waiting.good.lines;
            bad += waiting.bad.lines;
            take_turns(desk, *part, &mut waiting.good, &mut waiting.bad)?;
        }
        desk.units.rows = "one decision with a mark";
        desk.units.loss = "TRL: mean over rows of the KTO loss of summed log-probs";
        desk.settings
            .insert("trl", ">= 1.9 (older ones ignore tools in KTO)".to_owned());
        desk.settings
            .insert("per_device_train_batch_size", "at least 2".to_owned());
        super::trl::length_setting(desk);
        weights(desk, good, bad);
        Ok(())
    }
}

impl Kto {
    fn success(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error> {
        desk.coverage.success(run);
        for (at, example) in desk.select.decisions(run) {
            match example {
                Ok(example) => self.mark(desk, &example, true, None)?,
                Err(why) => desk.leave_out(at, &why),
            }
        }
        Ok(())
    }

    /// Of a failure only the step that a proven verdict names is bad.
    fn failure(&mut self, run: &RunInput, desk: &mut Desk<'_>, why: &Why) -> Result<(), Error> {
        let verdict = run.verdict.as_ref().filter(|v| v.layer == Layer::Model);
        let Some(step) = verdict.and_then(|v| v.decisive_step) else {
            desk.leave_out(&run.head.id, why);
            return Ok(());
        };
        if let Err(why) = gate::is_proven(run) {
            desk.leave_out(&run.head.id, &why);
            return Ok(());
        }
        let at = StepRef {
            run: run.head.id.clone(),
            step,
        };
        let view = RunView::new(run, desk.options.undecided);
        match desk.select.example(run, &view, &at) {
            Ok(example) => self.mark(desk, &example, false, None),
            Err(why) => {
                desk.leave_out(at, &why);
                Ok(())
            }
        }
    }

    fn mark(
        &mut self,
        desk: &mut Desk<'_>,
        example: &Example<'_>,
        label: bool,
        pair: Option<&PairInput>,
    ) -> Result<(), Error> {
        let subject = match pair {
            Some(pair) => format!("{} {}", pair.record.id, example.at),
            None => example.at.to_string(),
        };
        if let Err(why) = accept(desk, &subject, example) {
            desk.leave_out(&subject, &why);
            return Ok(());
        }
        let row = Row {
            prompt: Messages(&example.prompt, Dialect::TRL),
            completion: Messages(from_ref(&example.target), Dialect::TRL),
            label,
            tools: tools_text(&example.run.head.tools),
            origin: origin(example, pair),
        };
        let line = serde_json::to_string(&row).map_err(|e| Error::Options(e.to_string()))?;
        self.waiting(desk, example)?.pile(label).push(&line)
    }

    fn waiting(&mut self, desk: &Desk<'_>, example: &Example<'_>) -> Result<&mut Waiting, Error> {
        let part = desk.part(example.run);
        match self.waiting.entry(part) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Waiting {
                good: Pile::create(desk.folder.scratch(&format!("{part}-good")))?,
                bad: Pile::create(desk.folder.scratch(&format!("{part}-bad")))?,
            })),
        }
    }
}

impl Waiting {
    fn pile(&mut self, label: bool) -> &mut Pile {
        if label { &mut self.good } else { &mut self.bad }
    }
}

fn origin<'a>(example: &'a Example<'_>, pair: Option<&'a PairInput>) -> Origin<'a> {
    match pair.and_then(|input| Some((input, input.pair()?))) {
        Some((input, pair)) => Origin::of(example).decided(input, pair),
        None => Origin::of(example),
    }
}

/// Spreads the fewer evenly among the more.
fn take_turns(
    desk: &mut Desk<'_>,
    part: Part,
    good: &mut Pile,
    bad: &mut Pile,
) -> Result<(), Error> {
    let (more, fewer) = if good.lines >= bad.lines {
        (good, bad)
    } else {
        (bad, good)
    };
    let (mut many, mut few) = (more.read()?, fewer.read()?);
    let mut given = 0;
    for at in 0..more.lines {
        copy(desk, part, &mut many)?;
        let due = (at + 1) * fewer.lines / more.lines;
        while given < due {
            copy(desk, part, &mut few)?;
            given += 1;
        }
    }
    Ok(())
}

fn copy(
    desk: &mut Desk<'_>,
    part: Part,
    from: &mut std::io::Lines<BufReader<File>>,
) -> Result<(), Error> {
    let Some(line) = from.next() else {
        return Ok(());
    };
    let line = line.map_err(|e| Error::io(&desk.folder.scratch(part.word()), e))?;
    let raw = RawValue::from_string(line).map_err(|e| Error::Options(e.to_string()))?;
    desk.row(part, &raw)
}

/// λ_D n_D / (λ_U n_U) should lie in [1, 4/3] (TRAINING B1).
fn weights(desk: &mut Desk<'_>, good: usize, bad: usize) {
    if good == 0 || bad == 0 {
        desk.warnings.insert(format!(
            "{good} good and {bad} bad rows: with one kind alone nothing is contrasted"
        ));
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^52")]
    let ratio = bad as f64 / good as f64;
    if (1.0..=4.0 / 3.0).contains(&(1.0 / ratio)) {
        return;
    }
    let (low, high) = (ratio, ratio * 4.0 / 3.0);
    desk.settings.insert(
        "desirable_weight",
        format!(
            "between {low:.2} and {high:.2} (undesirable_weight 1): {good} good, {bad} bad rows"
        ),
    );
}
