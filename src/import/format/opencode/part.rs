//! One part of an opencode message as steps: text, reasoning, a tool call with its answer, a file, a note.

use crate::domain::{Owner, Role, SourceSpan, Step, StepKind, StepStatus};
use crate::import::chat::{arguments_text, call_step};
use crate::import::content::describe;
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::out::Out;
use crate::import::time::time;
use crate::import::turn::event;

/// What the speaker said, and what followed from it.
#[derive(Default)]
pub(super) struct Part {
    pub(super) model: Vec<Step>,
    pub(super) after: Vec<Step>,
}

impl Part {
    /// Takes a part apart. `owner` is whose message it stands in.
    pub(super) fn read(out: &mut Out<'_>, node: &Node<'_>, owner: Owner, span: SourceSpan) -> Self {
        let mut part = Self::default();
        let role = if owner == Owner::Model {
            Role::Assistant
        } else {
            Role::User
        };
        match node.str("type").unwrap_or("") {
            "text" => {
                let is_inserted = node.bool("synthetic") == Some(true);
                let owner = if is_inserted { Owner::Runtime } else { owner };
                part.model
                    .push(Step::new(owner, StepKind::Text, role, text(node)));
            }
            "reasoning" => part
                .model
                .push(Step::new(owner, StepKind::Reasoning, role, text(node))),
            "tool" => part.tool(node),
            "file" => {
                let what = describe("file", node);
                let mut step = Step::new(owner, StepKind::Media, role, what);
                step.name = node.id("filename");
                part.model.push(step);
            }
            kind @ ("patch" | "retry" | "compaction" | "subtask" | "agent") => {
                let mut step = event(kind, "");
                keep(
                    &mut step.extra,
                    node,
                    &[
                        "files", "hash", "error", "attempt", "auto", "overflow", "name", "prompt",
                    ],
                );
                part.after.push(step);
            }
            // They bracket an answer; what they say goes into its call.
            "step-start" | "step-finish" | "snapshot" => {}
            kind => {
                out.not_understood(&format!("part {kind:?}"));
                part.after.push(event(kind, node.compact()));
            }
        }
        let at_us = time(node.at(&["time", "start"]));
        for step in part.model.iter_mut().chain(&mut part.after) {
            step.source = span;
            step.at_us = step.at_us.or(at_us);
        }
        part
    }

    fn tool(&mut self, node: &Node<'_>) {
        let state = node.get("state");
        let member = |key: &str| state.and_then(|s| s.get(key));
        let logged = node.str("tool").unwrap_or("");
        // The program renames a call that it could not make, and keeps the name that the model wrote in its input.
        let meant = state.and_then(|s| s.at(&["input", "tool"]));
        let meant = meant.and_then(Node::text).filter(|_| logged == "invalid");
        let id = node.id("callID");
        let arguments = member("input").map_or_else(String::new, arguments_text);
        let mut call = call_step(meant.unwrap_or(logged), id.clone(), arguments);
        if meant.is_some() {
            call.extra.insert("logged as".to_owned(), logged.into());
        }
        call.at_us = time(state.and_then(|s| s.at(&["time", "start"])));
        self.model.push(call);
        let word = state.and_then(|s| s.str("status")).unwrap_or("");
        if !matches!(word, "completed" | "error") {
            return;
        }
        let said = member("output").or_else(|| member("error"));
        let said = said.map_or_else(String::new, |s| {
            s.text().map_or_else(|| s.compact(), str::to_owned)
        });
        let mut step = Step::new(Owner::Tool, StepKind::Observation, Role::Tool, said);
        step.tool = Some(meant.unwrap_or(logged).to_owned());
        step.tool_call_id = id;
        let exit = state
            .and_then(|s| s.at(&["metadata", "exit"]))
            .and_then(Node::as_f64);
        let is_error =
            word == "error" || logged == "invalid" || exit.is_some_and(|code| code != 0.0);
        step.status = if is_error {
            StepStatus::Error
        } else {
            StepStatus::Ok
        };
        step.at_us = time(state.and_then(|s| s.at(&["time", "end"])));
        if let Some(code) = exit {
            step.extra.insert("exit".to_owned(), code.into());
        }
        self.after.push(step);
    }
}

fn text(node: &Node<'_>) -> String {
    node.str("text").unwrap_or("").to_owned()
}
