//! The desk where a set is put together: rows go to their side of the split, everything that stays out is noted,
//! and versions are counted on the way.

use super::coverage::{Coverage, cell};
use super::error::Error;
use super::folder::Folder;
use super::input::{Facts, PairInput, RunInput};
use super::manifest::{Bound, Redacted, Units};
use super::merge;
use super::options::Options;
use super::preview::Sample;
use super::redact::{Redactor, guarded, is_redacted};
use super::select::{Example, Select};
use super::split::{Part, Plan};
use super::target::{Measured, Target};
use super::types::ArgumentTypes;
use super::why::{LeftOut, Why};
use crate::domain::{Redaction, RunId, StepKind};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One consumer's way to write: one file each.
pub(crate) trait Consumer {
    /// Takes a run.
    fn run(&mut self, run: &RunInput, desk: &mut Desk<'_>) -> Result<(), Error>;
    /// Takes all decisions about one pair of candidates.
    fn pair(&mut self, pair: &PairInput, desk: &mut Desk<'_>) -> Result<(), Error>;
    /// All is read.
    fn finish(&mut self, desk: &mut Desk<'_>) -> Result<(), Error>;
}

/// Versions, counted row by row.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) tools: Bound,
    pub(crate) reward: Bound,
    pub(crate) harness: Bound,
    pub(crate) standard: Bound,
    pub(crate) codebook: Bound,
    pub(crate) index: Bound,
    pub(crate) models: BTreeSet<String>,
    pub(crate) tokenizers: BTreeSet<String>,
    pub(crate) arguments: ArgumentTypes,
}

/// The desk.
pub(crate) struct Desk<'a> {
    pub(crate) options: &'a Options<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) select: Select<'a>,
    pub(crate) plan: Plan,
    pub(crate) folder: Folder,
    pub(crate) rows: BTreeMap<Part, u64>,
    pub(crate) read: BTreeMap<&'static str, u64>,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) warnings: BTreeSet<String>,
    pub(crate) settings: BTreeMap<&'static str, String>,
    pub(crate) coverage: Coverage,
    pub(crate) seen: Seen,
    pub(crate) units: Units,
    pub(crate) redacted: BTreeSet<Redacted>,
    /// Words that left some run as a placeholder, for texts that belong to no run.
    words: BTreeMap<String, Redaction>,
    /// Rows whose length nobody could measure.
    pub(crate) unmeasured: u64,
    /// First rows, while a preview is made.
    pub(crate) sample: Option<Sample>,
    said: HashMap<[u8; 16], String>,
    counted: BTreeSet<RunId>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(
        options: &'a Options<'a>,
        facts: &'a Facts,
        plan: Plan,
        folder: Folder,
    ) -> Self {
        Self {
            options,
            facts,
            select: Select::new(options, &facts.tasks),
            plan,
            folder,
            rows: BTreeMap::new(),
            read: BTreeMap::new(),
            left_out: Vec::new(),
            warnings: BTreeSet::new(),
            settings: BTreeMap::new(),
            coverage: Coverage::new(&facts.success_steps),
            seen: Seen::default(),
            units: Units {
                attempts: options.attempts.word(),
                ..Units::default()
            },
            redacted: BTreeSet::new(),
            words: BTreeMap::new(),
            unmeasured: 0,
            sample: None,
            said: HashMap::new(),
            counted: BTreeSet::new(),
        }
    }

    /// Notes what stays out.
    pub(crate) fn leave_out(&mut self, subject: impl ToString, why: &Why) {
        if let Some(sample) = &mut self.sample {
            sample.forget();
        }
        self.left_out.push(why.of(subject));
    }

    /// The side that a run falls on.
    pub(crate) fn part(&self, run: &RunInput) -> Part {
        self.plan.part(&run.head.id)
    }

    /// Writes one row to its side.
    pub(crate) fn row<T: Serialize>(&mut self, part: Part, row: &T) -> Result<(), Error> {
        self.row_in(&format!("{}.jsonl", part.word()), part, row)
    }

    /// Writes one row to a file of its side.
    pub(crate) fn row_in<T: Serialize>(
        &mut self,
        file: &str,
        part: Part,
        row: &T,
    ) -> Result<(), Error> {
        if let Some(sample) = &mut self.sample {
            sample.keep(file, row)?;
        }
        self.folder.line(file, row)?;
        self.count(part);
        Ok(())
    }

    /// Shades a whole conversation, every target in it.
    pub(crate) fn shade_talk(&mut self, talk: &super::talk::Talk<'_>) {
        if let Some(sample) = &mut self.sample {
            sample.shade_talk(talk);
        }
    }

    /// Counts a row that was written some other way.
    pub(crate) fn count(&mut self, part: Part) {
        *self.rows.entry(part).or_default() += 1;
    }

    /// Says the same prompt and target only once; `Err` names the first.
    pub(crate) fn once(
        &mut self,
        subject: &str,
        example: &Example<'_>,
        mark: &str,
    ) -> Result<(), Why> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(mark.as_bytes());
        for message in example.prompt.iter().chain([&example.target]) {
            hasher.update(&message.fingerprint_bytes());
        }
        for tool in &example.run.head.tools {
            hasher.update(tool.to_string().as_bytes());
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        match self.said.get(&key) {
            Some(first) => Err(Why::Duplicate { of: first.clone() }),
            None => {
                self.said.insert(key, subject.to_owned());
                Ok(())
            }
        }
    }

    /// Looks at length and template, where the target model is at hand.
    pub(crate) fn measure(&mut self, example: &Example<'_>) -> Result<(), Why> {
        let measured = match &self.options.target {
            Some(target) => Some(judge(target, self.options.limits.tokens, example)?),
            None => {
                self.unmeasured += u64::from(self.is_perhaps_too_long(example));
                None
            }
        };
        if let Some(measured) = &measured {
            self.warnings.extend(measured.notes.iter().cloned());
        }
        if let Some(sample) = &mut self.sample {
            sample.shade(example, measured.as_ref());
        }
        Ok(())
    }

    /// A byte-level tokenizer never makes more tokens than bytes, so short rows are safe without one.
    fn is_perhaps_too_long(&self, example: &Example<'_>) -> bool {
        let Some(limit) = self.options.limits.tokens else {
            return true;
        };
        let size = |m: &crate::domain::ChatMessage| m.fingerprint_bytes().len();
        let all = example.prompt.iter().chain([&example.target]);
        let bytes: usize = all.map(size).sum::<usize>()
            + example
                .run
                .head
                .tools
                .iter()
                .map(|t| t.to_string().len())
                .sum::<usize>();
        bytes > limit as usize
    }

    /// Counts a row's kind and the versions of its run.
    pub(crate) fn tally(&mut self, example: &Example<'_>) {
        let task = self.select.task(example.run.head.task.as_ref());
        self.coverage.row(example, cell(example, task));
        if example.source != "recorded" {
            let subject = example.at.to_string();
            for call in &example.target.tool_calls {
                self.seen.arguments.add(&subject, &call.arguments);
            }
        }
        self.versions(example.run);
    }

    /// Counts the versions of a run that gave a row.
    pub(crate) fn versions(&mut self, run: &RunInput) {
        if !self.counted.insert(run.head.id.clone()) {
            return;
        }
        let head = &run.head;
        for step in run.steps.iter().filter(|s| s.kind == StepKind::ToolCall) {
            let subject = format!("{}:{}", head.id, step.index);
            self.seen.arguments.add(&subject, &step.text);
        }
        self.seen.tools.add(tools_version(run));
        self.seen.harness.add(harness_version(run));
        self.seen.reward.add(reward_version(run));
        self.seen.index.add(head.index_version.clone());
        self.seen
            .models
            .extend(head.checkpoint.clone().or(head.model.clone()));
        self.seen.tokenizers.extend(head.tokenizer.clone());
        let tokens = merge::token_state(run);
        self.units.runs_with_token_ids += u64::from(tokens.complete);
        self.units.runs_with_text_only += u64::from(!tokens.complete);
        self.units.prefix_breaks += tokens.breaks;
        self.note_redactions(run);
    }

    /// Remembers what no text of the task list may say, whether the run's own rows leave or stay out.
    pub(crate) fn remember(&mut self, run: &RunInput) {
        let words = guarded(run).map(|r| (r.words.clone(), r.clone()));
        self.words.extend(words);
    }

    /// Replaces what any run of the set must not say, in a text of the task list.
    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.words.values())
    }

    fn note_redactions(&mut self, run: &RunInput) {
        let undecided = self.options.undecided;
        for state in run.findings.iter().filter(|s| is_redacted(s, undecided)) {
            let finding = &state.finding;
            self.redacted.insert(Redacted {
                finding: finding.id.clone(),
                rule: finding.rule.clone(),
                run: run.head.id.to_string(),
                placeholder: finding.placeholder.clone().unwrap_or_default(),
            });
        }
    }
}

/// What the model's template and tokenizer make of a row, if it may leave.
fn judge(target: &Target<'_>, limit: Option<u32>, example: &Example<'_>) -> Result<Measured, Why> {
    let measured = (target.measure)(&example.prompt, &example.target, &example.run.head.tools)
        .map_err(|error| Why::TemplateFails { error })?;
    if let Some(what) = measured.drops.first() {
        return Err(Why::TemplateDrops { what: what.clone() });
    }
    let tokens = measured
        .prompt_tokens
        .saturating_add(measured.target_tokens);
    match limit {
        Some(limit) if tokens > limit => Err(Why::TooLong { tokens, limit }),
        Some(_) | None => Ok(measured),
    }
}

fn tools_version(run: &RunInput) -> Option<String> {
    if let Some(version) = &run.head.toolset_version {
        return Some(version.clone());
    }
    let calls_tools = run.steps.iter().any(|s| s.tool.is_some());
    if run.head.tools.is_empty() {
        // A run that calls no tool has a tool list: the empty one.
        return (!calls_tools).then(|| "no tools".to_owned());
    }
    let text = super::message::tools_text(&run.head.tools);
    Some(format!("schemas:{}", short(&blake3::hash(text.as_bytes()))))
}

fn harness_version(run: &RunInput) -> Option<String> {
    let harness = &run.head.harness;
    let name = harness.name.as_ref()?;
    let version = harness.version.as_ref()?;
    Some(format!("{name} {version}"))
}

fn reward_version(run: &RunInput) -> Option<String> {
    let by = run.head.outcome_source.as_deref();
    if by.is_some_and(|s| s.starts_with("reviewer")) {
        return by.map(str::to_owned);
    }
    let mut versions = Vec::new();
    for reward in run.rewards.iter().filter(|r| r.result.is_some()) {
        versions.push(format!("{} {}", reward.grader, reward.version.as_ref()?));
    }
    versions.sort();
    versions.dedup();
    (!versions.is_empty()).then(|| versions.join(", "))
}

/// The first 16 hex digits.
pub(crate) fn short(hash: &blake3::Hash) -> String {
    hash.to_hex().chars().take(16).collect()
}
