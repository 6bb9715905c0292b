//! Runs a user's grader command by re-executing this program, which restricts itself first and then becomes the command.
//!
//! JSON goes in at its standard input and comes out at its standard output. No shell, an emptied environment, a time
//! limit, an output limit, and on Linux no write access outside a scratch folder and no TCP. It judges no answer.

mod child;
mod scratch;
mod watch;

pub use child::entry;

use scratch::Scratch;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;
use watch::{Ended, Watch};

/// Word by which this program knows that it is to become a grader.
pub(crate) const WORD: &str = "__grader";
/// What the restricted program says of itself before it becomes the command; nothing can be written before it.
pub(crate) const MARK: &str = "triagent-sandbox:";
/// Where commands are looked for.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Of what the command says on its error output, so much is kept.
const ERROR_BYTES: usize = 16 << 10;

/// How well the command was kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// It can write to its scratch folder alone, and has no TCP.
    Enforced,
    /// It can write to its scratch folder alone; the kernel is too old to keep it from TCP.
    Partly,
    /// The kernel, or this system, cannot restrict.
    None,
}

/// What is asked of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Where the system cannot restrict, the command does not run.
    Required,
    /// It runs, and the answer says that it was not kept in.
    WhenPossible,
}

/// Limits of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How much it may say.
    pub output_bytes: usize,
    /// What is asked of the system.
    pub isolation: Demand,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            output_bytes: 1 << 20,
            isolation: Demand::Required,
        }
    }
}

/// What the command answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its answer.
    pub value: Value,
    /// The end of what it said on its error output.
    pub errors: String,
    /// How well it was kept in.
    pub isolation: Isolation,
    /// How long it took.
    pub took: Duration,
}

/// What can go wrong.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// Nothing to run.
    #[error("no grader command was given")]
    NoCommand,
    /// The system cannot restrict.
    #[error(
        "this system cannot keep the grader from writing (Landlock of Linux 6.2 or newer does); run it unrestricted only if you trust it"
    )]
    CannotRestrict,
    /// It could not be started.
    #[error("cannot start `{command}`: {error}")]
    Start {
        /// The command.
        command: String,
        /// What the system said.
        error: String,
    },
    /// It took too long.
    #[error("`{command}` did not answer in {} s and was stopped", .limit.as_secs_f64())]
    TooSlow {
        /// The command.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// It said too much.
    #[error("`{command}` said more than {limit} bytes and was stopped")]
    TooMuch {
        /// The command.
        command: String,
        /// The limit.
        limit: usize,
    },
    /// It failed.
    #[error("`{command}` ended with {status}: {errors}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The end of what it said on its error output.
        errors: String,
    },
    /// Its answer is no JSON.
    #[error("`{command}` answered no JSON value ({error}); it must print one and nothing else")]
    NoJson {
        /// The command.
        command: String,
        /// What is wrong with it.
        error: String,
    },
    /// The scratch folder or a pipe.
    #[error("sandbox: {0}")]
    Io(#[from] io::Error),
}

/// Runs graders.
#[derive(Debug, Clone)]
pub struct Sandbox {
    program: PathBuf,
    limits: Limits,
}

impl Sandbox {
    /// Takes the path of this very program, as the edge knows it, and the limits.
    pub fn new(program: &Path, limits: Limits) -> Self {
        Self {
            program: program.to_owned(),
            limits,
        }
    }

    /// Gives one case to a command and returns its answer.
    pub fn ask(&self, command: &[String], case: &Value) -> Result<Answer, SandboxError> {
        let name = command.first().ok_or(SandboxError::NoCommand)?.clone();
        let started = Instant::now();
        let scratch = Scratch::create()?;
        let mut child = self.start(command, &scratch, &name)?;
        feed(&mut child, case);
        let watch = Watch {
            time: self.limits.time,
            output_bytes: self.limits.output_bytes,
            error_bytes: ERROR_BYTES,
        };
        let ended = watch.until_end(child)?;
        self.judge(name, ended, started.elapsed())
    }

    fn start(
        &self,
        command: &[String],
        scratch: &Scratch,
        name: &str,
    ) -> Result<Child, SandboxError> {
        let demand = match self.limits.isolation {
            Demand::Required => "required",
            Demand::WhenPossible => "when-possible",
        };
        let mut child = Command::new(&self.program);
        child
            .arg(WORD)
            .arg(demand)
            .arg(scratch.path())
            .args(command);
        child.env_clear().envs(environment(scratch.path()));
        child.current_dir(scratch.path());
        child
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut child, 0);
        child.spawn().map_err(|e| SandboxError::Start {
            command: name.to_owned(),
            error: e.to_string(),
        })
    }

    fn judge(&self, command: String, ended: Ended, took: Duration) -> Result<Answer, SandboxError> {
        match ended {
            Ended::TooSlow => Err(SandboxError::TooSlow {
                command,
                limit: self.limits.time,
            }),
            Ended::TooMuch => Err(SandboxError::TooMuch {
                command,
                limit: self.limits.output_bytes,
            }),
            Ended::ByItself {
                status,
                output,
                errors,
            } => {
                let (isolation, errors) = told(&errors);
                let isolation = isolation.ok_or_else(|| start_error(&command, &errors))?;
                if !status.success() {
                    return Err(refused(command, status, errors));
                }
                let value = serde_json::from_slice(&output).map_err(|e| SandboxError::NoJson {
                    command,
                    error: e.to_string(),
                })?;
                Ok(Answer {
                    value,
                    errors,
                    isolation,
                    took,
                })
            }
        }
    }
}

/// The environment of a grader: nothing of ours but where programs are.
fn environment(scratch: &Path) -> [(&'static str, std::ffi::OsString); 4] {
    let home = scratch.as_os_str().to_owned();
    [
        ("PATH", PATH.into()),
        ("LANG", "C.UTF-8".into()),
        ("HOME", home.clone()),
        ("TMPDIR", home),
    ]
}

/// Writes the case on a thread of its own: a command that never reads must not hold us up.
fn feed(child: &mut Child, case: &Value) {
    let Some(mut input) = child.stdin.take() else {
        return;
    };
    let text = case.to_string();
    // A command that closes its input early is free to do so.
    let _ = std::thread::Builder::new()
        .name("grader-input".to_owned())
        .spawn(move || input.write_all(text.as_bytes()));
}

/// Reads the first line of the error output, which the restricted program wrote before it became the command.
fn told(errors: &str) -> (Option<Isolation>, String) {
    let (first, rest) = errors.split_once('\n').unwrap_or((errors, ""));
    let isolation = match first.strip_prefix(MARK).map(str::trim) {
        Some("enforced") => Some(Isolation::Enforced),
        Some("partly") => Some(Isolation::Partly),
        Some("none") => Some(Isolation::None),
        _ => None,
    };
    let rest = if isolation.is_some() { rest } else { errors };
    (isolation, rest.trim_end().to_owned())
}

fn start_error(command: &str, errors: &str) -> SandboxError {
    if errors.contains(child::CANNOT_RESTRICT) {
        return SandboxError::CannotRestrict;
    }
    SandboxError::Start {
        command: command.to_owned(),
        error: errors.to_owned(),
    }
}

fn refused(command: String, status: std::process::ExitStatus, errors: String) -> SandboxError {
    match errors.strip_prefix(child::CANNOT_START) {
        Some(error) => SandboxError::Start {
            command,
            error: error.trim().to_owned(),
        },
        None => SandboxError::Failed {
            command,
            status: status.to_string(),
            errors,
        },
    }
}
