//! `triagent` without a verb, and `triagent demo`: opens the screen on the workspace, with the settings that hold here.

use super::Done;
use super::env::Env;
use crate::config::Config;
use crate::error::{Failure, Result};
use crate::tui::{self, Advance, KeyChanges, Model, Options, Role, Start};
use std::io::IsTerminal;
use toml::Value;

/// What the screen understands.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Screen")]
#[group(skip)]
pub(crate) struct Args {
    /// Whose screens stand in the tab bar [default: settings, then annotator]
    #[arg(long, value_name = "ROLE", value_parser = ["annotator", "engineer", "lead"])]
    role: Option<String>,
    /// How the screen is drawn [default: settings, then auto]
    #[arg(long, value_name = "THEME", value_parser = ["auto", "default", "mono", "high-contrast", "deuteranopia"])]
    theme: Option<String>,
}

/// Opens the screen on the workspace; with none, offers import, demo and help.
pub(crate) fn run(args: &Args, env: &mut Env<'_>) -> Result<Done> {
    let start = match env.existing_workspace()? {
        Some(path) if path.is_file() => Start::Workspace(path),
        Some(path) => Start::Nowhere(path),
        None => Start::Nowhere(crate::paths::new_workspace(&super::env::current_folder()?)),
    };
    open(args, env, start)
}

/// Opens the screen on the demo's workspace.
pub(crate) fn demo(args: &Args, env: &mut Env<'_>) -> Result<Done> {
    open(args, env, Start::Demo)
}

/// Somebody sits at both ends.
pub(crate) fn has_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

fn open(args: &Args, env: &mut Env<'_>, start: Start) -> Result<Done> {
    if !has_terminal() {
        return Err(Failure::usage("the screen needs a terminal")
            .hint("`triagent --help` lists the verbs, which need none"));
    }
    let config = env.config()?;
    let options = options(args, env, &config, start)?;
    tui::run(options).map_err(Failure::user)?;
    Ok(Done::Whole)
}

fn options(args: &Args, env: &Env<'_>, config: &Config, start: Start) -> Result<Options> {
    let screen = &config.screen;
    let role = args.role.as_ref().unwrap_or(&screen.role);
    Ok(Options {
        start,
        reviewer: env.reviewer()?,
        role: match role.as_str() {
            "engineer" => Role::Engineer,
            "lead" => Role::Lead,
            _ => Role::Annotator,
        },
        advance: match screen.advance.as_str() {
            "at-once" => Advance::AtOnce,
            _ => Advance::Step,
        },
        theme: args.theme.clone().unwrap_or_else(|| screen.theme.clone()),
        keys: keys(config)?,
        mouse: screen.mouse,
        model: Model {
            model: config.score.model.clone(),
            device: config.score.device.clone(),
        },
        gates: config.gates.clone().into_iter().collect(),
        read_only: env.global.read_only,
        mask_secrets: screen.mask_secrets,
        no_color: std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
        panic_key: std::env::var_os("TRIAGENT_TEST_PANIC").is_some(),
    })
}

/// Reads `[keys]`: action = "key" or ["key", …].
fn keys(config: &Config) -> Result<KeyChanges> {
    let mut out = KeyChanges::new();
    for (action, value) in &config.keys {
        let words = match value {
            Value::String(one) => Some(vec![one.clone()]),
            Value::Array(many) => many.iter().map(|v| v.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let words = words.ok_or_else(|| {
            Failure::user(format!(
                "settings: `keys.{action}` must be a key or a list of keys"
            ))
            .hint(format!("{action} = [\"x\"]"))
        })?;
        out.insert(action.clone(), words);
    }
    Ok(out)
}
