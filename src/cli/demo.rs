//! `triagent demo`: the whole path on the sample logs, in a workspace of its own.

use super::Done;
use super::env::Env;
use super::output::Tone;
use super::screen;
use crate::domain::Progress;
use crate::error::{Explain, Result};
use crate::jobs::{Demo, JobError, Stage};
use crate::score::{ModelSource, Options, Scorer};
use crate::text;
use std::path::{Path, PathBuf};

/// Walk the whole path on small logs of our own, offline
///
/// Import, evidence, labels, pairs, cleaning, scores, a probe, relative signal, graders before the hack suite, advice and export, in a temporary workspace with the embedded model.
/// With --headless, or without a terminal, each stage prints what it found, and the exported files stay in --out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print each stage instead of opening the screen
    #[arg(long)]
    headless: bool,
    /// Folder for the exported files
    #[arg(long, value_name = "DIR", default_value = "triagent-demo", value_hint = clap::ValueHint::DirPath)]
    out: PathBuf,
    #[command(flatten)]
    screen: screen::Args,
}

/// A folder that goes away with the demo.
struct Scratch(PathBuf);

impl Scratch {
    fn new(now_us: i64) -> Result<Self> {
        let name = format!("triagent-demo-{}-{now_us}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).doing("while making a folder for the demo")?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the system's temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(args: &Args, env: &mut Env) -> Result<Done> {
    if !args.headless && screen::has_terminal() {
        return screen::demo(&args.screen, env);
    }
    let scratch = Scratch::new(env.now_us())?;
    headless(&scratch.0, &args.out, env)?;
    Ok(Done::Whole)
}

fn headless(folder: &Path, out: &Path, env: &mut Env) -> Result<()> {
    let now = env.now_us();
    let mut demo = env.watch("unpack", |_| Demo::start(folder, now))??;
    let mut stage = |env: &mut Env, name: &str, work: Work| -> Result<()> {
        let done = env.watch(name, |progress| work(&mut demo, progress))??;
        tell(&done, env)
    };
    stage(env, "import", Box::new(Demo::import))?;
    stage(env, "evidence", Box::new(Demo::evidence))?;
    stage(env, "label", Box::new(|demo, _| demo.label()))?;
    stage(env, "pair", Box::new(|demo, _| demo.pair()))?;
    stage(env, "clean", Box::new(Demo::clean))?;
    stage(
        env,
        "score",
        Box::new(|demo, progress| {
            let mut scorer = Scorer::open(&ModelSource::Embedded, &Options::default())?;
            demo.score(&mut scorer, progress)
        }),
    )?;
    stage(
        env,
        "probe",
        Box::new(|demo, progress| {
            let mut scorer = Scorer::open(&ModelSource::Embedded, &Options::default())?;
            demo.probe(&mut scorer, progress)
        }),
    )?;
    stage(env, "rewards", Box::new(|demo, _| demo.rewards()))?;
    stage(env, "audit", Box::new(Demo::audit))?;
    stage(env, "advise", Box::new(Demo::advise))?;
    stage(
        env,
        "export",
        Box::new(|demo, progress| demo.export(out, progress)),
    )
}

type Work<'a> =
    Box<dyn FnOnce(&mut Demo, &Progress) -> std::result::Result<Stage, JobError> + Send + 'a>;

fn tell(stage: &Stage, env: &mut Env) -> Result<()> {
    if env.out.is_json() {
        return env.out.row(stage);
    }
    let name = env.out.tone(Tone::Bold, &format!("{:<9}", stage.stage));
    for (n, line) in stage.said.iter().enumerate() {
        let head = if n == 0 { name.clone() } else { " ".repeat(9) };
        env.out.line(format!("{head} {}", text::visible(line)))?;
    }
    Ok(())
}
