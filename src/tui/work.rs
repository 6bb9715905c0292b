//! Work in the background as the screen sees it: what was ordered, how far it is, how it ended.
//!
//! What the work is stands in `jobs`; the runner starts it.

use crate::domain::RunId;
use crate::text::plural;
use std::path::PathBuf;

/// Work that the screen can order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Read logs.
    Import(Vec<PathBuf>),
    /// Bring the search index up to date.
    Index,
    /// Look for secrets, near-duplicates, tampering and false evidence.
    Check,
    /// Make a workspace of sample logs.
    Demo,
    /// Score the runs and pairs of a filter with the configured model.
    Score(String),
    /// Probe a run's decision with the configured model.
    Probe(RunId),
    /// Show a hack suite to a grader.
    Audit {
        /// Its name, file or command.
        grader: Vec<String>,
        /// The name, and version, that the logs give it.
        stands_for: Option<String>,
        /// The suite is made of these runs.
        filter: String,
        /// Who `me` is.
        reviewer: String,
    },
    /// Write a dataset.
    Export {
        /// Format's word.
        format: String,
        /// Filter as typed.
        filter: String,
        /// Who `me` is.
        reviewer: String,
        /// Where it goes, and how.
        how: ExportHow,
    },
}

impl Order {
    /// What it does, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Import(paths) => match paths.as_slice() {
                [one] => format!("import {}", one.display()),
                many => format!("import of {}", plural(many.len() as u64, "path")),
            },
            Self::Index => "search index".to_owned(),
            Self::Check => "check".to_owned(),
            Self::Demo => "demo".to_owned(),
            Self::Score(_) => "score".to_owned(),
            Self::Probe(run) => format!("probe of {run}"),
            Self::Audit { grader, .. } => format!("audit of {}", grader.join(" ")),
            Self::Export { format, .. } => format!("export {format}"),
        }
    }
}

/// Where a dataset goes, and how it is cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ExportHow {
    /// Folder.
    pub(crate) folder: PathBuf,
    /// What stays together when groups are held out: task, document, scenario.
    pub(crate) split: Option<String>,
    /// Model to be trained: a folder, a GGUF file, or a name.
    pub(crate) model: Option<String>,
    /// Reference policy of a preference loss (S-45).
    pub(crate) reference: Option<String>,
    /// Written even where a gate is closed; its manifest says that it must not train.
    pub(crate) draft: bool,
    /// Words that nobody has decided leave as placeholders.
    pub(crate) redact: bool,
}

impl ExportHow {
    /// Reads a line: a folder, then any of `split:task`, `model:NAME`, `reference:NAME`, `redact`, `draft`.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let mut how = Self {
            folder: PathBuf::from(words.next().ok_or("name a folder first")?),
            ..Self::default()
        };
        for word in words {
            let some = |value: &str| Some(value.to_owned()).filter(|v| !v.is_empty());
            match word.split_once(':') {
                None if word == "draft" => how.draft = true,
                None if word == "redact" => how.redact = true,
                Some(("split", by)) => how.split = some(by),
                Some(("model", name)) => how.model = some(name),
                Some(("reference", name)) => how.reference = some(name),
                _ => {
                    return Err(format!(
                        "`{word}` is none of split:task, model:…, reference:…, redact, draft"
                    ));
                }
            }
        }
        Ok(how)
    }
}

/// News from work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct News {
    /// Which work.
    pub(crate) id: u64,
    /// What there is to say.
    pub(crate) state: State,
}

/// How work stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// So much is done of so much; 0 = total unknown.
    Running(u64, u64),
    /// It is done; one line says what came of it, and perhaps what should be done next.
    Done(String, Option<Order>),
    /// It is done, and it came to nothing or needs a look; one line says why.
    Warned(String, Option<Order>),
    /// It did not work.
    Failed(String),
}

/// Work that was started.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Number.
    pub(crate) id: u64,
    /// What it does.
    pub(crate) words: String,
    /// When it began, in milliseconds since the program started.
    pub(crate) began_ms: u64,
    /// When it ended.
    pub(crate) ended_ms: Option<u64>,
    /// How it stands.
    pub(crate) state: State,
    /// Somebody asked it to stop.
    pub(crate) cancelled: bool,
}

impl Line {
    /// It still runs.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, State::Running(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_line_names_a_folder_and_how() {
        let how = ExportHow::parse("out split:task reference:base-7b redact draft").unwrap();
        assert_eq!(how.folder, PathBuf::from("out"));
        assert_eq!(how.split.as_deref(), Some("task"));
        assert_eq!(how.reference.as_deref(), Some("base-7b"));
        assert!(how.draft && how.redact);
        assert!(ExportHow::parse("").is_err());
        assert!(
            ExportHow::parse("out spilt:task")
                .unwrap_err()
                .contains("spilt:task")
        );
    }
}
