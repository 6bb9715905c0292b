//! Hand-made runs and pairs: the owner's policy task in four endings, with all that an export reads.

use serde_json::{Value, json};
use std::sync::Arc;
use triagent::domain::chat::context_before;
use triagent::domain::pair::context_hash;
use triagent::domain::*;
use triagent::export::{
    Bindings, Cleaning, Facts, Format, Input, Manifest, Options, PairInput, RunHead, RunInput,
    write,
};

/// Writes a run step by step.
pub(crate) struct Story(pub(crate) RunInput);

impl Story {
    pub(crate) fn new(id: &str, task: &str) -> Self {
        let mut head = Rollout::new(id, "hand-made", "fixtures.rs");
        head.task = Some(TaskId::from(task));
        head.family = Some("policy".to_owned());
        head.harness.name = Some("desk".to_owned());
        head.harness.version = Some("1.2".to_owned());
        head.index_version = Some("index-3".to_owned());
        head.model = Some("small-model".to_owned());
        head.tools = vec![search_tool()];
        Self(RunInput::new(head, Vec::new()))
    }

    pub(crate) fn step(mut self, owner: Owner, kind: StepKind, role: Role, text: &str) -> Self {
        let mut step = Step::new(owner, kind, role, text);
        step.index = u32::try_from(self.0.steps.len()).unwrap();
        step.message = self.0.steps.last().map_or(0, |s| s.message + 1);
        self.0.steps.push(step);
        self
    }

    pub(crate) fn edit(mut self, change: impl FnOnce(&mut Step)) -> Self {
        change(self.0.steps.last_mut().unwrap());
        self
    }

    pub(crate) fn system(self, text: &str) -> Self {
        self.step(Owner::System, StepKind::Text, Role::System, text)
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.step(Owner::User, StepKind::Text, Role::User, text)
    }

    pub(crate) fn says(self, text: &str) -> Self {
        self.step(Owner::Model, StepKind::Text, Role::Assistant, text)
    }

    pub(crate) fn calls(self, tool: &str, arguments: &str) -> Self {
        let id = format!("c{}", self.0.steps.len());
        self.step(Owner::Model, StepKind::ToolCall, Role::Assistant, arguments)
            .edit(|s| {
                s.tool = Some(tool.to_owned());
                s.tool_call_id = Some(id);
            })
    }

    pub(crate) fn gets(self, text: &str) -> Self {
        let asked = self.0.steps.last().cloned().unwrap();
        self.step(Owner::Tool, StepKind::Observation, Role::Tool, text)
            .edit(|s| {
                s.tool = asked.tool;
                s.tool_call_id = asked.tool_call_id;
                s.status = StepStatus::Ok;
            })
    }

    pub(crate) fn outcome(mut self, outcome: Outcome) -> RunInput {
        self.0.head.outcome = outcome;
        self.0.head.outcome_source = Some("file:reward".to_owned());
        let mut reward = Reward::result(
            "policy-check",
            f64::from(u8::from(outcome == Outcome::Pass)),
        );
        reward.version = Some("2".to_owned());
        self.0.rewards.push(reward);
        self.0
    }

    pub(crate) fn passes(self) -> RunInput {
        self.outcome(Outcome::Pass)
    }

    pub(crate) fn fails(self) -> RunInput {
        self.outcome(Outcome::Fail)
    }
}

pub(crate) fn search_tool() -> Value {
    json!({"type": "function", "function": {"name": "search", "description": "Finds policies",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"]}}})
}

/// The complete request, started: both endings share everything up to the decision.
fn complete(id: &str) -> Story {
    Story::new(id, "complete")
        .system("Answer from policies and cite them.")
        .user("差旅报销的住宿上限是多少？我是正式员工，2026 年 3 月出差。")
        .calls("search", r#"{"query": "住宿上限 2026", "limit": 3}"#)
        .gets("T-7 v3 (2026-01-01 起): 正式员工 600 元/晚。T-7 v2 (至 2025-12-31): 500 元/晚。")
}

/// The request that lacks a condition.
fn missing(id: &str) -> Story {
    Story::new(id, "missing-condition")
        .system("Answer from policies and cite them.")
        .user("住宿上限是多少？")
        .calls("search", r#"{"query": "住宿上限"}"#)
        .gets("T-7 v3: 正式员工 600 元/晚; 实习生 300 元/晚。")
}

/// Rewards 1, 0, 0, 1 (S-83).
pub(crate) fn four() -> Vec<RunInput> {
    vec![
        complete("correct-citation")
            .says("上限为 600 元/晚 [T-7 v3]。")
            .passes(),
        complete("stale-citation")
            .says("上限为 500 元/晚 [T-7 v2]。")
            .fails(),
        missing("sure-without-condition")
            .says("上限为 600 元/晚 [T-7 v3]。")
            .fails(),
        missing("correct-clarification")
            .says("请问您是正式员工还是实习生？")
            .passes(),
    ]
}

fn read_tool() -> Value {
    json!({"type": "function", "function": {"name": "read", "description": "Reads a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}})
}

/// Shapes that trip readers: two tools, parallel calls, text beside a call, no tools, numbers and strings under one
/// key, reasoning, a clarification after a failed tool.
pub(crate) fn wide() -> Vec<RunInput> {
    let mut parallel = Story::new("parallel", "wide-1")
        .system("Use tools.")
        .user("Compare a.md and b.md")
        .calls("read", r#"{"path": "a.md"}"#)
        .calls("read", r#"{"path": "b.md"}"#);
    let second = parallel.0.steps.len() - 1;
    parallel.0.steps[second].message -= 1;
    let answer = |s: Story, call: usize, text: &str| {
        let asked = s.0.steps[call].clone();
        s.gets(text)
            .edit(|step| step.tool_call_id = asked.tool_call_id)
    };
    let parallel = answer(answer(parallel, 2, "A"), 3, "B").says("They differ in one letter.");
    let beside = Story::new("beside", "wide-2")
        .user("Where?")
        .says("Let me look.");
    let mut beside = beside.calls("search", r#"{"query": 7}"#);
    let call = beside.0.steps.len() - 1;
    beside.0.steps[call].message -= 1;
    let beside = beside
        .gets("nothing")
        .edit(|s| s.status = StepStatus::Error)
        .says("Which folder do you mean?");
    let mut bare = Story::new("bare", "wide-3")
        .user("hi")
        .says("hello, what can I do?");
    bare.0.head.tools.clear();
    let thinks = Story::new("thinks", "wide-4")
        .user("2+2?")
        .step(
            Owner::Model,
            StepKind::Reasoning,
            Role::Assistant,
            "two and two",
        )
        .says("4")
        .edit(|s| s.message -= 1);
    let mut all = vec![
        parallel.passes(),
        beside.passes(),
        bare.passes(),
        thinks.passes(),
    ];
    all[0].head.tools.push(read_tool());
    all
}

pub(crate) fn recorded(run: &str, step: u32) -> Candidate {
    Candidate::Recorded {
        at: StepRef {
            run: RunId::from(run),
            step,
        },
    }
}

pub(crate) fn human(run: &str, step: u32, message: ChatMessage) -> Candidate {
    let at = StepRef {
        run: RunId::from(run),
        step,
    };
    Candidate::Human {
        at,
        message,
        author: "lin".to_owned(),
    }
}

/// A pair over two runs, with reason, criterion and standard.
pub(crate) fn pair(
    id: &str,
    runs: &[RunInput],
    a: Candidate,
    b: Candidate,
    choice: Choice,
) -> PairInput {
    let find = |c: &Candidate| {
        runs.iter()
            .find(|r| r.head.id == c.at().run)
            .unwrap()
            .clone()
    };
    let run = find(&a);
    let context = context_before(&run.steps, a.at().step);
    let context_hash = context_hash(run.head.task.as_ref(), &context, &run.head.tools);
    let (run_a, run_b) = (Arc::new(run), Arc::new(find(&b)));
    let decided = Pair {
        a,
        b,
        context_hash,
        choice,
        criteria: vec![Criterion::CitationValid],
        reason: "引用了有效版本".to_owned(),
        evidence: Some("T-7 v3".to_owned()),
        standard: Some("policy-1".to_owned()),
        left: Some(Side::A),
        side_seed: Some(7),
        active_ms: Some(4000),
    };
    PairInput {
        record: DecisionRecord {
            id: DecisionId::from(id),
            reviewer: "wang".to_owned(),
            at_us: 1_790_000_000_000_000,
            decision: Decision::Pair(Box::new(decided)),
            codebook: "cb-1".to_owned(),
            replaces: None,
            batch: None,
        },
        a: run_a,
        b: run_b,
    }
}

/// Changes the pair inside.
pub(crate) fn with(mut input: PairInput, change: impl FnOnce(&mut Pair)) -> PairInput {
    let Decision::Pair(pair) = &mut input.record.decision else {
        panic!("no pair")
    };
    change(pair);
    input
}

/// Inside one request only: correct over stale, clarification over confident (S-83), and one written side.
pub(crate) fn pairs(runs: &[RunInput]) -> Vec<PairInput> {
    let written = ChatMessage {
        content: None,
        tool_calls: vec![ToolCall {
            id: None,
            name: "search".to_owned(),
            arguments: r#"{"query":"T-7","limit":1}"#.to_owned(),
        }],
        ..ChatMessage::text(Role::Assistant, "")
    };
    vec![
        pair(
            "p1",
            runs,
            recorded("correct-citation", 4),
            recorded("stale-citation", 4),
            Choice::A,
        ),
        pair(
            "p2",
            runs,
            recorded("sure-without-condition", 4),
            recorded("correct-clarification", 4),
            Choice::B,
        ),
        pair(
            "p3",
            runs,
            human("stale-citation", 2, written),
            recorded("stale-citation", 2),
            Choice::A,
        ),
    ]
}

pub(crate) fn head(run: &RunInput) -> RunHead {
    let first = run.steps.iter().find(|s| s.owner == Owner::User);
    RunHead {
        run: run.head.id.clone(),
        task: run.head.task.clone(),
        scenario: run.head.scenario.clone(),
        documents: Vec::new(),
        request: first.map_or(String::new(), |s| s.text.clone()),
    }
}

pub(crate) fn facts(runs: &[RunInput]) -> Facts {
    Facts {
        heads: runs.iter().map(head).collect(),
        bindings: Bindings {
            model: Some("w:1".to_owned()),
            tokenizer: Some("t:1".to_owned()),
            template: Some("c:1".to_owned()),
            reference: Some("w:1".to_owned()),
            data: None,
            codebook: Some("cb-1".to_owned()),
        },
        cleaning: Some(Cleaning {
            rules: "1".to_owned(),
            findings: Vec::new(),
        }),
        decisions_sha256: Some("00".repeat(32)),
        ..Facts::default()
    }
}

pub(crate) fn input(runs: &[RunInput], pairs: &[PairInput]) -> Input<'static> {
    Input {
        facts: facts(runs),
        runs: Box::new(runs.iter().cloned().map(Ok).collect::<Vec<_>>().into_iter()),
        pairs: Box::new(
            pairs
                .iter()
                .cloned()
                .map(Ok)
                .collect::<Vec<_>>()
                .into_iter(),
        ),
    }
}

/// An export in a folder of its own.
pub(crate) struct Out {
    pub(crate) manifest: Manifest,
    pub(crate) dir: tempfile::TempDir,
}

impl Out {
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }

    pub(crate) fn rows(&self) -> Vec<Value> {
        let lines = self.text("train.jsonl");
        lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    /// `subject code` of everything that stayed out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.manifest
            .left_out
            .iter()
            .map(|l| format!("{} {}", l.subject, l.code))
            .collect()
    }
}

pub(crate) fn export(format: Format, runs: &[RunInput], pairs: &[PairInput]) -> Out {
    export_with(&Options::new(format), input(runs, pairs)).unwrap()
}

pub(crate) fn export_with(
    options: &Options<'_>,
    input: Input<'_>,
) -> Result<Out, triagent::export::Error> {
    let dir = tempfile::tempdir().unwrap();
    let manifest = write(input, options, dir.path(), &Progress::default())?;
    Ok(Out { manifest, dir })
}
