//! The codebook: layers with definitions and examples, sub-causes with their letters, the four-question guide.
//!
//! Data, not rules: it is read from `assets/taxonomy.toml` or a workspace's own file, and carries a version.

use crate::domain::Layer;
use serde::Deserialize;

const EMBEDDED: &str = include_str!("../../assets/taxonomy.toml");

/// A codebook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taxonomy {
    /// Labels record the version they were made under.
    pub version: String,
    /// The guide for newcomers, in order (S-04).
    pub questions: Vec<Question>,
    /// What must be ticked before `model` counts as proven.
    pub checks: Vec<Check>,
    /// Layers and outcomes, in the order of their keys.
    pub layers: Vec<LayerEntry>,
}

/// One question of the guide.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The question.
    pub ask: String,
    /// The layer that a "no" names.
    #[serde(default)]
    pub no: Option<Layer>,
    /// The layer that a "yes" names.
    #[serde(default)]
    pub yes: Option<Layer>,
}

/// One tick of the evidence checklist.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Field of the checklist.
    pub name: String,
    /// Letter that ticks it.
    pub key: char,
    /// What is claimed.
    pub ask: String,
}

/// A layer or outcome.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerEntry {
    /// Which one.
    pub layer: Layer,
    /// Digit that labels it.
    pub key: char,
    /// What it means.
    pub definition: String,
    /// The policy assistant's example.
    pub example: String,
    /// Who usually mends it.
    pub owner: String,
    /// What would prove a fix.
    pub proof: String,
    /// Sub-causes.
    pub causes: Vec<Cause>,
}

/// A sub-cause (S-05).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Letter that sets it while the strip is open.
    pub key: char,
    /// Name in the verdict.
    pub name: String,
    /// What it means.
    pub definition: String,
}

/// What is wrong with a codebook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaxonomyError {
    /// It is no TOML of this shape.
    #[error("codebook: {0}\nhint: compare it with assets/taxonomy.toml")]
    Unreadable(String),
    /// A layer is missing or stands twice.
    #[error("codebook: layer `{0}` stands {1} times\nhint: write each layer exactly once")]
    LayerCount(Layer, usize),
    /// Two entries share a key.
    #[error("codebook: key `{0}` is used by `{1}` and `{2}`\nhint: give one of them another key")]
    KeyClash(char, String, String),
}

impl Taxonomy {
    /// Returns the codebook that comes with the program.
    pub fn embedded() -> Self {
        // The embedded file is checked by a test, so the empty codebook is never seen.
        Self::from_toml(EMBEDDED).unwrap_or_else(|_| Self {
            version: String::new(),
            questions: Vec::new(),
            checks: Vec::new(),
            layers: Vec::new(),
        })
    }

    /// Reads a codebook and checks that each layer stands once and no two keys clash.
    pub fn from_toml(text: &str) -> Result<Self, TaxonomyError> {
        let book: Self =
            toml::from_str(text).map_err(|e| TaxonomyError::Unreadable(e.to_string()))?;
        for layer in Layer::ALL {
            let count = book.layers.iter().filter(|l| l.layer == *layer).count();
            if count != 1 {
                return Err(TaxonomyError::LayerCount(*layer, count));
            }
        }
        clash(book.layers.iter().map(|l| (l.key, l.layer.word())))?;
        for layer in &book.layers {
            clash(layer.causes.iter().map(|c| (c.key, c.name.as_str())))?;
        }
        Ok(book)
    }

    /// Returns the entry of a layer.
    pub fn entry(&self, layer: Layer) -> Option<&LayerEntry> {
        self.layers.iter().find(|l| l.layer == layer)
    }

    /// Returns the layer that a digit labels.
    pub fn by_key(&self, key: char) -> Option<&LayerEntry> {
        self.layers.iter().find(|l| l.key == key)
    }

    /// Returns a sub-cause of a layer by its name.
    pub fn cause(&self, layer: Layer, name: &str) -> Option<&Cause> {
        self.entry(layer)?.causes.iter().find(|c| c.name == name)
    }
}

fn clash<'a>(keys: impl Iterator<Item = (char, &'a str)>) -> Result<(), TaxonomyError> {
    let mut seen: Vec<(char, &str)> = Vec::new();
    for (key, name) in keys {
        if let Some((_, other)) = seen.iter().find(|(k, _)| *k == key) {
            let (first, second) = ((*other).to_owned(), name.to_owned());
            return Err(TaxonomyError::KeyClash(key, first, second));
        }
        seen.push((key, name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s03_every_layer_has_definition_example_and_the_designs_key() {
        let book = Taxonomy::from_toml(EMBEDDED).unwrap();
        assert_eq!(book, Taxonomy::embedded());
        // DESIGN §5: 1 index 2 context 3 tool 4 model 5 environment 6 grader 0 undetermined.
        let keys = "1234560";
        for (key, layer) in keys.chars().zip(Layer::ALL) {
            let entry = book.by_key(key).unwrap();
            assert_eq!(entry.layer, *layer);
            assert!(
                !entry.definition.is_empty() && !entry.proof.is_empty() && !entry.causes.is_empty()
            );
        }
        for layer in [Layer::Index, Layer::Context, Layer::Tool, Layer::Model] {
            let example = &book.entry(layer).unwrap().example;
            assert!(
                example.contains("old version as valid"),
                "{layer}: {example}"
            );
        }
    }

    #[test]
    fn s05_the_four_sub_causes_of_the_chapter_are_there() {
        let book = Taxonomy::embedded();
        for (layer, name) in [
            (Layer::Index, "index-not-refreshed"),
            (Layer::Context, "date-or-version-absent"),
            (Layer::Tool, "vague-text"),
            (Layer::Model, "conditions-not-compared"),
        ] {
            assert!(book.cause(layer, name).is_some(), "{name}");
        }
    }

    #[test]
    fn s04_four_questions_and_four_ticks() {
        let book = Taxonomy::embedded();
        let named: Vec<_> = book.questions.iter().map(|q| q.no.or(q.yes)).collect();
        let layers = [Layer::Index, Layer::Context, Layer::Tool, Layer::Model];
        assert_eq!(named, layers.map(Some));
        assert_eq!(book.checks.len(), 4);
    }

    #[test]
    fn clashes_and_gaps_are_named() {
        let twice = EMBEDDED.replace("key = \"2\"\n", "key = \"1\"\n");
        let error = Taxonomy::from_toml(&twice).unwrap_err().to_string();
        assert!(
            error.contains("index") && error.contains("context"),
            "{error}"
        );
        let gap = EMBEDDED.replace("layer = \"grader\"", "layer = \"index\"");
        assert!(matches!(
            Taxonomy::from_toml(&gap),
            Err(TaxonomyError::LayerCount(..))
        ));
    }
}
