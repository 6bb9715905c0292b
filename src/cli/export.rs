//! `triagent export`: a dataset that its trainer reads as it is, with a manifest that says what stayed out and why.

use super::Done;
use super::env::Env;
use super::output::{Cell, Table, Tone};
use crate::error::{Explain, Failure, Result};
use crate::export::{
    Attempts, Bindings, Format, GroupBy, Limits, Manifest, NearDuplicates, Options, Purpose,
    Reasoning, Shape, SplitOptions,
};
use crate::jobs::{self, ExportChoice};
use crate::text;
use std::path::{Path, PathBuf};

/// Write a dataset, its manifest and its card
///
/// Every row that cannot leave is listed in the manifest with its reason, never bent. A closed gate for the whole set (cleaning not
/// done, no clarification, no reference model, a leak across the split) stops the export; --draft writes it all the same and says in
/// the manifest that it must not train. The same input gives the same bytes.
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
    /// Model to be trained, recorded in the manifest
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Reference policy of a preference loss, recorded in the manifest (S-45)
    #[arg(long, value_name = "NAME")]
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
    let choice = ExportChoice {
        filter: env.filter(args.filter.as_deref())?,
        filter_text: args.filter.clone().unwrap_or_default(),
        bindings: Bindings {
            model: args.model.clone(),
            reference: args.reference.clone(),
            ..Bindings::default()
        },
    };
    options(args)?;
    let scratch = Scratch::for_preview(args, env)?;
    let out = args
        .out
        .as_deref()
        .or(scratch.as_ref().map(|s| s.0.as_path()));
    let out = out.ok_or_else(|| Failure::usage("say where: --out DIR, or --preview"))?;
    // A store belongs to one thread at a time, so the worker takes it.
    let manifest = env.watch("export", move |progress| -> Result<Manifest> {
        let options = options(args)?;
        Ok(jobs::export(&store, &choice, &options, out, progress)?)
    })??;
    if args.preview {
        first_rows(&manifest, out, env)?;
    }
    report(&manifest, out, args.preview, env)?;
    Ok(Done::Whole)
}

fn options(args: &Args) -> Result<Options<'static>> {
    let wrong = |what: &str| Failure::usage(format!("unknown word {what:?}"));
    let format = Format::from_word(&args.format).ok_or_else(|| wrong(&args.format))?;
    Ok(Options {
        shape: Shape::from_word(&args.shape).ok_or_else(|| wrong(&args.shape))?,
        split: split(args)?,
        attempts: Attempts::from_word(&args.attempts).ok_or_else(|| wrong(&args.attempts))?,
        reasoning: Reasoning::from_word(&args.reasoning).ok_or_else(|| wrong(&args.reasoning))?,
        purpose: if args.draft || args.preview {
            Purpose::Draft
        } else {
            Purpose::Training
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

/// A folder that goes away with the preview.
struct Scratch(PathBuf);

impl Scratch {
    fn for_preview(args: &Args, env: &Env) -> Result<Option<Self>> {
        if !args.preview {
            return Ok(None);
        }
        let name = format!("triagent-preview-{}-{}", std::process::id(), env.now_us());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).doing("while making a folder for the preview")?;
        Ok(Some(Self(path)))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A preview left in the system's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn first_rows(manifest: &Manifest, folder: &Path, env: &mut Env) -> Result<()> {
    let Some(file) = manifest.files.iter().find(|f| f.rows > 0) else {
        return env.out.say("no row would leave");
    };
    let text = std::fs::read_to_string(folder.join(&file.name))
        .doing(format!("while reading {}", file.name))?;
    for line in text.lines().take(PREVIEW_ROWS) {
        env.out.line(if env.out.is_json() {
            line.to_owned()
        } else {
            let row: serde_json::Value = serde_json::from_str(line)?;
            text::visible(&serde_json::to_string_pretty(&row)?).into_owned()
        })?;
    }
    Ok(())
}

fn report(manifest: &Manifest, out: &Path, preview: bool, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return if preview {
            Ok(())
        } else {
            env.out.row(manifest)
        };
    }
    let total: u64 = manifest.rows.values().sum();
    let mut table = Table::new(&["rows", "bytes", "file"]);
    for file in &manifest.files {
        table.push(vec![
            Cell::number(Some(file.rows)),
            Cell::number(Some(file.bytes)),
            Cell::new(out.join(&file.name).display()),
        ]);
    }
    if !preview {
        env.out.table(&table)?;
    }
    if !manifest.left_out_by_reason.is_empty() {
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
        env.out.table(&table)?;
    }
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
    let verb = if preview { "would leave" } else { "written" };
    env.out
        .say(format!("{} {verb}", text::plural(total, "row")))
}
