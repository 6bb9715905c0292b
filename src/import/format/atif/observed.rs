//! What a step of ATIF observed: whose words the results are and which call they answer.

use crate::domain::chat::Role;
use crate::domain::{Owner, Step, StepKind, StepStatus};
use crate::import::content::{Piece, pieces};
use crate::import::extra::keep;
use crate::import::json::Node;
use crate::import::out::Out;
use crate::import::own;

/// All results of one step.
pub(super) fn steps(out: &mut Out<'_>, node: &Node<'_>) -> Vec<Step> {
    let results = node
        .at(&["observation", "results"])
        .map_or(&[][..], Node::items);
    let calls = node.list("tool_calls");
    let mut steps = Vec::new();
    for result in results {
        let inferred = (calls.len() == 1).then(|| calls.first()).flatten();
        let id = result.id("source_call_id");
        let is_inferred = id.is_none() && inferred.is_some();
        let id = id.or_else(|| inferred.and_then(|c| c.id("tool_call_id")));
        let owner = observer(node, calls.is_empty());
        let role = if calls.is_empty() {
            Role::User
        } else {
            Role::Tool
        };
        for piece in result_pieces(out, result) {
            let kind = match (piece.kind, owner) {
                (StepKind::Text, Owner::Tool) => StepKind::Observation,
                (_, Owner::Runtime) if node.str("source") == Some("system") => StepKind::Event,
                (kind, _) => kind,
            };
            let mut step = Step::new(owner, kind, role, piece.text);
            step.tool_call_id.clone_from(&id);
            step.status = StepStatus::Unknown;
            if is_inferred {
                step.extra.insert("joined".to_owned(), "by position".into());
            }
            if let Some(own) = node.at(&["extra", "triagent"]) {
                own::observation(own, &mut step);
            }
            if let Some(own) = result.at(&["extra", "triagent"]) {
                own::step(own, &mut step);
            }
            keep(&mut step.extra, result, &["subagent_trajectory_ref"]);
            steps.push(step);
        }
    }
    steps
}

fn result_pieces(out: &mut Out<'_>, result: &Node<'_>) -> Vec<Piece> {
    let mut found = pieces(out, result.get("content"));
    if found.is_empty() {
        found.push(Piece::text(""));
    }
    found
}

/// Whose words an observation are. Without a tool call, terminus answers commands that stand in the message's own
/// JSON; where there are none, it is the program that complains.
fn observer(node: &Node<'_>, has_no_calls: bool) -> Owner {
    if node.str("source") == Some("system") {
        return Owner::Runtime;
    }
    if !has_no_calls {
        return Owner::Tool;
    }
    let message = node.str("message").unwrap_or("");
    if message.contains("\"commands\"") {
        Owner::Tool
    } else {
        Owner::Runtime
    }
}
