//! Which session and which branch a row belongs to. Parent links form a graph; parallel calls fork it harmlessly, so
//! only two prompts of the user under one parent count as a rewind: the earlier one was left.

use crate::import::json::Node;
use crate::import::out::Out;
use std::collections::{HashMap, HashSet};

/// What a first walk over all rows learns.
pub(crate) struct Tree {
    stem: String,
    /// First session that the file names.
    main: Option<String>,
    /// Row → its run, for rows of sub-agents and leaves of summaries.
    runs: HashMap<String, String>,
    /// Parent → the user's last prompt under it.
    prompts: HashMap<String, String>,
    left: HashSet<String>,
}

impl Tree {
    pub(super) fn new(file: &str) -> Self {
        Self {
            stem: file.split('.').next().unwrap_or("").to_owned(),
            main: None,
            runs: HashMap::new(),
            prompts: HashMap::new(),
            left: HashSet::new(),
        }
    }

    /// The file names at least one session.
    pub(super) fn names_session(&self) -> bool {
        self.main.is_some()
    }

    /// The row stands where the user went back and asked anew.
    pub(super) fn is_left(&self, id: &str) -> bool {
        self.left.contains(id)
    }

    /// The run that a row belongs to; `None` for what belongs to none here.
    pub(super) fn place(&mut self, out: &mut Out<'_>, node: &Node<'_>) -> Option<String> {
        let Some(session) = node.id("sessionId").or_else(|| node.id("session_id")) else {
            return self.without_session(out, node);
        };
        self.main.get_or_insert_with(|| session.clone());
        let run = self.run_of(node, session);
        if let Some(id) = node.str("uuid") {
            self.runs.insert(id.to_owned(), run.clone());
            self.see_prompt(node, id);
        }
        Some(run)
    }

    /// Summaries name a leaf, maybe of another session. Rows of the web export name no session at all.
    fn without_session(&self, out: &mut Out<'_>, node: &Node<'_>) -> Option<String> {
        if let Some(leaf) = node.str("leafUuid") {
            let run = self.runs.get(leaf).cloned();
            if run.is_none() {
                out.note("a summary refers to another session and is left out");
            }
            return run;
        }
        Some(self.main.clone().unwrap_or_else(|| self.stem.clone()))
    }

    fn run_of(&self, node: &Node<'_>, session: String) -> String {
        if node.bool("isSidechain") != Some(true) {
            return session;
        }
        let parent = node.str("parentUuid").and_then(|p| self.runs.get(p));
        if let Some(run) = parent.filter(|run| **run != session) {
            return run.clone();
        }
        let agent = node.id("agentId").map(|id| format!("agent-{id}"));
        let file = self.stem.starts_with("agent-").then(|| self.stem.clone());
        let own = node.id("uuid").map(|id| format!("agent-{id}"));
        let agent = agent.or(file).or(own).unwrap_or_else(|| "agent".to_owned());
        format!("{session}/{agent}")
    }

    fn see_prompt(&mut self, node: &Node<'_>, id: &str) {
        let is_prompt = node.str("type") == Some("user")
            && node.bool("isMeta") != Some(true)
            && node.at(&["message", "content"]).is_some_and(|c| {
                c.text().is_some() || c.items().iter().all(|b| b.str("type") == Some("text"))
            });
        let Some(parent) = node.str("parentUuid").filter(|_| is_prompt) else {
            return;
        };
        if let Some(earlier) = self.prompts.insert(parent.to_owned(), id.to_owned())
            && earlier != id
        {
            self.left.insert(earlier);
        }
    }
}
