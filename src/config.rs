//! Settings: defaults in assets, then the user's file, then the workspace's; each value knows where it comes from.
//!
//! An unknown key is an error with a suggestion. The meaning of `[gates]` and `[keys]` belongs to their rooms.

use crate::text::nearest;
use crate::triage::ProbeSettings;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Every setting with its default; also the manual of the file.
pub const DEFAULTS: &str = include_str!("../assets/config.toml");

/// Tables whose keys their own rooms check.
const OPEN_TABLES: [&str; 2] = ["gates", "keys"];

/// What can be wrong with a settings file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// Which file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not TOML.
    #[error("{file}: not valid TOML: {message}")]
    Syntax {
        /// Which file.
        file: String,
        /// What the parser says.
        message: String,
    },
    /// Nobody knows this key.
    #[error("{file}: unknown setting `{key}`{}", suggest(.suggestion.as_deref()))]
    UnknownKey {
        /// Which file.
        file: String,
        /// Dotted key.
        key: String,
        /// What may be meant.
        suggestion: Option<String>,
    },
    /// The value is of another kind.
    #[error("{file}: `{key}` must be {wanted}, not {found}")]
    WrongType {
        /// Which file.
        file: String,
        /// Dotted key.
        key: String,
        /// Kind of the default.
        wanted: &'static str,
        /// Kind that was given.
        found: &'static str,
    },
    /// The value is none of the allowed ones.
    #[error("{file}: `{key}` is `{value}`; allowed: {allowed}")]
    NotAllowed {
        /// Which file.
        file: String,
        /// Dotted key.
        key: String,
        /// The value.
        value: String,
        /// What would do.
        allowed: String,
    },
}

fn suggest(name: Option<&str>) -> String {
    name.map_or_else(
        || "; `triagent config show` lists all".to_owned(),
        |n| format!("; did you mean `{n}`?"),
    )
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `assets/config.toml`.
    Default,
    /// A settings file.
    File(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The screen's settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Screen {
    /// Theme's name, or `auto`.
    pub theme: String,
    /// Which tabs are shown.
    pub role: String,
    /// What a label key does next.
    pub advance: String,
    /// Mouse capture.
    pub mouse: bool,
    /// Secrets are masked.
    pub mask_secrets: bool,
}

/// The scorer's settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Score {
    /// Folder, file or URL; empty = the embedded proxy.
    pub model: String,
    /// Device word.
    pub device: String,
}

/// The porch's settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Import {
    /// Parser threads; 0 = by the number of cores.
    pub threads: usize,
}

#[derive(Deserialize)]
struct Known {
    reviewer: String,
    screen: Screen,
    score: Score,
    probe: ProbeSettings,
    import: Import,
}

/// The settings that hold.
#[derive(Debug, Clone)]
pub struct Config {
    /// Who decides; empty = not set here.
    pub reviewer: String,
    /// The screen.
    pub screen: Screen,
    /// The scorer.
    pub score: Score,
    /// Thresholds of the probe.
    pub probe: ProbeSettings,
    /// The porch.
    pub import: Import,
    /// Overrides of advice thresholds, by gate.
    pub gates: BTreeMap<String, Value>,
    /// Overrides of keys, by action.
    pub keys: BTreeMap<String, Value>,
    /// Every dotted key with its value and origin, sorted.
    pub entries: BTreeMap<String, (Value, Origin)>,
}

/// Reads the defaults and whichever of `files` exist, later ones winning.
pub fn load(files: &[PathBuf]) -> Result<Config, ConfigError> {
    let mut entries = flatten_defaults()?;
    for file in files {
        match std::fs::read_to_string(file) {
            Ok(text) => lay_over(&mut entries, file, &text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(ConfigError::Read {
                    file: file.display().to_string(),
                    source,
                });
            }
        }
    }
    build(entries)
}

/// Returns the files that hold settings for this workspace, in the order that they are read.
pub fn files(database: Option<&Path>) -> Vec<PathBuf> {
    let mine = crate::paths::user_config();
    let workspace = database.map(crate::paths::workspace_config);
    mine.into_iter().chain(workspace).collect()
}

type Entries = BTreeMap<String, (Value, Origin)>;

fn flatten_defaults() -> Result<Entries, ConfigError> {
    let table = parse("assets/config.toml", DEFAULTS)?;
    let mut flat = BTreeMap::new();
    flatten("", table, &mut flat);
    let with_origin = |(key, value)| (key, (value, Origin::Default));
    Ok(flat.into_iter().map(with_origin).collect())
}

fn parse(file: &str, text: &str) -> Result<Table, ConfigError> {
    text.parse::<Table>().map_err(|e| ConfigError::Syntax {
        file: file.to_owned(),
        message: e.to_string().trim_end().to_owned(),
    })
}

fn flatten(prefix: &str, table: Table, into: &mut BTreeMap<String, Value>) {
    for (key, value) in table {
        let dotted = if prefix.is_empty() {
            key
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            Value::Table(inner) => flatten(&dotted, inner, into),
            other => {
                into.insert(dotted, other);
            }
        }
    }
}

fn lay_over(entries: &mut Entries, file: &Path, text: &str) -> Result<(), ConfigError> {
    let name = file.display().to_string();
    let mut given = BTreeMap::new();
    flatten("", parse(&name, text)?, &mut given);
    for (key, value) in given {
        check(entries, &name, &key, &value)?;
        entries.insert(key, (value, Origin::File(file.to_path_buf())));
    }
    Ok(())
}

fn check(entries: &Entries, file: &str, key: &str, value: &Value) -> Result<(), ConfigError> {
    if is_open(key) {
        return Ok(());
    }
    let Some((default, _)) = entries.get(key) else {
        return Err(ConfigError::UnknownKey {
            file: file.to_owned(),
            key: key.to_owned(),
            suggestion: nearest(key, entries.keys().map(String::as_str)).map(str::to_owned),
        });
    };
    if default.type_str() != value.type_str() {
        return Err(ConfigError::WrongType {
            file: file.to_owned(),
            key: key.to_owned(),
            wanted: default.type_str(),
            found: value.type_str(),
        });
    }
    check_word(file, key, value)
}

fn is_open(key: &str) -> bool {
    key.split_once('.')
        .is_some_and(|(table, _)| OPEN_TABLES.contains(&table))
}

/// Settings that are one word of a few.
const CHOICES: [(&str, &[&str]); 3] = [
    (
        "screen.theme",
        &["auto", "default", "mono", "high-contrast", "deuteranopia"],
    ),
    ("screen.role", &["annotator", "engineer", "lead"]),
    ("screen.advance", &["step", "at-once"]),
];

fn check_word(file: &str, key: &str, value: &Value) -> Result<(), ConfigError> {
    let Some((_, allowed)) = CHOICES.iter().find(|(k, _)| *k == key) else {
        return if value.as_integer().is_some_and(|n| n < 0) {
            Err(not_allowed(file, key, value, "0 or more"))
        } else {
            Ok(())
        };
    };
    if value.as_str().is_some_and(|word| allowed.contains(&word)) {
        return Ok(());
    }
    Err(not_allowed(file, key, value, &allowed.join(", ")))
}

fn not_allowed(file: &str, key: &str, value: &Value, allowed: &str) -> ConfigError {
    let plain = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    ConfigError::NotAllowed {
        file: file.to_owned(),
        key: key.to_owned(),
        value: plain,
        allowed: allowed.to_owned(),
    }
}

fn build(entries: Entries) -> Result<Config, ConfigError> {
    let mut tree = Table::new();
    for (key, (value, _)) in entries.iter().filter(|(key, _)| !is_open(key)) {
        plant(&mut tree, key, value.clone());
    }
    // Every key was checked against its default's kind, so this fails only if the defaults lack a key.
    let known: Known = tree
        .try_into()
        .map_err(|e: toml::de::Error| ConfigError::Syntax {
            file: "assets/config.toml".to_owned(),
            message: e.to_string(),
        })?;
    Ok(Config {
        reviewer: known.reviewer,
        screen: known.screen,
        score: known.score,
        probe: known.probe,
        import: known.import,
        gates: open_table(&entries, "gates"),
        keys: open_table(&entries, "keys"),
        entries,
    })
}

fn plant(tree: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            tree.insert(key.to_owned(), value);
        }
        Some((table, rest)) => {
            let inner = tree
                .entry(table.to_owned())
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                plant(inner, rest, value);
            }
        }
    }
}

fn open_table(entries: &Entries, table: &str) -> BTreeMap<String, Value> {
    entries
        .iter()
        .filter_map(|(key, (value, _))| {
            let (head, rest) = key.split_once('.')?;
            (head == table).then(|| (rest.to_owned(), value.clone()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        load(&[file])
    }

    fn message(text: &str) -> String {
        let full = check(text).unwrap_err().to_string();
        full.split_once("config.toml: ").unwrap().1.to_owned()
    }

    #[test]
    fn defaults_stand_alone() {
        let config = load(&[PathBuf::from("/nowhere/config.toml")]).unwrap();
        assert_eq!(config.score.device, "auto");
        assert!(config.screen.mask_secrets);
        assert_eq!(config.probe, ProbeSettings::default());
        assert!(config.entries.values().all(|(_, o)| *o == Origin::Default));
    }

    #[test]
    fn later_files_win_and_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, theirs) = (folder.path().join("a.toml"), folder.path().join("b.toml"));
        std::fs::write(&mine, "reviewer = \"ann\"\n[score]\ndevice = \"cpu\"\n").unwrap();
        std::fs::write(&theirs, "[score]\ndevice = \"cuda:1\"\n[gates]\nG1a = 30\n").unwrap();
        let config = load(&[mine.clone(), theirs.clone()]).unwrap();
        assert_eq!(
            (config.reviewer.as_str(), config.score.device.as_str()),
            ("ann", "cuda:1")
        );
        assert_eq!(config.entries["reviewer"].1, Origin::File(mine));
        assert_eq!(config.entries["score.device"].1, Origin::File(theirs));
        assert_eq!(config.gates["G1a"].as_integer(), Some(30));
    }

    #[test]
    fn mistakes_are_named_with_what_to_do() {
        assert_eq!(
            message("[score]\ndevcie = 'cpu'"),
            "unknown setting `score.devcie`; did you mean `score.device`?"
        );
        assert_eq!(
            message("colour = 'red'"),
            "unknown setting `colour`; `triagent config show` lists all"
        );
        assert_eq!(
            message("[screen]\nmouse = 'yes'"),
            "`screen.mouse` must be boolean, not string"
        );
        assert_eq!(
            message("[screen]\ntheme = 'pink'"),
            "`screen.theme` is `pink`; allowed: auto, default, mono, high-contrast, deuteranopia"
        );
        assert_eq!(
            message("[import]\nthreads = -1"),
            "`import.threads` is `-1`; allowed: 0 or more"
        );
        assert!(message("a = = 1").starts_with("not valid TOML"));
    }
}
