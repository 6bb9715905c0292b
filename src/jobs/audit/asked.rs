//! Which grader is meant by what somebody typed: a built-in name goes before a file, and a file before a command.

use super::AskedGrader;
use crate::reward::{RewardError, RuleGrader, built_in_graders, read_graders};
use crate::sandbox::{Limits, Sandbox};
use crate::text;
use std::path::Path;

/// Why no grader is meant.
#[derive(Debug, thiserror::Error)]
pub enum GraderError {
    /// Nothing was typed.
    #[error("name a grader: {}, a FILE.toml, or a command", known().join(", "))]
    None,
    /// Neither a built-in grader nor a program.
    #[error("no built-in grader is called {word:?}{}\nhint: built in: {}", meant(.near.as_deref()), known().join(", "))]
    Unknown {
        /// As typed.
        word: String,
        /// The nearest built-in one.
        near: Option<String>,
    },
    /// The file cannot be read.
    #[error("while reading {file}: {why}\nhint: a grader file looks like assets/graders.toml")]
    File {
        /// Which.
        file: String,
        /// Why.
        why: std::io::Error,
    },
    /// The file holds no such grader.
    #[error("{0} holds no such grader")]
    NotInFile(String),
    /// The file is no list of graders.
    #[error(transparent)]
    Rules(#[from] RewardError),
    /// This program does not know where it lies itself, and a command is run by it.
    #[error("while looking for this program's own file: {0}\nhint: start triagent by its path")]
    Program(std::io::Error),
}

fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("\nhint: did you mean {near}?"))
}

/// Names of the built-in graders.
fn known() -> Vec<String> {
    let built_in = built_in_graders().into_iter();
    built_in.map(|grader| grader.name).collect()
}

/// Returns the graders that `words` mean: one built-in, those of `FILE.toml` or `FILE.toml#NAME`, or a command.
pub fn asked_graders(words: &[String], limits: Limits) -> Result<Vec<AskedGrader>, GraderError> {
    let [first, rest @ ..] = words else {
        return Err(GraderError::None);
    };
    if rest.is_empty() {
        let mut built_in = built_in_graders().into_iter();
        if let Some(rules) = built_in.find(|grader| grader.name == *first) {
            return Ok(vec![AskedGrader::Rules(rules)]);
        }
        let (file, name) = match first.split_once('#') {
            Some((file, name)) => (file, Some(name)),
            None => (first.as_str(), None),
        };
        if Path::new(file).extension().is_some_and(|e| e == "toml") {
            return from_file(file, name);
        }
        refuse_unknown(first)?;
    }
    let program = std::env::current_exe().map_err(GraderError::Program)?;
    Ok(vec![AskedGrader::Command {
        command: words.iter().map(|word| absolute(word)).collect(),
        sandbox: Sandbox::new(&program, limits),
    }])
}

/// A single word is a built-in grader or a program. The name that a log gives its grader is neither, and often what was meant.
fn refuse_unknown(word: &str) -> Result<(), GraderError> {
    let names = known();
    let near = text::nearest(word, names.iter().map(String::as_str)).map(str::to_owned);
    if word.contains('/') || (near.is_none() && is_program(word)) {
        return Ok(());
    }
    let word = word.to_owned();
    Err(GraderError::Unknown { word, near })
}

/// A file here, or a program on the search path.
fn is_program(word: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Path::new(word).is_file() || std::env::split_paths(&path).any(|dir| dir.join(word).is_file())
}

fn from_file(file: &str, name: Option<&str>) -> Result<Vec<AskedGrader>, GraderError> {
    let text = std::fs::read_to_string(file).map_err(|why| GraderError::File {
        file: file.to_owned(),
        why,
    })?;
    let mut all: Vec<RuleGrader> = read_graders(&text)?;
    if let Some(name) = name {
        all.retain(|grader| grader.name == name);
    }
    if all.is_empty() {
        return Err(GraderError::NotInFile(file.to_owned()));
    }
    Ok(all.into_iter().map(AskedGrader::Rules).collect())
}

/// The command runs in a scratch folder, so files that were named from here must still be found.
fn absolute(word: &str) -> String {
    let is_file = Path::new(word).is_file();
    let full = std::path::absolute(word).ok().filter(|_| is_file);
    full.map_or_else(|| word.to_owned(), |p| p.display().to_string())
}
