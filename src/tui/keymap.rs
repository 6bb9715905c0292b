//! The keymap: which keys do what where, read from TOML and checked against the table of actions.

use super::action::{ACTIONS, Action};
use super::key::{Key, show};
use super::place::Place;
use crate::text::nearest;
use std::collections::BTreeMap;

const DEFAULT: &str = include_str!("../../assets/keys.toml");

/// A user's own keys: action name → sequences.
pub type KeyChanges = BTreeMap<String, Vec<String>>;

/// Why keys cannot be used. Every message names both sides of a clash.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// No action has the name.
    #[error("keys: no action is called `{name}`{}", hint(.suggestion.as_deref()))]
    NoSuchAction {
        /// As written.
        name: String,
        /// The nearest one.
        suggestion: Option<String>,
    },
    /// The key does not exist.
    #[error(
        "keys: `{key}` of `{action}` is not a key; write one like \"j\", \"ctrl-d\", \"g g\", \"space a\", \"f2\""
    )]
    NoSuchKey {
        /// As written.
        key: String,
        /// Whose.
        action: String,
    },
    /// One key would do two things in one place.
    #[error(
        "keys: `{key}` is both `{first}` and `{second}` in one place; give one of them another key"
    )]
    Clash {
        /// The key.
        key: String,
        /// One action.
        first: String,
        /// The other.
        second: String,
    },
    /// A key would have to be both done and waited after.
    #[error(
        "keys: `{key}` of `{first}` is the beginning of `{longer}` of `{second}` in one place; change one of them"
    )]
    Prefix {
        /// The short sequence.
        key: String,
        /// Whose.
        first: String,
        /// The long sequence.
        longer: String,
        /// Whose.
        second: String,
    },
    /// Our own or the user's file does not parse.
    #[error("keys: {0}")]
    Broken(String),
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |s| format!("; did you mean `{s}`?"))
}

/// What keys pressed so far mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// They are complete.
    Does(Action),
    /// More must come.
    Begins,
    /// Nothing.
    Nothing,
}

/// Which keys do what where.
#[derive(Debug, Clone)]
pub(crate) struct Keymap {
    bindings: Vec<(Vec<Key>, Action)>,
}

impl Keymap {
    /// Returns the default keys with a user's changes, or what is wrong with them.
    pub(crate) fn with(changes: &KeyChanges) -> Result<Self, KeymapError> {
        let mut table: KeyChanges =
            toml::from_str(DEFAULT).map_err(|e| KeymapError::Broken(e.to_string()))?;
        for (name, keys) in changes {
            if Action::from_name(name).is_none() {
                let suggestion = nearest(name, ACTIONS.iter().map(|i| i.name)).map(str::to_owned);
                let name = name.clone();
                return Err(KeymapError::NoSuchAction { name, suggestion });
            }
            table.insert(name.clone(), keys.clone());
        }
        let bindings = read(&table)?;
        check(&bindings)?;
        Ok(Self { bindings })
    }

    /// Returns what `keys` mean at `place`.
    pub(crate) fn meaning(&self, place: Place, keys: &[Key]) -> Meaning {
        let mut begins = false;
        for (bound, action) in self.at(place) {
            if bound == keys {
                return Meaning::Does(action);
            }
            begins |= bound.starts_with(keys);
        }
        if begins {
            Meaning::Begins
        } else {
            Meaning::Nothing
        }
    }

    /// Returns what can follow `keys` at `place`: the rest of the sequence and what it does.
    pub(crate) fn following(&self, place: Place, keys: &[Key]) -> Vec<(String, Action)> {
        self.at(place)
            .filter_map(|(bound, action)| {
                let rest = bound.strip_prefix(keys).filter(|rest| !rest.is_empty())?;
                Some((show(rest), action))
            })
            .collect()
    }

    /// Returns the first key of `action`, as shown.
    pub(crate) fn first_key(&self, action: Action) -> Option<String> {
        self.bindings
            .iter()
            .find(|(_, a)| *a == action)
            .map(|(keys, _)| show(keys))
    }

    /// Returns all keys of `action`, as shown.
    pub(crate) fn keys(&self, action: Action) -> String {
        let all: Vec<String> = self
            .bindings
            .iter()
            .filter(|(_, a)| *a == action)
            .map(|(keys, _)| show(keys))
            .collect();
        all.join(", ")
    }

    fn at(&self, place: Place) -> impl Iterator<Item = (&[Key], Action)> {
        self.bindings
            .iter()
            .filter(move |(_, action)| action.info().places.meets(place.set()))
            .map(|(keys, action)| (keys.as_slice(), *action))
    }
}

fn read(table: &KeyChanges) -> Result<Vec<(Vec<Key>, Action)>, KeymapError> {
    let mut bindings = Vec::new();
    // In the order of the action table, so that pop-ups and help do not depend on the alphabet.
    for info in ACTIONS {
        for text in table.get(info.name).into_iter().flatten() {
            let keys = Key::parse_sequence(text).ok_or_else(|| KeymapError::NoSuchKey {
                key: text.clone(),
                action: info.name.to_owned(),
            })?;
            bindings.push((keys, info.action));
        }
    }
    match table.keys().find(|name| Action::from_name(name).is_none()) {
        Some(name) => Err(KeymapError::NoSuchAction {
            name: name.clone(),
            suggestion: None,
        }),
        None => Ok(bindings),
    }
}

fn check(bindings: &[(Vec<Key>, Action)]) -> Result<(), KeymapError> {
    for (i, (keys, action)) in bindings.iter().enumerate() {
        for (other_keys, other) in bindings.iter().skip(i + 1) {
            if action == other || !action.info().places.meets(other.info().places) {
                continue;
            }
            clash((keys, *action), (other_keys, *other))?;
        }
    }
    Ok(())
}

fn clash(a: (&[Key], Action), b: (&[Key], Action)) -> Result<(), KeymapError> {
    let name = |action: Action| action.info().name.to_owned();
    if a.0 == b.0 {
        return Err(KeymapError::Clash {
            key: show(a.0),
            first: name(a.1),
            second: name(b.1),
        });
    }
    let (short, long) = if a.0.len() < b.0.len() {
        (a, b)
    } else {
        (b, a)
    };
    if long.0.starts_with(short.0) {
        return Err(KeymapError::Prefix {
            key: show(short.0),
            first: name(short.1),
            longer: show(long.0),
            second: name(long.1),
        });
    }
    Ok(())
}

/// Returns the key table as Markdown, for the README.
pub fn key_table() -> Result<String, KeymapError> {
    let keymap = Keymap::with(&KeyChanges::new())?;
    let mut out = String::from("| keys | action | does |\n|---|---|---|\n");
    for info in ACTIONS {
        let keys = keymap.keys(info.action).replace('|', "\\|");
        out.push_str(&format!("| `{keys}` | `{}` | {} |\n", info.name, info.doc));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, keys: &[&str]) -> Result<Keymap, KeymapError> {
        let keys = keys.iter().map(|k| (*k).to_owned()).collect();
        Keymap::with(&KeyChanges::from([(name.to_owned(), keys)]))
    }

    fn meaning(place: Place, keys: &str) -> Meaning {
        let keymap = Keymap::with(&KeyChanges::new()).unwrap();
        keymap.meaning(place, &Key::parse_sequence(keys).unwrap())
    }

    #[test]
    fn every_action_has_a_default_key() {
        let keymap = Keymap::with(&KeyChanges::new()).unwrap();
        for info in ACTIONS {
            assert!(keymap.first_key(info.action).is_some(), "{}", info.name);
        }
    }

    #[test]
    fn a_key_means_different_things_in_different_places() {
        assert_eq!(meaning(Place::Run, "1"), Meaning::Does(Action::LabelIndex));
        assert_eq!(meaning(Place::Pair, "1"), Meaning::Does(Action::PreferLeft));
        assert_eq!(meaning(Place::Board, "1"), Meaning::Nothing);
        assert_eq!(meaning(Place::Board, "g"), Meaning::Begins);
        assert_eq!(meaning(Place::Board, "g g"), Meaning::Does(Action::First));
    }

    #[test]
    fn errors_name_both_sides() {
        let text = |result: Result<Keymap, KeymapError>| result.unwrap_err().to_string();
        let clash = text(with("filter", &["x"]));
        assert!(
            clash.contains("`filter`") && clash.contains("`mark`"),
            "{clash}"
        );
        let prefix = text(with("filter", &["g"]));
        assert!(
            prefix.contains("`filter`") && prefix.contains("`first`"),
            "{prefix}"
        );
        assert!(text(with("fliter", &["x"])).contains("did you mean `filter`?"));
        assert!(text(with("filter", &["hyper-x"])).contains("`hyper-x`"));
        assert!(with("filter", &[]).is_ok());
    }
}
