//! What a change may not claim: parameters without new weights, benefits of two layers at once, acceptance without a way back.

use super::fingerprint::{FINGERPRINTS, changed_layers};
use crate::domain::{Change, ChangedThing};

/// What is wrong with a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeProblem {
    /// S-01.
    #[error(
        "`parameters` needs two different weights hashes; {0}\nhint: name what really changed: input, prompt, skill, memory, tool, index, harness (S-01)"
    )]
    WeightsUnchanged(String),
    /// S-12.
    #[error(
        "the claim speaks of training, but the change is a {0} edit\nhint: a {0} edit changes what is read at inference; no parameter moves (S-12, S-13)"
    )]
    ClaimsTraining(ChangedThing),
    /// S-80.
    #[error(
        "benefit not attributable: {0} changed at once\nhint: change one at a time, or say that the benefit belongs to the bundle (S-80)"
    )]
    NotAttributable(String),
    /// S-01.
    #[error(
        "the fingerprints do not show a change of {0}\nhint: record before and after with --before NAME=HASH --after NAME=HASH (S-01)"
    )]
    NothingChanged(ChangedThing),
    /// A fingerprint that nobody knows.
    #[error("unknown fingerprint `{0}`\nhint: one of {1}")]
    UnknownFingerprint(String, String),
    /// S-11.
    #[error(
        "the changed artefact is not named\nhint: record its fingerprint after the change (S-11)"
    )]
    NoArtefact,
    /// S-78.
    #[error(
        "the artefact is not bound to its {0}\nhint: record them after the change; unbound it cannot be repeated (S-78)"
    )]
    Unbound(String),
    /// S-11.
    #[error("no acceptance method\nhint: say how it is accepted before you look at results (S-11)")]
    NoAcceptance,
    /// S-11, S-81.
    #[error("no rollback target\nhint: name the artefact to go back to (S-11)")]
    NoRollback,
}

impl ChangeProblem {
    /// The change cannot even be recorded as it stands.
    pub fn refuses(&self) -> bool {
        matches!(
            self,
            Self::WeightsUnchanged(_) | Self::ClaimsTraining(_) | Self::UnknownFingerprint(..)
        )
    }

    /// The change may stand in the ledger, but cannot be accepted yet (S-11).
    pub fn blocks_acceptance(&self) -> bool {
        !matches!(self, Self::NotAttributable(_))
    }
}

/// Words that claim a change of weights, in the languages of the users.
const TRAINING_WORDS: &[&str] = &[
    "trained",
    "training",
    "fine-tun",
    "finetun",
    "weights",
    "parameters updated",
    "reinforcement",
    "rlhf",
    "grpo",
    "self-train",
    "训练",
    "微调",
    "权重",
    "参数更新",
    "强化学习",
];

/// Returns all that is wrong with a change, refusals first.
pub fn check_change(change: &Change) -> Vec<ChangeProblem> {
    let mut out = Vec::new();
    out.extend(unknown_names(change));
    out.extend(weights(change));
    out.extend(training_claim(change));
    let layers = changed_layers(&change.before, &change.after);
    if !layers.contains(&change.thing) && change.thing != ChangedThing::Parameters {
        out.push(ChangeProblem::NothingChanged(change.thing));
    }
    out.extend(attribution(change).map(ChangeProblem::NotAttributable));
    out.extend(change.after.is_empty().then_some(ChangeProblem::NoArtefact));
    out.extend(unbound(change));
    out.extend(is_blank(&change.acceptance).then_some(ChangeProblem::NoAcceptance));
    out.extend(is_blank(&change.rollback).then_some(ChangeProblem::NoRollback));
    out
}

/// Names the layers that changed at once, where more than one did.
pub fn attribution(change: &Change) -> Option<String> {
    let mut layers = changed_layers(&change.before, &change.after);
    if !layers.contains(&change.thing) && !change.after.is_empty() {
        layers.push(change.thing);
    }
    let names: Vec<&str> = layers.iter().map(|l| l.word()).collect();
    (names.len() > 1).then(|| names.join(" and "))
}

/// S-01: same hash and "parameters" is refused; so are unknown hashes.
fn weights(change: &Change) -> Option<ChangeProblem> {
    if change.thing != ChangedThing::Parameters {
        return None;
    }
    let said = match (change.before.get("weights"), change.after.get("weights")) {
        (Some(b), Some(a)) if b != a => return None,
        (Some(b), Some(_)) => format!("both are {b}"),
        (None, _) => "the one before is not recorded".to_owned(),
        (_, None) => "the one after is not recorded".to_owned(),
    };
    Some(ChangeProblem::WeightsUnchanged(said))
}

/// A prompt, skill or memory edit must not call itself training.
fn training_claim(change: &Change) -> Option<ChangeProblem> {
    let weights_moved = match (change.before.get("weights"), change.after.get("weights")) {
        (Some(b), Some(a)) => b != a,
        (_, _) => false,
    };
    let claim = change.claim.to_lowercase();
    let says = TRAINING_WORDS.iter().any(|w| claim.contains(w))
        || has_word(&claim, "rl")
        || has_word(&claim, "sft");
    let negated = [
        "not train",
        "no train",
        "without train",
        "没有训练",
        "未训练",
        "weights unchanged",
        "权重未变",
    ]
    .iter()
    .any(|w| claim.contains(w));
    (change.thing != ChangedThing::Parameters && !weights_moved && says && !negated)
        .then_some(ChangeProblem::ClaimsTraining(change.thing))
}

/// A trained artefact names everything that it came out of.
fn unbound(change: &Change) -> Option<ChangeProblem> {
    const BOUND: [&str; 6] = [
        "weights",
        "tokenizer",
        "toolset",
        "data",
        "grader",
        "harness",
    ];
    let missing: Vec<&str> = BOUND
        .into_iter()
        .filter(|name| !change.after.contains_key(*name))
        .collect();
    (change.thing == ChangedThing::Parameters && !missing.is_empty())
        .then(|| ChangeProblem::Unbound(missing.join(", ")))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|w| w == word)
}

fn unknown_names(change: &Change) -> Vec<ChangeProblem> {
    let known: Vec<&str> = FINGERPRINTS.iter().map(|f| f.name).collect();
    let mut names: Vec<&String> = change.before.keys().chain(change.after.keys()).collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter(|n| !known.contains(&n.as_str()))
        .map(|n| ChangeProblem::UnknownFingerprint(n.clone(), known.join(", ")))
        .collect()
}

fn is_blank(text: &Option<String>) -> bool {
    text.as_deref().is_none_or(|t| t.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn prints(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    fn change(
        thing: ChangedThing,
        before: &[(&str, &str)],
        after: &[(&str, &str)],
        claim: &str,
    ) -> Change {
        Change {
            id: "c1".into(),
            thing,
            claim: claim.into(),
            before: prints(before),
            after: prints(after),
            acceptance: Some("recall of the valid version on 40 held-out tasks".into()),
            rollback: Some("idx-1".into()),
        }
    }

    #[test]
    fn s01_parameters_need_two_different_hashes() {
        let same = change(
            ChangedThing::Parameters,
            &[("weights", "a")],
            &[("weights", "a")],
            "SFT run 3",
        );
        let found = check_change(&same);
        assert!(matches!(found[0], ChangeProblem::WeightsUnchanged(_)) && found[0].refuses());
        let unknown = change(
            ChangedThing::Parameters,
            &[],
            &[("weights", "b")],
            "SFT run 3",
        );
        assert!(matches!(
            check_change(&unknown)[0],
            ChangeProblem::WeightsUnchanged(_)
        ));
        let real = change(
            ChangedThing::Parameters,
            &[("weights", "a")],
            &[("weights", "b")],
            "SFT run 3",
        );
        assert!(!check_change(&real).iter().any(ChangeProblem::refuses));
    }

    #[test]
    fn s78_a_trained_artefact_is_bound_to_what_it_came_out_of() {
        let bound = [
            ("tokenizer", "t"),
            ("toolset", "s"),
            ("data", "d"),
            ("grader", "g"),
            ("harness", "h"),
        ];
        let with = |weights: &'static str| {
            let mut all = bound.to_vec();
            all.push(("weights", weights));
            all
        };
        let whole = change(
            ChangedThing::Parameters,
            &with("a"),
            &with("b"),
            "SFT run 3",
        );
        assert_eq!(check_change(&whole), []);
        let bare = change(
            ChangedThing::Parameters,
            &[("weights", "a")],
            &[("weights", "b")],
            "SFT run 3",
        );
        let found = check_change(&bare);
        let missing = "tokenizer, toolset, data, grader, harness".to_owned();
        assert_eq!(found, [ChangeProblem::Unbound(missing)]);
        assert!(found[0].blocks_acceptance() && !found[0].refuses());
    }

    #[test]
    fn s12_a_prompt_edit_never_becomes_rl() {
        for claim in [
            "self-trained by reflection",
            "RL on the prompt",
            "反思后权重已更新",
        ] {
            let edit = change(
                ChangedThing::Prompt,
                &[("prompt", "1")],
                &[("prompt", "2")],
                claim,
            );
            assert_eq!(
                check_change(&edit),
                [ChangeProblem::ClaimsTraining(ChangedThing::Prompt)],
                "{claim}"
            );
        }
        let honest = change(
            ChangedThing::Prompt,
            &[("prompt", "1")],
            &[("prompt", "2")],
            "reads the date; not trained",
        );
        assert_eq!(check_change(&honest), []);
        let word = change(
            ChangedThing::Prompt,
            &[("prompt", "1")],
            &[("prompt", "2")],
            "clearer url rules",
        );
        assert_eq!(check_change(&word), []);
    }

    #[test]
    fn s80_two_layers_at_once_are_not_attributable() {
        let both = change(
            ChangedThing::Index,
            &[("index", "1"), ("prompt", "1")],
            &[("index", "2"), ("prompt", "2")],
            "x",
        );
        let found = check_change(&both);
        assert_eq!(
            found,
            [ChangeProblem::NotAttributable("index and prompt".into())]
        );
        assert!(!found[0].refuses());
    }

    #[test]
    fn s11_acceptance_needs_artefact_method_and_a_way_back() {
        let mut bare = change(ChangedThing::Index, &[], &[], "better");
        (bare.acceptance, bare.rollback) = (None, Some(" ".into()));
        let found = check_change(&bare);
        for needed in [
            ChangeProblem::NoArtefact,
            ChangeProblem::NoAcceptance,
            ChangeProblem::NoRollback,
        ] {
            assert!(
                found.contains(&needed) && needed.blocks_acceptance(),
                "{needed}"
            );
        }
        let named = change(
            ChangedThing::Index,
            &[("indx", "1")],
            &[("index", "2")],
            "x",
        );
        assert!(check_change(&named).iter().any(ChangeProblem::refuses));
    }

    #[test]
    fn runs_tell_their_own_fingerprints() {
        let mut a = crate::domain::Rollout::new("a", "atif", "f");
        a.index_version = Some("idx-1".into());
        let mut b = a.clone();
        b.index_version = Some("idx-2".into());
        let joined = super::super::fingerprints([&a, &b]);
        assert_eq!(
            joined.get("index").map(String::as_str),
            Some("idx-1 | idx-2")
        );
        assert_eq!(joined.len(), 1);
        // S-29: another stop rule in deployment is flagged.
        b.harness.stop_rule = Some("8 steps".into());
        let told = super::super::harness_differences(&a, &b);
        assert_eq!(told, ["stop rule: unknown / 8 steps"]);
    }
}
