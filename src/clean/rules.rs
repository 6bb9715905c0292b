//! The rules as data: `assets/redaction.toml`, and what a user adds to it.

use super::checks::Check;
use crate::domain::FindingKind;
use aho_corasick::AhoCorasick;
use regex::Regex;
use serde::Deserialize;
use thiserror::Error;

const BUILT_IN: &str = include_str!("../../assets/redaction.toml");

/// What can be wrong with a rule file.
#[derive(Debug, Error)]
pub enum RulesError {
    /// No TOML, or a field of the wrong kind.
    #[error("redaction rules: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// A pattern is no regex.
    #[error("redaction rule `{rule}`: {error}; back-references and look-around are not known here")]
    Pattern {
        /// The rule.
        rule: String,
        /// What the regex compiler said.
        error: Box<regex::Error>,
    },
    /// Two rules with one name.
    #[error("redaction rule `{0}` stands twice; ids are part of findings and must differ")]
    Twice(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: String,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    rule: Vec<RuleText>,
    tamper: Option<TamperText>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindText {
    Secret,
    Personal,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: String,
    kind: KindText,
    label: String,
    #[serde(default)]
    keywords: Vec<String>,
    pattern: String,
    #[serde(default)]
    entropy: f64,
    check: Option<Check>,
    #[serde(default)]
    context: Vec<String>,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    allow: Vec<String>,
    why: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct TamperText {
    protected: Vec<String>,
    hidden: Vec<String>,
    write_commands: Vec<String>,
    write_patterns: Vec<String>,
    write_tools: Vec<String>,
    read_commands: Vec<String>,
    fetch: Vec<String>,
}

/// One rule, compiled.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) kind: FindingKind,
    pub(crate) label: String,
    pub(crate) keywords: bool,
    pub(crate) pattern: Regex,
    pub(crate) entropy: f64,
    pub(crate) check: Option<Check>,
    pub(crate) context: Option<AhoCorasick>,
    pub(crate) whole: bool,
    pub(crate) allow: Vec<Regex>,
    pub(crate) why: String,
}

/// What grades the agent, compiled.
#[derive(Debug)]
pub(crate) struct TamperRules {
    pub(crate) protected: Vec<Regex>,
    pub(crate) hidden: Vec<Regex>,
    pub(crate) write_commands: Vec<String>,
    pub(crate) write_patterns: Vec<Regex>,
    pub(crate) write_tools: Vec<Regex>,
    pub(crate) read_commands: Vec<String>,
    pub(crate) fetch: Vec<Regex>,
}

/// All rules.
#[derive(Debug)]
pub struct Rules {
    /// Version, for manifests.
    pub version: String,
    pub(crate) rules: Vec<Rule>,
    pub(crate) allow: Vec<Regex>,
    pub(crate) keywords: Option<AhoCorasick>,
    /// Which rule each keyword belongs to.
    pub(crate) keyword_rule: Vec<usize>,
    pub(crate) tamper: TamperRules,
}

impl Rules {
    /// The rules that come with the program.
    pub fn built_in() -> Result<Self, RulesError> {
        Self::read(None)
    }

    /// The rules that come with the program, and a user's file: its rules are tried first, its names are added.
    pub fn read(user: Option<&str>) -> Result<Self, RulesError> {
        let parse =
            |text: &str| toml::from_str::<File>(text).map_err(|e| RulesError::Toml(Box::new(e)));
        let mut file = parse(BUILT_IN)?;
        if let Some(user) = user {
            let own = parse(user)?;
            file.version = format!("{}+{}", file.version, own.version);
            file.rule.splice(0..0, own.rule);
            file.allow.extend(own.allow);
            file.names.extend(own.names);
            file.tamper = own.tamper.or(file.tamper);
        }
        compile(file)
    }
}

fn compile(mut file: File) -> Result<Rules, RulesError> {
    if !file.names.is_empty() {
        file.rule.push(names(&file.names));
    }
    let mut rules: Vec<Rule> = Vec::with_capacity(file.rule.len());
    let (mut words, mut keyword_rule) = (Vec::new(), Vec::new());
    for text in file.rule {
        if rules.iter().any(|r| r.id == text.id) {
            return Err(RulesError::Twice(text.id));
        }
        keyword_rule.extend(text.keywords.iter().map(|_| rules.len()));
        words.extend(text.keywords.iter().cloned());
        rules.push(rule(text)?);
    }
    Ok(Rules {
        version: file.version,
        rules,
        allow: patterns("allow", &file.allow)?,
        keywords: any_case(&words),
        keyword_rule,
        tamper: tamper(file.tamper.unwrap_or_default())?,
    })
}

/// People's names come from the user alone: no pattern knows a name.
fn names(names: &[String]) -> RuleText {
    // A word boundary does not exist between two Chinese characters.
    let one = |name: &String| match name.is_ascii() {
        true => format!(r"\b{}\b", regex::escape(name)),
        false => regex::escape(name),
    };
    let all: Vec<String> = names
        .iter()
        .filter(|n| !n.trim().is_empty())
        .map(one)
        .collect();
    RuleText {
        id: "name".to_owned(),
        kind: KindText::Personal,
        label: "NAME".to_owned(),
        keywords: names.to_vec(),
        pattern: format!("(?i)({})", all.join("|")),
        entropy: 0.0,
        check: None,
        context: Vec::new(),
        whole: false,
        allow: Vec::new(),
        why: "a name from your list".to_owned(),
    }
}

fn rule(text: RuleText) -> Result<Rule, RulesError> {
    let RuleText {
        id,
        kind,
        label,
        keywords,
        pattern,
        entropy,
        check,
        context,
        whole,
        allow,
        why,
    } = text;
    Ok(Rule {
        kind: match kind {
            KindText::Secret => FindingKind::Secret,
            KindText::Personal => FindingKind::Personal,
        },
        keywords: !keywords.is_empty(),
        pattern: regex(&id, &pattern)?,
        context: any_case(&context),
        allow: patterns(&id, &allow)?,
        id,
        label,
        entropy,
        check,
        whole,
        why,
    })
}

fn tamper(text: TamperText) -> Result<TamperRules, RulesError> {
    Ok(TamperRules {
        protected: patterns("tamper.protected", &text.protected)?,
        hidden: patterns("tamper.hidden", &text.hidden)?,
        write_commands: text.write_commands,
        write_patterns: patterns("tamper.write_patterns", &text.write_patterns)?,
        write_tools: patterns("tamper.write_tools", &text.write_tools)?,
        read_commands: text.read_commands,
        fetch: patterns("tamper.fetch", &text.fetch)?,
    })
}

fn patterns(rule: &str, texts: &[String]) -> Result<Vec<Regex>, RulesError> {
    texts.iter().map(|text| regex(rule, text)).collect()
}

fn regex(rule: &str, text: &str) -> Result<Regex, RulesError> {
    Regex::new(text).map_err(|e| RulesError::Pattern {
        rule: rule.to_owned(),
        error: Box::new(e),
    })
}

/// Finds any of the words, whatever their case; nothing where there are none.
fn any_case(words: &[String]) -> Option<AhoCorasick> {
    if words.is_empty() {
        return None;
    }
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .ok()
}
