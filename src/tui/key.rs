//! Keys: one form for what a terminal sends, how a file names it and how the screen shows it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// One key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Which key.
    pub(crate) code: KeyCode,
    /// With Ctrl.
    pub(crate) ctrl: bool,
    /// With Alt: bound to nothing, so that it never counts as the plain key.
    pub(crate) alt: bool,
}

/// Keys that have a name, with the sign that the screen shows.
const NAMED: &[(&str, KeyCode, &str)] = &[
    ("enter", KeyCode::Enter, "⏎"),
    ("esc", KeyCode::Esc, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("shift-tab", KeyCode::BackTab, "⇧Tab"),
    ("backspace", KeyCode::Backspace, "⌫"),
    ("delete", KeyCode::Delete, "Del"),
    ("space", KeyCode::Char(' '), "Space"),
    ("up", KeyCode::Up, "↑"),
    ("down", KeyCode::Down, "↓"),
    ("left", KeyCode::Left, "←"),
    ("right", KeyCode::Right, "→"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("pageup", KeyCode::PageUp, "PgUp"),
    ("pagedown", KeyCode::PageDown, "PgDn"),
];

impl Key {
    /// A character without modifiers.
    pub(crate) const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A key without modifiers.
    pub(crate) const fn plain(code: KeyCode) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
        }
    }

    /// Reads a key as files write it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some((_, code, _)) = NAMED.iter().find(|(name, _, _)| *name == text) {
            return Some(Self::plain(*code));
        }
        if let Some(rest) = text.strip_prefix("ctrl-") {
            return Self::parse(rest)
                .filter(|k| !k.ctrl)
                .map(|k| Self { ctrl: true, ..k });
        }
        if let Some(n) = text.strip_prefix('f').and_then(|n| n.parse::<u8>().ok()) {
            return (1..=12).contains(&n).then(|| Self::plain(KeyCode::F(n)));
        }
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() => Some(Self::char(c)),
            _ => None,
        }
    }

    /// Reads a sequence: keys apart by spaces.
    pub(crate) fn parse_sequence(text: &str) -> Option<Vec<Self>> {
        let keys: Option<Vec<Self>> = text.split_whitespace().map(Self::parse).collect();
        keys.filter(|keys| !keys.is_empty())
    }

    /// The plain character, where it is one.
    pub(crate) fn as_char(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }

    /// Back to crossterm's form, for the text editors.
    pub(crate) fn to_event(self) -> KeyEvent {
        let mut modifiers = KeyModifiers::NONE;
        modifiers.set(KeyModifiers::CONTROL, self.ctrl);
        modifiers.set(KeyModifiers::ALT, self.alt);
        KeyEvent::new(self.code, modifiers)
    }
}

impl From<KeyEvent> for Key {
    /// Shift is part of the character; Ctrl makes no difference between cases.
    fn from(event: KeyEvent) -> Self {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let code = match event.code {
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            code => code,
        };
        Self {
            code,
            ctrl,
            alt: event.modifiers.contains(KeyModifiers::ALT),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("Ctrl-")?;
        }
        if let Some((_, _, sign)) = NAMED.iter().find(|(_, code, _)| *code == self.code) {
            return f.write_str(sign);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other}"),
        }
    }
}

/// Shows a sequence: `gg`, `Space a`.
pub(crate) fn show(keys: &[Key]) -> String {
    let mut out = String::new();
    let mut long = false;
    for key in keys {
        let sign = key.to_string();
        let is_long = sign.chars().count() > 1;
        if !out.is_empty() && (long || is_long) {
            out.push(' ');
        }
        out.push_str(&sign);
        long = is_long;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows() {
        for (text, shown) in [
            ("g g", "gg"),
            ("space a", "Space a"),
            ("ctrl-d", "Ctrl-d"),
            ("f1", "F1"),
            ("f", "f"),
            ("\"", "\""),
            ("enter", "⏎"),
        ] {
            assert_eq!(show(&Key::parse_sequence(text).unwrap()), shown);
        }
        assert!(Key::parse_sequence("ctrl-").is_none());
        assert!(Key::parse_sequence("hyper-x").is_none());
        assert!(Key::parse_sequence("").is_none());
    }
}
