//! A context and an action as tokens: where the action begins, where it ends, what each token is.
//!
//! Both are rendered and tokenised together, and compared with the context alone: a boundary that
//! moves is reported, a context that the template rewrites is refused.

use super::action::{Part, Request};
use super::error::ScoreError;
use super::parts::mark_parts;
use super::template::{Template, message_dict};
use super::tokens::{Encoded, Tokens};
use crate::domain::ChatMessage;
use serde_json::Value;

/// One action, ready to be scored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Context and action, rendered.
    pub text: String,
    /// The same as tokens.
    pub ids: Vec<u32>,
    /// First token that TRL counts.
    pub first: usize,
    /// First token that is the action's own.
    pub own: usize,
    /// One past the last token that the model writes: the stop token is the last.
    pub owned_end: usize,
    /// Text of each token from `first` on.
    pub texts: Vec<String>,
    /// What each token from `first` on belongs to.
    pub parts: Vec<Part>,
    /// Bytes of the model's text without the stop token.
    pub bytes: usize,
    pub warnings: Vec<String>,
}

/// Plans every action of a request.
pub(super) fn plan(
    request: &Request<'_>,
    template: &Template,
    tokens: &Tokens,
) -> Vec<Result<Plan, ScoreError>> {
    let dicts: Vec<Value> = request.context.iter().map(message_dict).collect();
    let context = match Context::new(dicts, request, template, tokens) {
        Ok(context) => context,
        Err(error) => return request.actions.iter().map(|_| Err(error.clone())).collect(),
    };
    let drafts: Vec<_> = request.actions.iter().map(|a| context.draft(a)).collect();
    // TRL cuts all sides of a pair at the shortest common beginning.
    let first = drafts.iter().flatten().map(|d| d.own).min().unwrap_or(0);
    let finish = |(draft, action): (Result<Draft, ScoreError>, &ChatMessage)| {
        draft.and_then(|d| d.finish(first, action, tokens, &context.warnings))
    };
    drafts
        .into_iter()
        .zip(request.actions)
        .map(finish)
        .collect()
}

struct Context<'a> {
    dicts: Vec<Value>,
    request: &'a Request<'a>,
    template: &'a Template,
    tokens: &'a Tokens,
    prompt_text: String,
    prompt: Encoded,
    warnings: Vec<String>,
}

struct Draft {
    text: String,
    encoded: Encoded,
    own: usize,
    warnings: Vec<String>,
}

impl<'a> Context<'a> {
    fn new(
        dicts: Vec<Value>,
        request: &'a Request<'a>,
        template: &'a Template,
        tokens: &'a Tokens,
    ) -> Result<Self, ScoreError> {
        if dicts.is_empty() {
            return Err(ScoreError::Action(
                "there is no message before the action".to_owned(),
            ));
        }
        let prompt = template.render_dicts(&dicts, request.tools, true, request.now_us)?;
        let warnings = dropped_tools(request.tools, &prompt.text);
        Ok(Self {
            prompt: tokens.encode(&prompt.text)?,
            prompt_text: prompt.text,
            dicts,
            request,
            template,
            tokens,
            warnings,
        })
    }

    fn draft(&self, action: &ChatMessage) -> Result<Draft, ScoreError> {
        if action.is_empty() && action.reasoning.is_none() {
            return Err(ScoreError::Action(
                "the action says nothing and does nothing".to_owned(),
            ));
        }
        let mut dicts = self.dicts.clone();
        dicts.push(message_dict(action));
        let full =
            self.template
                .render_dicts(&dicts, self.request.tools, false, self.request.now_us)?;
        let encoded = self.tokens.encode(&full.text)?;
        let own = common_start(&self.prompt.ids, &encoded.ids);
        let mut warnings = Vec::new();
        if own < self.prompt.ids.len() {
            warnings.push(self.moved_boundary(&full.text, own)?);
        }
        if own == 0 {
            return Err(ScoreError::Action(
                "the chat template puts nothing before the action".to_owned(),
            ));
        }
        if own == encoded.ids.len() {
            return Err(ScoreError::Action(
                "the chat template leaves the action out".to_owned(),
            ));
        }
        Ok(Draft {
            text: full.text,
            encoded,
            own,
            warnings,
        })
    }

    /// The prompt's last tokens change once the action follows. Harmless inside the generation
    /// prompt; a rewritten context would put other people's tokens into the score.
    fn moved_boundary(&self, full: &str, own: usize) -> Result<String, ScoreError> {
        let common = common_start(self.prompt_text.as_bytes(), full.as_bytes());
        let lost = self.prompt.ids.len() - own;
        let bare =
            self.template
                .render_dicts(&self.dicts, self.request.tools, false, self.request.now_us);
        // Some templates refuse to render a conversation that waits for an answer; then only the
        // generation prompt's own length tells, and it is short.
        let context_end = bare.map_or(self.prompt_text.len().saturating_sub(64), |r| r.text.len());
        if common < context_end {
            return Err(ScoreError::Action(format!(
                "the chat template renders the context differently once the action follows (from byte {common} of {context_end}); \
                 its tokens cannot be told from the context's"
            )));
        }
        Ok(format!(
            "the generation prompt's last {lost} tokens are not what stands before the action; TRL counts from there"
        ))
    }
}

impl Draft {
    fn finish(
        mut self,
        first: usize,
        action: &ChatMessage,
        tokens: &Tokens,
        context_warnings: &[String],
    ) -> Result<Plan, ScoreError> {
        let ids = &self.encoded.ids;
        let stop = tokens.stop_at(&ids[self.own..]).map(|at| self.own + at);
        if stop.is_none() {
            self.warnings
                .push("no token ends the turn; the score stops where the text does".to_owned());
        }
        let owned_end = stop.map_or(ids.len(), |at| at + 1);
        let spans = &self.encoded.spans;
        let from = spans[self.own].start;
        let to = stop.map_or(self.text.len(), |at| spans[at].start).max(from);
        let marks = mark_parts(&self.text, from..to, action)?;
        self.warnings.extend(marks.warnings.iter().cloned());
        self.warnings.extend_from_slice(context_warnings);
        let part = |i: usize| {
            if i < self.own || i >= owned_end {
                Part::Tail
            } else if Some(i) == stop {
                Part::Stop
            } else {
                marks.part_of(&spans[i])
            }
        };
        Ok(Plan {
            parts: (first..ids.len()).map(part).collect(),
            texts: (first..ids.len())
                .map(|i| token_text(&self.text, spans, i))
                .collect(),
            first,
            own: self.own,
            owned_end,
            bytes: to - from,
            warnings: self.warnings,
            text: self.text,
            ids: self.encoded.ids,
        })
    }
}

/// The tokens of a character that is cut in several share its span; only the first shows it.
pub(super) fn token_text(text: &str, spans: &[std::ops::Range<usize>], i: usize) -> String {
    let again = i > 0 && spans[i].start < spans[i - 1].end;
    let shown = text.get(spans[i].clone()).filter(|_| !again);
    shown.map_or_else(|| "\u{FFFD}".to_owned(), str::to_owned)
}

fn common_start<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// Names the tools whose names the rendered prompt does not hold.
fn dropped_tools(tools: &[Value], prompt: &str) -> Vec<String> {
    let name = |tool: &Value| {
        let name = tool["function"]["name"].as_str().or(tool["name"].as_str());
        name.map(str::to_owned)
    };
    let lost: Vec<String> = tools
        .iter()
        .filter_map(name)
        .filter(|name| !prompt.contains(name.as_str()))
        .collect();
    if lost.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "the chat template leaves tools out: {}",
        lost.join(", ")
    )]
}
