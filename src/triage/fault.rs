//! What went wrong with a tool call, told apart as a person would: outage, permission, wrong arguments, no such thing.
//!
//! A tool error alone does not mean the environment: a model that invents an order number gets an error too (S-54).

use crate::domain::{Owner, Step, StepKind, StepStatus};
use serde::Serialize;

/// How much of a tool's answer is read for its kind of failure.
const HEAD_CHARS: usize = 600;

/// Kind of a tool failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It did not answer in time.
    Timeout,
    /// Permission was refused.
    Permission,
    /// The tool or what stands behind it broke.
    Executor,
    /// The call was malformed or its arguments are not allowed.
    Argument,
    /// What was asked for does not exist.
    NoSuchThing,
    /// The tool works, and says which rule of its own forbids what was asked.
    Rule,
    /// It failed and does not say how.
    Unclear,
}

impl Fault {
    /// The system's own: no behaviour of the model would have avoided it.
    pub fn is_environment(self) -> bool {
        match self {
            Self::Timeout | Self::Permission | Self::Executor | Self::Unclear => true,
            Self::Argument | Self::NoSuchThing | Self::Rule => false,
        }
    }

    /// The words on screen.
    pub fn words(self) -> &'static str {
        match self {
            Self::Timeout => "did not answer in time",
            Self::Permission => "refused permission",
            Self::Executor => "broke down",
            Self::Argument => "was called with arguments that it does not take",
            Self::NoSuchThing => "was asked for something that does not exist",
            Self::Rule => "was asked for what its rules forbid",
            Self::Unclear => "failed",
        }
    }
}

const TIMEOUT: &[&str] = &["timed out", "timeout", "deadline exceeded", "超时"];
const PERMISSION: &[&str] = &[
    "permission denied",
    "access denied",
    "unauthorized",
    "unauthorised",
    "forbidden",
    "not authorized",
    "401",
    "403",
    "无权限",
    "权限不足",
    "拒绝访问",
];
const EXECUTOR: &[&str] = &[
    "connection",
    "unavailable",
    "internal server error",
    "bad gateway",
    "service error",
    "rate limit",
    "too many requests",
    "econnrefused",
    "cannot be reached",
    "cannot be loaded",
    "cannot be opened",
    "network",
    "500",
    "502",
    "503",
    "504",
    "429",
    "服务不可用",
    "连接失败",
    "内部错误",
];
const ARGUMENT: &[&str] = &[
    "invalid argument",
    "invalid parameter",
    "missing required",
    "required property",
    "validation error",
    "unexpected keyword",
    "missing 1 required",
    "unknown tool",
    "unknown action",
    "no such tool",
    "is not a valid",
    "invalid format",
    "jsondecodeerror",
    "could not parse",
    "must be a",
    "must be one of",
    "参数错误",
    "参数无效",
    "缺少参数",
];
const NO_SUCH_THING: &[&str] = &[
    "not found",
    "does not exist",
    "no such",
    "404",
    "不存在",
    "未找到",
];

/// Looked for last: a tool that can say this is up, and was asked for the wrong thing.
const RULE: &[&str] = &[
    "cannot be",
    "can not be",
    "can only be",
    "may only be",
    "should match",
    "must match",
    "does not add up",
    "already been",
    "does not belong to",
    "不能",
    "只能",
    "不允许",
];

/// What an observation says went wrong; nothing where it worked.
pub fn tool_fault(step: &Step) -> Option<Fault> {
    if step.kind != StepKind::Observation && step.owner != Owner::Tool {
        return None;
    }
    match step.status {
        StepStatus::Timeout => Some(Fault::Timeout),
        StepStatus::Denied => Some(Fault::Permission),
        StepStatus::Error => Some(kind_of(&head(step)).unwrap_or(Fault::Unclear)),
        StepStatus::Ok => None,
        StepStatus::Unknown => {
            let text = head(step);
            says_error(&text).then(|| kind_of(&text).unwrap_or(Fault::Unclear))
        }
    }
}

fn head(step: &Step) -> String {
    let start: String = step.text.chars().take(HEAD_CHARS).collect();
    start.to_lowercase()
}

/// A log without tool status: only openings that cannot be anything but an error count.
fn says_error(text: &str) -> bool {
    let text = text.trim_start_matches(['"', '{', '[', ' ', '\n']);
    [
        "error:",
        "error ",
        "traceback (most recent call last)",
        "exception:",
        "error\":",
        "错误：",
        "错误:",
    ]
    .iter()
    .any(|opening| text.starts_with(opening))
}

fn kind_of(text: &str) -> Option<Fault> {
    let kinds = [
        (TIMEOUT, Fault::Timeout),
        (PERMISSION, Fault::Permission),
        (ARGUMENT, Fault::Argument),
        (EXECUTOR, Fault::Executor),
        (NO_SUCH_THING, Fault::NoSuchThing),
        (RULE, Fault::Rule),
    ];
    kinds
        .into_iter()
        .find(|(words, _)| words.iter().any(|w| holds_word(text, w)))
        .map(|(_, fault)| fault)
}

/// Numbers count only as whole numbers: `503` in `order 15034` says nothing.
fn holds_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, hit)| {
        let (before, rest) = text.split_at(at);
        let after = rest.strip_prefix(hit).unwrap_or("");
        let number = word.chars().all(|c| c.is_ascii_digit());
        let touches = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        !number || !(touches(before.chars().next_back()) || touches(after.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Role;

    fn fault(status: StepStatus, text: &str) -> Option<Fault> {
        let mut step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, text);
        step.status = status;
        tool_fault(&step)
    }

    #[test]
    fn faults_are_told_apart() {
        use StepStatus::{Denied, Error, Ok, Timeout, Unknown};
        for (status, text, expected) in [
            (Timeout, "", Some(Fault::Timeout)),
            (Denied, "", Some(Fault::Permission)),
            (Error, "503 Service Unavailable", Some(Fault::Executor)),
            (Error, "boom", Some(Fault::Unclear)),
            (
                Error,
                "missing required field `query`",
                Some(Fault::Argument),
            ),
            (Error, "查询超时", Some(Fault::Timeout)),
            (Ok, "error: this text is about errors", None),
            (Unknown, "Error: order not found", Some(Fault::NoSuchThing)),
            (
                Unknown,
                r#"{"error": "connection refused"}"#,
                Some(Fault::Executor),
            ),
            (Unknown, "Errors are explained in section 500", None),
            (Unknown, "Error: order 15034 is odd", Some(Fault::Unclear)),
            // tau-bench's own words: the tool is up and says what it forbids.
            (
                Unknown,
                "Error: non-delivered order cannot be exchanged",
                Some(Fault::Rule),
            ),
            (
                Unknown,
                "Error: payment amount does not add up, total price is 305, but paid 255",
                Some(Fault::Rule),
            ),
            (Error, "the index cannot be reached", Some(Fault::Executor)),
        ] {
            assert_eq!(fault(status, text), expected, "{text}");
        }
    }

    #[test]
    fn s54_wrong_arguments_are_not_the_environment() {
        for own in [Fault::Argument, Fault::NoSuchThing, Fault::Rule] {
            assert!(!own.is_environment());
        }
        assert!(Fault::Timeout.is_environment() && Fault::Permission.is_environment());
    }
}
