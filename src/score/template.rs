//! Chat templates, rendered byte for byte as Python's transformers renders them.
//!
//! Scoring and the export checks share this one renderer. It never mends a conversation: what the
//! template leaves out or refuses is reported.

mod functions;
mod messages;
mod methods;
mod python;

pub use messages::message_dict;
pub(super) use python::to_json;

use super::error::ScoreError;
use crate::domain::ChatMessage;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value, context};
use serde_json::{Map, Value as Json};
use std::ops::Range;

/// Work a template may do: one for a step and one for 64 bytes that it makes, so about 1 GB at most.
/// A run of 1,500 messages stays inside, with templates that look back at every message too.
const MAX_FUEL: u64 = 16_000_000;
/// Bytes of template source; the largest public one is under 40 KiB.
const MAX_TEMPLATE_BYTES: usize = 1 << 20;
/// Nesting of macros and includes.
const MAX_RECURSION: usize = 200;
/// Stand around generated text while rendering and are taken out again: noncharacters, never in text.
const GENERATION_START: char = '\u{FDD0}';
const GENERATION_END: char = '\u{FDD1}';

/// A compiled chat template with the special tokens that it may name.
#[derive(Debug)]
pub struct Template {
    env: Environment<'static>,
    source: String,
    tool_source: Option<String>,
    special: Map<String, Json>,
}

/// A conversation as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Byte ranges inside `{% generation %}` blocks; empty when the template has none.
    pub generated: Vec<Range<usize>>,
}

impl Template {
    /// Compiles a template, and the one that some models have for conversations with tools.
    /// `special` holds `bos_token`, `eos_token` and so on.
    pub fn new(
        source: &str,
        tool_source: Option<&str>,
        special: Map<String, Json>,
    ) -> Result<Self, ScoreError> {
        if source.len().max(tool_source.map_or(0, str::len)) > MAX_TEMPLATE_BYTES {
            let why = format!(
                "{} bytes of template; at most {MAX_TEMPLATE_BYTES}",
                source.len()
            );
            return Err(ScoreError::Template(why));
        }
        let mut env = Environment::new();
        env.set_syntax(python_whitespace()?);
        env.set_fuel(Some(MAX_FUEL));
        env.set_recursion_limit(MAX_RECURSION);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        python::install(&mut env);
        methods::install(&mut env);
        functions::install(&mut env);
        for (name, source) in [("chat", Some(source)), ("chat with tools", tool_source)] {
            if let Some(source) = source {
                env.add_template_owned(name, functions::with_generation_filter(source)?)
                    .map_err(|e| template_error(&e))?;
            }
        }
        Ok(Self {
            env,
            source: source.to_owned(),
            tool_source: tool_source.map(str::to_owned),
            special,
        })
    }

    /// The template's text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Hash of the template and of the special tokens that it may name.
    pub(super) fn hash(&self) -> blake3::Hash {
        let special = Json::Object(self.special.clone()).to_string();
        blake3::Hasher::new()
            .update(self.source.as_bytes())
            .update(&[0])
            .update(self.tool_source.as_deref().unwrap_or_default().as_bytes())
            .update(&[0])
            .update(special.as_bytes())
            .finalize()
    }

    /// Renders messages, as `apply_chat_template(messages, tools=tools or None, …)` does.
    pub fn render(
        &self,
        messages: &[ChatMessage],
        tools: &[Json],
        add_generation_prompt: bool,
    ) -> Result<Rendered, ScoreError> {
        let dicts: Vec<Json> = messages.iter().map(message_dict).collect();
        self.render_dicts(&dicts, tools, add_generation_prompt, None)
    }

    /// Renders messages that already are dicts, at a given time (microseconds UTC) where one is known.
    pub fn render_dicts(
        &self,
        messages: &[Json],
        tools: &[Json],
        add_generation_prompt: bool,
        now_us: Option<i64>,
    ) -> Result<Rendered, ScoreError> {
        let messages: Vec<Json> = messages.iter().map(messages::normalised).collect();
        let marks = [GENERATION_START, GENERATION_END];
        // Text that holds our marks would be taken for them; then there are simply no marks.
        let clean = !messages
            .iter()
            .chain(tools)
            .any(|m| m.to_string().contains(marks));
        let has_tools = !tools.is_empty();
        let tools = has_tools.then(|| tools.iter().map(from_json).collect::<Value>());
        let special = from_pairs(&self.special);
        let clock = functions::clock(now_us);
        let inputs = context! {
            messages => messages.iter().map(from_json).collect::<Value>(),
            tools => tools.unwrap_or(Value::from(())),
            documents => Value::from(()),
            add_generation_prompt => add_generation_prompt,
            __mark_generation => clean,
        };
        let inputs = minijinja::value::merge_maps([inputs, clock, special]);
        let with_tools = self.tool_source.is_some() && has_tools;
        let name = if with_tools {
            "chat with tools"
        } else {
            "chat"
        };
        let template = self
            .env
            .get_template(name)
            .map_err(|e| template_error(&e))?;
        let text = template.render(inputs).map_err(|e| template_error(&e))?;
        Ok(if clean {
            take_marks_out(&text)
        } else {
            Rendered {
                text,
                generated: Vec::new(),
            }
        })
    }
}

/// Keys keep their order, as Python's dicts do.
fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(b) => Value::from(*b),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(from_json).collect(),
        Json::Object(fields) => from_pairs(fields),
        Json::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => Value::from(n),
            (_, Some(n)) => Value::from(n),
            _ => Value::from(n.as_f64().unwrap_or(f64::NAN)),
        },
    }
}

fn from_pairs(fields: &Map<String, Json>) -> Value {
    Value::from_pairs(
        fields
            .iter()
            .map(|(key, item)| (key.as_str(), from_json(item))),
    )
}

fn python_whitespace() -> Result<SyntaxConfig, ScoreError> {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|e| template_error(&e))
}

fn take_marks_out(text: &str) -> Rendered {
    let mut out = Rendered::default();
    let mut start = None;
    for c in text.chars() {
        match c {
            GENERATION_START => start = Some(out.text.len()),
            GENERATION_END => {
                if let Some(start) = start.take() {
                    out.generated.push(start..out.text.len());
                }
            }
            c => out.text.push(c),
        }
    }
    out
}

fn template_error(error: &minijinja::Error) -> ScoreError {
    let mut why = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    if error.kind() == minijinja::ErrorKind::OutOfFuel {
        why = format!(
            "it did not end within {MAX_FUEL} units of work; it loops, or the conversation is enormous"
        );
    }
    match error.line() {
        Some(line) => ScoreError::Template(format!("{why} (template line {line})")),
        None => ScoreError::Template(why),
    }
}
