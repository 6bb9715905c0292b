//! Shell completions and man pages, both made from the command tree.
//!
//! Run ids are completed by asking the program itself: the scripts call the hidden `__ids`.

use super::Done;
use super::env::Env;
use crate::domain::filter::{Condition, Field};
use crate::domain::{Filter, Term};
use crate::error::{Explain, Result};
use clap_complete::Shell;
use std::path::PathBuf;

/// Print the completion script of a shell
///
/// bash:  triagent completions bash > ~/.local/share/bash-completion/completions/triagent
/// zsh:   triagent completions zsh > ~/.zfunc/_triagent
/// fish:  triagent completions fish > ~/.config/fish/completions/triagent.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Which shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// Print the manual page, or write one page a verb into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder to write the pages into
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct IdsArgs {
    /// What was typed so far
    #[arg(default_value = "")]
    prefix: String,
}

/// Verbs whose arguments are run names.
const TAKE_RUNS: [&str; 6] = ["show", "label", "pair", "diff", "probe", "suggest"];

pub(crate) fn run(args: Args, env: &mut Env) -> Result<Done> {
    let (shell, tail) = match args.shell.as_str() {
        "bash" => (Shell::Bash, bash_tail()),
        "zsh" => (Shell::Zsh, String::new()),
        _ => (Shell::Fish, fish_tail()),
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::command(), "triagent", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Zsh {
        script = with_zsh_ids(&script);
    }
    env.out.bytes(script.as_bytes())?;
    env.out.bytes(tail.as_bytes())?;
    Ok(Done::Whole)
}

/// Wraps the generated function: ids first where a run is wanted, everything else as generated.
fn bash_tail() -> String {
    let verbs = TAKE_RUNS.join("|");
    format!(
        r#"
_triagent_with_ids() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" word
    _triagent "$@"
    [[ "$cur" == -* ]] && return
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$word" in
            {verbs}) COMPREPLY+=( $(triagent __ids "$cur" 2>/dev/null) ); return ;;
        esac
    done
}}
complete -F _triagent_with_ids -o bashdefault -o default triagent
"#
    )
}

fn fish_tail() -> String {
    let verbs = TAKE_RUNS.join(" ");
    format!(
        "complete -c triagent -n \"__fish_seen_subcommand_from {verbs}\" -f -a \"(triagent __ids (commandline -ct) 2>/dev/null)\"\n"
    )
}

/// The generated script completes a positional `RUN` with `_default`; run names are better.
fn with_zsh_ids(script: &str) -> String {
    let asks = ["':run", "'*::run", "':a", "':b"];
    let lines: Vec<String> = script
        .lines()
        .map(|line| {
            let positional = asks.iter().any(|a| line.starts_with(a));
            if positional {
                line.replace(":_default'", ":_triagent_ids'")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let ids = "_triagent_ids() {\n    local -a ids\n    ids=(${(f)\"$(triagent __ids \"$PREFIX\" 2>/dev/null)\"})\n    compadd -a ids\n}\n\n";
    let whole = lines.join("\n") + "\n";
    whole.replacen("_triagent() {", &format!("{ids}_triagent() {{"), 1)
}

/// Run names offered at once; a longer list helps nobody.
const IDS_OFFERED: u32 = 200;

/// Prints run names that begin so. Silent where there is no workspace: a shell asked, not a person.
pub(crate) fn ids(args: &IdsArgs, env: &mut Env) -> Result<Done> {
    let Ok(store) = env.store() else {
        return Ok(Done::Whole);
    };
    let filter = Filter {
        terms: vec![Term {
            negated: false,
            condition: Condition::Is {
                field: Field::Run,
                values: vec![args.prefix.clone()],
            },
        }],
        sort: Vec::new(),
    };
    for row in store.runs(&filter, None, IDS_OFFERED)?.rows {
        if row.id.as_str().starts_with(&args.prefix) {
            env.out.line(row.id)?;
        }
    }
    Ok(Done::Whole)
}

pub(crate) fn man(args: ManArgs, env: &mut Env) -> Result<Done> {
    let Some(folder) = args.out else {
        let page = page(super::command())?;
        env.out.bytes(&page)?;
        return Ok(Done::Whole);
    };
    std::fs::create_dir_all(&folder)
        .doing(format!("while making the folder {}", folder.display()))?;
    clap_mangen::generate_to(super::command(), &folder)
        .doing(format!("while writing man pages into {}", folder.display()))?;
    env.out
        .say(format!("man pages written to {}", folder.display()))?;
    Ok(Done::Whole)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
