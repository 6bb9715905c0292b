//! Inks: what a piece of text means, and how a theme draws it.
//!
//! Only the sixteen ANSI names, so that the user's own palette decides; never a background but reverse video.
//! No meaning hangs on colour alone: whoever uses an ink also writes a glyph or a word.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use std::collections::BTreeMap;

macro_rules! inks {
    ($($variant:ident => $name:literal),+ $(,)?) => {
        /// What a piece of text means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Ink { $(
            #[allow(missing_docs)]
            $variant
        ),+ }

        impl Ink {
            /// All inks with their names in theme files.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $name)),+];
        }
    };
}

inks! {
    Text => "text", Dim => "dim", Strong => "strong", Title => "title", Accent => "accent",
    Pass => "pass", Fail => "fail", Unsure => "unsure",
    Model => "owner-model", Tool => "owner-tool", Runtime => "owner-runtime",
    System => "owner-system", User => "owner-user", Unknown => "owner-unknown",
    Key => "json-key", Str => "json-string", Number => "json-number",
    Heading => "heading", Code => "code", Quote => "quote",
    Match => "match", MatchHere => "match-here", Selected => "selected", SelectedDim => "selected-elsewhere",
    Secret => "secret", Added => "added", Removed => "removed", Masked => "masked",
    Border => "border", BorderHere => "border-here", Keycap => "keycap", Bar => "bar",
    Heat0 => "heat-sure", Heat1 => "heat-likely", Heat2 => "heat-unlikely", Heat3 => "heat-surprised",
    Warn => "warn", Error => "error",
}

/// Names of the built-in themes with their text.
const BUILT_IN: [(&str, &str); 4] = [
    ("default", include_str!("../../assets/themes/default.toml")),
    ("mono", include_str!("../../assets/themes/mono.toml")),
    (
        "high-contrast",
        include_str!("../../assets/themes/high-contrast.toml"),
    ),
    (
        "deuteranopia",
        include_str!("../../assets/themes/deuteranopia.toml"),
    ),
];

/// How every ink is drawn.
#[derive(Debug, Clone)]
pub struct Theme {
    /// Its name.
    pub name: String,
    styles: BTreeMap<Ink, Style>,
}

/// Why a theme cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No built-in theme has the name.
    #[error("no theme is called `{name}`; there are {known}")]
    NoSuch {
        /// As asked for.
        name: String,
        /// Names there are.
        known: String,
    },
    /// The file does not parse.
    #[error("theme `{name}`: {why}")]
    Broken {
        /// Which theme.
        name: String,
        /// What the parser says.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    fg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    dim: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    #[serde(default)]
    reverse: bool,
}

impl Theme {
    /// Names of the built-in themes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// Returns a built-in theme.
    pub fn named(name: &str) -> Result<Self, ThemeError> {
        let (_, text) =
            BUILT_IN
                .iter()
                .find(|(n, _)| *n == name)
                .ok_or_else(|| ThemeError::NoSuch {
                    name: name.to_owned(),
                    known: Self::names().collect::<Vec<_>>().join(", "),
                })?;
        Self::parse(name, text)
    }

    fn parse(name: &str, text: &str) -> Result<Self, ThemeError> {
        let broken = |why: String| ThemeError::Broken {
            name: name.to_owned(),
            why,
        };
        let entries: BTreeMap<String, Entry> =
            toml::from_str(text).map_err(|e| broken(e.to_string()))?;
        let mut styles = BTreeMap::new();
        for (word, entry) in entries {
            let ink = Ink::ALL.iter().find(|(_, n)| *n == word);
            let (ink, _) = ink.ok_or_else(|| broken(format!("no ink is called `{word}`")))?;
            styles.insert(*ink, style(&entry).map_err(broken)?);
        }
        Ok(Self {
            name: name.to_owned(),
            styles,
        })
    }

    /// Returns how `ink` is drawn.
    pub(crate) fn of(&self, ink: Ink) -> Style {
        self.styles.get(&ink).copied().unwrap_or_default()
    }
}

fn style(entry: &Entry) -> Result<Style, String> {
    let mut style = Style::default();
    if let Some(name) = &entry.fg {
        style = style.fg(colour(name)?);
    }
    let flags = [
        (entry.bold, Modifier::BOLD),
        (entry.dim, Modifier::DIM),
        (entry.italic, Modifier::ITALIC),
        (entry.underline, Modifier::UNDERLINED),
        (entry.reverse, Modifier::REVERSED),
    ];
    for (_, modifier) in flags.into_iter().filter(|(on, _)| *on) {
        style = style.add_modifier(modifier);
    }
    Ok(style)
}

/// White, black and yellow are left out: on one half of all terminals they cannot be read. So is gray, which is the
/// background of some palettes; `dim` does its work.
fn colour(name: &str) -> Result<Color, String> {
    Ok(match name {
        "red" => Color::Red,
        "green" => Color::Green,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "light-red" => Color::LightRed,
        "light-green" => Color::LightGreen,
        "light-blue" => Color::LightBlue,
        "light-magenta" => Color::LightMagenta,
        "light-cyan" => Color::LightCyan,
        _ => return Err(format!("`{name}` is not a colour that can be used here")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_theme_parses_and_draws_a_selection_without_colour() {
        for name in Theme::names() {
            let theme = Theme::named(name).unwrap();
            let selected = theme.of(Ink::Selected);
            assert!(selected.add_modifier.contains(Modifier::REVERSED), "{name}");
        }
    }

    /// NO_COLOR: a colour change would end reverse video, so the monochrome theme has none.
    #[test]
    fn mono_has_no_colour() {
        let theme = Theme::named("mono").unwrap();
        assert!(Ink::ALL.iter().all(|(ink, _)| theme.of(*ink).fg.is_none()));
    }

    #[test]
    fn an_unknown_theme_names_the_known_ones() {
        let error = Theme::named("dark").unwrap_err().to_string();
        assert!(error.contains("deuteranopia"), "{error}");
    }
}
