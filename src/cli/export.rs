//! `triagent export`: a dataset that its trainer reads as it is, with a manifest that says what stayed out and why.

mod preview;

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::error::{Failure, Result};
use crate::export::{
    Attempts, Format, GroupBy, Limits, Manifest, Method, NearDuplicates, Options, Preview, Purpose,
    Reasoning, Shape, SplitOptions, Undecided,
};
use crate::jobs::{self, ExportChoice, ExportModel};
use crate::text;
use std::path::{Path, PathBuf};

/// Write a dataset, its manifest and its card
///
/// Every row that cannot leave is listed in the manifest with its reason, never bent. A closed gate for the whole set (cleaning not
/// done, no clarification, no reference model, a leak across the split) stops the export; --draft writes it all the same and says in
/// the manifest that it must not train. The same input gives the same bytes. Exit code 3
/// where no row is left.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Who will read it
    #[arg(value_name = "FORMAT", value_parser = formats())]
    format: String,
    /// Folder to write into
    #[arg(long, value_name = "DIR", required_unless_present = "preview", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Print the first rows and what would stay out; write nothing
    #[arg(long, conflicts_with = "out")]
    preview: bool,
    /// Only runs that pass, and pairs among them
    #[arg(long, short, value_name = "EXPR")]
    filter: Option<String>,
    /// Hold groups out: what stays together (task, document or scenario)
    #[arg(long, value_name = "BY", value_parser = ["task", "document", "scenario"])]
    split: Option<String>,
    /// Percent of the groups held out for validation
    #[arg(long, value_name = "PERCENT", default_value_t = 10, requires = "split")]
    validation: u8,
    /// Percent of the groups held out for the test
    #[arg(long, value_name = "PERCENT", default_value_t = 0, requires = "split")]
    test: u8,
    /// Chooses the groups that are held out
    #[arg(long, value_name = "N", default_value_t = 0, requires = "split")]
    seed: u64,
    /// Near-duplicate tasks count as one group instead of stopping the export
    #[arg(long, requires = "split")]
    join_near_duplicates: bool,
    /// How a supervised row looks; `messages` needs generation marks in the template and assistant_only_loss=True
    #[arg(long, value_name = "SHAPE", default_value = "prompt-completion", value_parser = ["prompt-completion", "messages"])]
    shape: String,
    /// Which attempts may enter
    #[arg(long, value_name = "A", default_value = "adopted", value_parser = ["adopted", "adopted-or-unknown"])]
    attempts: String,
    /// What becomes of text before the answer
    #[arg(long, value_name = "R", default_value = "keep", value_parser = ["keep", "drop"])]
    reasoning: String,
    /// Leave out rows of more tokens than this; TRL cuts at 1024 unless told otherwise
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,
    /// Model to be trained: a folder or GGUF file, whose template and tokenizer then judge every row, or just a name
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Secrets and personal data that nobody has decided leave as placeholders instead of keeping their rows out
    #[arg(long)]
    redact_undecided: bool,
    /// Reference policy of a preference loss: a folder, a GGUF file or a name, recorded in the manifest (S-45)
    #[arg(long, value_name = "MODEL")]
    reference: Option<String>,
    /// Write the set even where a gate is closed; the manifest says that it must not train
    #[arg(long)]
    draft: bool,
}

/// Rows that a preview prints.
const PREVIEW_ROWS: usize = 3;

fn formats() -> Vec<&'static str> {
    Format::ALL.iter().map(|f| f.word()).collect()
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    let store = env.store()?;
    options(args)?;
    let model = ExportModel::open(args.model.as_deref())?;
    let choice = ExportChoice {
        filter: env.filter(args.filter.as_deref())?,
        filter_text: args.filter.clone().unwrap_or_default(),
        bindings: model.bindings(args.reference.as_deref())?,
    };
    // A store belongs to one thread at a time, so the worker takes it.
    let Some(out) = &args.out else {
        let shown = env.watch("export", move |progress| -> Result<Preview> {
            Ok(model.judging(options(args)?, true, |options| {
                jobs::preview_export(&store, &choice, options, PREVIEW_ROWS, progress)
            })?)
        })??;
        preview::print(&shown, env)?;
        if !env.out.is_json() {
            report(&shown.manifest, None, env)?;
        }
        return Ok(Done::Whole);
    };
    let manifest = env.watch("export", move |progress| -> Result<Manifest> {
        Ok(model.judging(options(args)?, false, |options| {
            jobs::export(&store, &choice, options, out, progress)
        })?)
    })??;
    report(&manifest, Some(out), env)?;
    // A set without a row is no success: a script must not go on to train on it.
    Ok(if rows(&manifest) == 0 {
        Done::InPart
    } else {
        Done::Whole
    })
}

fn options(args: &Args) -> Result<Options<'static>> {
    let wrong = |what: &str| Failure::usage(format!("unknown word {what:?}"));
    let format = Format::from_word(&args.format).ok_or_else(|| wrong(&args.format))?;
    Ok(Options {
        shape: Shape::from_word(&args.shape).ok_or_else(|| wrong(&args.shape))?,
        split: split(args)?,
        attempts: Attempts::from_word(&args.attempts).ok_or_else(|| wrong(&args.attempts))?,
        reasoning: Reasoning::from_word(&args.reasoning).ok_or_else(|| wrong(&args.reasoning))?,
        purpose: if args.draft {
            Purpose::Draft
        } else {
            Purpose::Training
        },
        undecided: if args.redact_undecided {
            Undecided::Redact
        } else {
            Undecided::LeaveOut
        },
        limits: Limits {
            tokens: args.max_tokens,
            ..Limits::default()
        },
        ..Options::new(format)
    })
}

fn split(args: &Args) -> Result<Option<SplitOptions>> {
    let Some(word) = &args.split else {
        return Ok(None);
    };
    if u16::from(args.validation) + u16::from(args.test) >= 100 {
        return Err(Failure::usage(
            "--validation and --test together leave nothing to train on",
        ));
    }
    Ok(Some(SplitOptions {
        by: GroupBy::from_word(word)
            .ok_or_else(|| Failure::usage(format!("unknown group {word:?}")))?,
        seed: args.seed,
        validation: args.validation,
        test: args.test,
        near_duplicates: if args.join_near_duplicates {
            NearDuplicates::Join
        } else {
            NearDuplicates::Block
        },
    }))
}

/// What was written, or with no folder what would be; what stays out, and what to know.
fn report(manifest: &Manifest, out: Option<&Path>, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        if rows(manifest) == 0 {
            env.out.say(format!("nothing {}", empty(manifest, out)))?;
        }
        return env.out.row(manifest);
    }
    if let Some(out) = out {
        files(manifest, out, env)?;
    }
    coverage(manifest, env)?;
    left_out(manifest, env)?;
    for warning in &manifest.warnings {
        env.out.say(text::visible(&format!("warning: {warning}")))?;
    }
    for block in &manifest.blocked {
        let line = env.out.tone(Tone::Bad, &format!("must not train: {block}"));
        env.out.say(text::visible(&line))?;
    }
    if !manifest.missing_bindings.is_empty() {
        let names = manifest.missing_bindings.join(", ");
        env.out
            .say(format!("not acceptable for training until bound: {names}"))?;
    }
    if manifest.acceptable_for_training {
        env.out
            .say("acceptable for training: every version is bound, nothing blocks it")?;
    }
    let total = rows(manifest);
    if total == 0 {
        return env.out.say(format!("nothing {}", empty(manifest, out)));
    }
    let verb = if out.is_some() {
        "written"
    } else {
        "would leave"
    };
    env.out
        .say(format!("{} {verb}", text::plural(total, "row")))
}

fn rows(manifest: &Manifest) -> u64 {
    manifest.rows.values().sum()
}

/// Why no row left, by reason.
fn empty(manifest: &Manifest, out: Option<&Path>) -> String {
    let verb = if out.is_some() {
        "was written"
    } else {
        "would leave"
    };
    let reasons: Vec<String> = manifest
        .left_out_by_reason
        .iter()
        .map(|(code, n)| format!("{n} × {code}"))
        .collect();
    if reasons.is_empty() {
        format!(
            "{verb}: the workspace holds nothing that {} could teach, or the filter passes nothing",
            manifest.method
        )
    } else {
        format!("{verb}: every row stays out ({})", reasons.join(", "))
    }
}

fn files(manifest: &Manifest, out: &Path, env: &mut Env) -> Result<()> {
    let mut table = Table::new(&["rows", "bytes", "file"]);
    for file in &manifest.files {
        table.push(vec![
            Cell::number(Some(file.rows)),
            Cell::number(Some(file.bytes)),
            Cell::new(out.join(&file.name).display()),
        ]);
    }
    env.out.table(&table)
}

/// What the set covers, before anybody trains on it (S-36).
fn coverage(manifest: &Manifest, env: &mut Env) -> Result<()> {
    if manifest.method != Method::Sft.word() || manifest.coverage.matrix.is_empty() {
        return Ok(());
    }
    let heads = [
        "scenario",
        "normal",
        "clarification",
        "boundary",
        "recovery",
    ];
    let mut table = Table::new(&heads);
    for (name, cells) in &manifest.coverage.matrix {
        let mut row = vec![Cell::new(name)];
        row.extend(
            (heads.iter().skip(1)).map(|cell| Cell::number(Some(cells.get(cell).unwrap_or(&0)))),
        );
        table.push(row);
    }
    env.out.line("")?;
    env.out.table(&table)
}

fn left_out(manifest: &Manifest, env: &mut Env) -> Result<()> {
    if manifest.left_out_by_reason.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["left out", "why", "first"]);
    for (code, count) in &manifest.left_out_by_reason {
        let first = manifest.left_out.iter().find(|row| row.code == *code);
        table.push(vec![
            Cell::number(Some(count)),
            Cell::new(code),
            Cell::maybe(first.map(|row| format!("{}: {}", row.subject, row.reason))),
        ]);
    }
    env.out.line("")?;
    env.out.table(&table)
}
