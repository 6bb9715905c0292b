//! The other side: this program, started again, gives up its rights and becomes the grader.

use super::{Isolation, MARK, WORD};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

/// What it says when the system cannot restrict and must.
pub(super) const CANNOT_RESTRICT: &str = "cannot restrict";
/// What it says when the command does not start.
pub(super) const CANNOT_START: &str = "cannot start:";
/// Ends without having become the command; the shell's own number for "found, and cannot run".
const NOT_RUN: u8 = 126;

/// Becomes a grader if these are the arguments of one; else returns nothing and the program goes its usual way.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != *WORD {
        return None;
    }
    let (demand, scratch, program) = (arguments.next()?, arguments.next()?, arguments.next()?);
    let rest: Vec<OsString> = arguments.collect();
    Some(become_grader(
        demand == *"required",
        Path::new(&scratch),
        &program,
        &rest,
    ))
}

fn become_grader(
    required: bool,
    scratch: &Path,
    program: &OsString,
    rest: &[OsString],
) -> ExitCode {
    let isolation = restrict(scratch);
    if required && isolation == Isolation::None {
        say(&format!(
            "{CANNOT_RESTRICT}: the kernel enforces {}",
            word(isolation)
        ));
        return ExitCode::from(NOT_RUN);
    }
    say(&format!("{MARK} {}", word(isolation)));
    let error = replace(Command::new(program).args(rest));
    say(&format!("{CANNOT_START} {error}"));
    ExitCode::from(NOT_RUN)
}

fn word(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Enforced => "enforced",
        Isolation::Partly => "partly",
        Isolation::None => "none",
    }
}

/// One line to whoever started us; not through the command line's output, which belongs to people.
fn say(line: &str) {
    // When nobody listens there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Takes the command's place. Returns only if that fails.
#[cfg(unix)]
fn replace(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn replace(_: &mut Command) -> io::Error {
    io::Error::other("graders need a Unix system")
}

/// Gives up writing outside `scratch`, and TCP. What is given up here, no child process gets back.
#[cfg(target_os = "linux")]
fn restrict(scratch: &Path) -> Isolation {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
        RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    };
    // Version 3 (Linux 6.2) is the first that also stops truncation; TCP came with 4 and is a bonus.
    let writes = AccessFs::from_write(ABI::V3);
    let apply = || -> Result<RulesetStatus, Box<dyn std::error::Error>> {
        let devices = AccessFs::WriteFile | AccessFs::Truncate;
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(writes)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessNet::from_all(ABI::V4))?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new(scratch)?, writes))?
            .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, devices))?;
        Ok(ruleset.restrict_self()?.ruleset)
    };
    match apply() {
        Ok(RulesetStatus::FullyEnforced) => Isolation::Enforced,
        Ok(RulesetStatus::PartiallyEnforced) => Isolation::Partly,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Isolation::None,
    }
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Path) -> Isolation {
    Isolation::None
}
