//! What advice is read from: plain counts that `jobs` takes from the store, and facts that a person recorded.

use crate::domain::{Layer, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is known about one cohort. A default value means: nobody measured it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CohortFacts {
    /// The cohort's name.
    pub cohort: String,
    /// Its runs.
    pub runs: u32,
    /// Runs whose pass or fail is known.
    pub outcome_known: u32,
    /// Failed runs.
    pub failures: u32,
    /// The settled label of each labelled failure.
    pub labels: Vec<LabelFact>,
    /// How far reviewers agree.
    pub agreement: AgreementFact,
    /// Evidence status counts of the failures, for the table's first row.
    pub evidence: EvidenceFact,
    /// Rewards and graders.
    pub rewards: RewardFact,
    /// Repeated rollouts.
    pub attempts: AttemptFact,
    /// Split and leak check; `None` = not run.
    pub split: Option<SplitFact>,
    /// Prompt, skill, memory or tool-text changes of the ledger that were compared on the same tasks.
    pub levers_compared: u32,
    /// Demonstrations.
    pub demonstrations: DemonstrationFact,
    /// Pairs.
    pub pairs: PairFact,
    /// Tokens, log-probs and groups.
    pub rollouts: RolloutFact,
    /// What scored log-probs say about the corrected actions.
    pub reach: ReachFact,
    /// Facts that no log holds, by name.
    pub recorded: BTreeMap<String, RecordedFact>,
    /// The last override, where a lead recorded one.
    pub overridden: Option<OverrideFact>,
}

/// One label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelFact {
    /// The run.
    pub run: RunId,
    /// Layer or outcome.
    pub layer: Layer,
    /// Sub-cause.
    #[serde(default)]
    pub cause: Option<String>,
    /// A `model` label with its checklist complete; always true for other layers.
    pub proven: bool,
    /// It came from a seeded random queue.
    pub random: bool,
}

/// How far reviewers agree on the layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgreementFact {
    /// Krippendorff's alpha, nominal; `None` = nobody labelled twice, or it is undefined.
    pub alpha: Option<f64>,
    /// Failures labelled by two or more.
    pub labelled_twice: u32,
    /// Of those, differing and not yet settled.
    pub unsettled: u32,
}

/// Evidence status of the failures' required documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EvidenceFact {
    /// Failures whose status is known.
    pub known: u32,
    /// All required evidence was in the prompt.
    pub in_prompt: u32,
    /// The required version's validity on the task's date is known and good.
    pub valid: u32,
}

/// Rewards and graders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RewardFact {
    /// A reward or automatic grader decides something here (S-47: where none does, G3 does not apply).
    pub used: bool,
    /// Hack cases shown to the graders; 0 = no audit was run.
    pub hack_cases: u32,
    /// Hack cases that fooled a grader.
    pub fooled: u32,
    /// Good runs shown to the graders.
    pub controls: u32,
    /// Of those, refused: a grader that refuses everything fools nobody and is no grader.
    pub refused: u32,
    /// Cases on which a grader itself failed.
    pub broke: u32,
    /// Graders that decide here and met no hack suite.
    pub not_audited: Vec<String>,
    /// Rollouts that should carry a reward.
    pub rollouts: u32,
    /// With status contaminated or untrusted.
    pub contaminated: u32,
    /// Without a reward.
    pub missing: u32,
    /// Rollouts in which every tool call failed.
    pub all_tools_failed: u32,
    /// Rollouts spoilt by at least one tool failure at a decisive place.
    pub tool_failed: u32,
    /// Rewards graded by an isolated verifier.
    pub isolated: u32,
    /// Rewards with all four fields told.
    pub four_fields: u32,
}

/// Repeated rollouts of evidence-complete failures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttemptFact {
    /// Evidence-complete failing tasks with at least three rollouts.
    pub repeated: u32,
    /// Of those, failing in at least two of three.
    pub stable: u32,
    /// Tasks of the behaviour slice.
    pub behaviour_tasks: u32,
    /// Of those, passed at least once by anybody's rollout.
    pub ever_passed: u32,
    /// pass@1 over tasks with enough rollouts.
    pub pass_at_1: Option<f64>,
    /// pass@8, where tasks have 8 rollouts.
    pub pass_at_8: Option<f64>,
}

/// Result of the split and leak check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplitFact {
    /// Groups that straddle training and test.
    pub straddling: u32,
    /// Near-duplicates across or inside the split that nobody has resolved.
    pub unresolved_duplicates: u32,
}

/// Demonstrations that a reviewer accepted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DemonstrationFact {
    /// Reviewed demonstrations.
    pub reviewed: u32,
    /// Of the plain kind.
    pub normal: u32,
    /// That ask back rightly.
    pub clarification: u32,
    /// That refuse or stop rightly.
    pub boundary: u32,
    /// That recover from an error.
    pub recovery: u32,
    /// Median length of the selected ones over that of all successes.
    pub length_ratio: Option<f64>,
    /// With every token's owner known.
    pub owned: u32,
    /// Made under this cohort's tools and harness.
    pub current: u32,
}

/// Decided pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PairFact {
    /// Pairs with a preference.
    pub preferred: u32,
    /// With equal context hashes.
    pub same_request: u32,
    /// With a reason and the standard's version.
    pub reasoned: u32,
    /// Decided by two or more.
    pub decided_twice: u32,
    /// Raw agreement of those.
    pub agreement: Option<f64>,
    /// Left was chosen.
    pub left_chosen: u32,
    /// Left or right was chosen on a screen.
    pub side_known: u32,
    /// Chosen side longer.
    pub chosen_longer: u32,
    /// Rejected side longer.
    pub rejected_longer: u32,
    /// Rejected side sampled from the current policy.
    pub on_policy: u32,
    /// Near-identical and unresolved; `None` = not checked.
    pub near_identical: Option<u32>,
    /// Chosen side passes the demonstration standard.
    pub chosen_reviewed: u32,
    /// Both sides are recorded decisions of the model on one request.
    pub both_recorded: u32,
}

/// Tokens, log-probs and groups.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolloutFact {
    /// Model-owned tokens.
    pub action_tokens: u64,
    /// Of those, with id and behaviour log-prob.
    pub with_logprob: u64,
    /// Groups of at least the counted size.
    pub groups: u32,
    /// Of those, with mixed rewards.
    pub mixed: u32,
    /// Groups whose members share question, state and grader version.
    pub equal_contract: u32,
    /// Calls after the first of a rollout with token ids.
    pub continued_calls: u64,
    /// Of those, continuing the tokens before them.
    pub prefix_kept: u64,
    /// Rows are written one a call, so prefixes need not hold.
    pub one_row_a_call: bool,
}

/// What log-probs of corrected actions say. With a proxy they are shown, not used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReachFact {
    /// The scored weights are the policy's.
    pub is_policy: bool,
    /// Failures whose corrected action was scored.
    pub scored: u32,
    /// Out of reach.
    pub out_of_reach: u32,
    /// In reach, and below the recorded one.
    pub below: u32,
    /// Mean expected mixed share at G = 8.
    pub mixed_share: Option<f64>,
}

/// A fact that a person recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFact {
    /// Its value.
    pub value: String,
    /// What shows it.
    pub evidence: String,
    /// Who recorded it.
    pub reviewer: String,
}

impl RecordedFact {
    /// The value says yes: anything but a denial.
    pub fn holds(&self) -> bool {
        let value = self.value.trim().to_lowercase();
        !matches!(
            value.as_str(),
            "" | "no" | "none" | "false" | "missing" | "0" | "unknown"
        )
    }
}

/// A lead went against the advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverrideFact {
    /// Who.
    pub reviewer: String,
    /// What instead.
    pub headline: String,
    /// Why.
    pub reason: String,
}
