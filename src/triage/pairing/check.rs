//! What a decided pair must carry before it is saved, and what a reviewer should look at again.

use crate::domain::{Candidate, ChatMessage, Choice, Criterion, Pair};
use crate::text::Plain;
use crate::triage::standard::Standard;

/// What a pair is checked against.
#[derive(Debug, Clone, Copy)]
pub struct PairFacts<'a> {
    /// Hash of the request before `a`.
    pub hash_a: &'a str,
    /// Hash of the request before `b`.
    pub hash_b: &'a str,
    /// What `a` says or does.
    pub message_a: &'a ChatMessage,
    /// What `b` says or does.
    pub message_b: &'a ChatMessage,
    /// Texts in which the evidence span may stand: the shared context.
    pub context: &'a [ChatMessage],
    /// The task's standard, where it has one.
    pub standard: Option<&'a Standard>,
}

/// What is wrong with a pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairProblem {
    /// S-41.
    #[error(
        "the two candidates answer different requests: their context hashes differ (S-41)\nhint: decide `not-comparable`, or pick decisions with the same context"
    )]
    DifferentRequests,
    /// S-42.
    #[error(
        "a reason is missing\nhint: say in a few words why, so that somebody else can check it"
    )]
    NoReason,
    /// S-42.
    #[error(
        "no criterion is named\nhint: name what decided (`--criterion` in a script): citation-valid, conditions-complete, only-smoother or other"
    )]
    NoCriterion,
    /// S-42.
    #[error(
        "`only-smoother` cannot stand alone: this task's standard does not allow it (S-42)\nhint: name what is better in substance, or decide `tie`"
    )]
    OnlySmoother,
    /// S-43.
    #[error(
        "the standard's version is missing: this task is judged by `{0}`\nhint: record it with the pair (`--standard VERSION`)"
    )]
    NoStandard(String),
    /// S-43.
    #[error(
        "the pair was judged by standard `{0}`, the task now has `{1}`\nhint: judge it again by the current one"
    )]
    OtherStandard(String, String),
    /// Nothing to prefer.
    #[error("both candidates are identical\nhint: decide `tie` or leave the pair")]
    Identical,
    /// Nothing to learn from.
    #[error("the preferred side `{0}` is empty\nhint: an empty answer cannot be taught")]
    EmptyPreferred(&'static str),
    /// A written side without its author.
    #[error("side `{0}` was written by a person but names no author\nhint: record who wrote it")]
    NoAuthor(&'static str),
    /// Worth a look; does not block.
    #[error(
        "the quoted evidence stands neither in the context nor in a candidate\nhint: quote the words as they stand"
    )]
    EvidenceNotFound,
    /// Worth a look; does not block.
    #[error("no evidence span is quoted\nhint: quote the words that prove it")]
    NoEvidence,
}

impl PairProblem {
    /// The pair must not be saved as it is.
    pub fn blocks(&self) -> bool {
        !matches!(self, Self::EvidenceNotFound | Self::NoEvidence)
    }
}

/// Whether any problem forbids saving.
pub fn is_blocked(problems: &[PairProblem]) -> bool {
    problems.iter().any(PairProblem::blocks)
}

/// Returns all that is wrong with a pair, blocking problems first.
pub fn check_pair(pair: &Pair, facts: &PairFacts) -> Vec<PairProblem> {
    let mut out = Vec::new();
    if pair.choice == Choice::NotComparable {
        out.extend(
            pair.reason
                .trim()
                .is_empty()
                .then_some(PairProblem::NoReason),
        );
        return out;
    }
    let mismatch = facts.hash_a != facts.hash_b || pair.context_hash != facts.hash_a;
    out.extend(mismatch.then_some(PairProblem::DifferentRequests));
    out.extend(
        pair.reason
            .trim()
            .is_empty()
            .then_some(PairProblem::NoReason),
    );
    out.extend(authors(pair));
    out.extend(standard(pair, facts.standard));
    if pair.choice.preferred().is_some() {
        out.extend(preference(pair, facts));
    }
    out.extend(evidence(pair, facts));
    out
}

fn preference(pair: &Pair, facts: &PairFacts) -> Vec<PairProblem> {
    let mut out = Vec::new();
    let allowed = facts.standard.is_some_and(|s| s.smoother_alone);
    let smoother = |c: &Criterion| *c == Criterion::OnlySmoother;
    if pair.criteria.is_empty() {
        out.push(PairProblem::NoCriterion);
    } else if pair.criteria.iter().all(smoother) && !allowed {
        out.push(PairProblem::OnlySmoother);
    }
    if facts.message_a.fingerprint_bytes() == facts.message_b.fingerprint_bytes() {
        out.push(PairProblem::Identical);
    }
    let chosen = match pair.choice {
        Choice::A => Some(("a", facts.message_a)),
        Choice::B => Some(("b", facts.message_b)),
        Choice::Tie | Choice::BothBad | Choice::NotComparable => None,
    };
    out.extend(
        chosen
            .filter(|(_, m)| m.is_empty())
            .map(|(side, _)| PairProblem::EmptyPreferred(side)),
    );
    out
}

fn authors(pair: &Pair) -> Vec<PairProblem> {
    [("a", &pair.a), ("b", &pair.b)]
        .into_iter()
        .filter(|(_, c)| matches!(c, Candidate::Human { author, .. } if author.trim().is_empty()))
        .map(|(side, _)| PairProblem::NoAuthor(side))
        .collect()
}

fn standard(pair: &Pair, standard: Option<&Standard>) -> Option<PairProblem> {
    let current = standard?.version.as_str();
    match pair.standard.as_deref() {
        None => Some(PairProblem::NoStandard(current.to_owned())),
        Some(used) if used != current => Some(PairProblem::OtherStandard(
            used.to_owned(),
            current.to_owned(),
        )),
        Some(_) => None,
    }
}

fn evidence(pair: &Pair, facts: &PairFacts) -> Option<PairProblem> {
    let quote = pair
        .evidence
        .as_deref()
        .map(str::trim)
        .filter(|q| !q.is_empty());
    let Some(quote) = quote else {
        let needs = pair.criteria.contains(&Criterion::CitationValid)
            || pair.criteria.contains(&Criterion::ConditionsComplete);
        return needs.then_some(PairProblem::NoEvidence);
    };
    let quote = Plain::new(quote);
    let stands = |m: &ChatMessage| {
        let arguments = m.tool_calls.iter().map(|c| c.arguments.as_str());
        let texts = m.content.as_deref().into_iter().chain(arguments);
        texts.into_iter().any(|t| Plain::new(t).contains(&quote))
    };
    let candidates = [facts.message_a, facts.message_b];
    let found = facts.context.iter().any(stands) || candidates.into_iter().any(stands);
    (!found).then_some(PairProblem::EvidenceNotFound)
}
