//! Makes hostile text harmless: what a terminal would obey becomes something that a person can see.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Tab stops stand this far apart.
pub const TAB_COLUMNS: usize = 4;

/// Returns `text` with tabs expanded, control and invisible characters shown, and letters composed (NFC).
///
/// Line ends stay. Nothing that is returned can move a cursor, change a colour or turn the writing direction.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|b| b == b'\n' || (0x20..0x7f).contains(&b))
    {
        return Cow::Borrowed(text);
    }
    let composed: Cow<'_, str> = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    };
    if composed.chars().all(|c| c == '\n' || !needs_showing(c)) {
        return composed;
    }
    Cow::Owned(show(&composed))
}

/// Returns `text` as [`visible`] does, its line ends shown too: for what stands on one line whatever it holds.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.replace('\n', "\u{240a}")),
        shown => shown,
    }
}

fn show(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut column = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                out.push('\n');
                column = 0;
                continue;
            }
            '\r' if chars.peek() == Some(&'\n') => continue,
            '\t' => {
                let fill = TAB_COLUMNS - column % TAB_COLUMNS;
                out.extend(std::iter::repeat_n(' ', fill));
                column += fill;
                continue;
            }
            _ if needs_showing(c) => push_shown(&mut out, c),
            _ => out.push(c),
        }
        column += 1;
    }
    out
}

fn push_shown(out: &mut String, c: char) {
    let code = u32::from(c);
    match code {
        0..0x20 => out.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => out.push('␡'),
        _ => {
            out.push('‹');
            match name(c) {
                Some(name) => out.push_str(name),
                None => out.push_str(&format!("U+{code:04X}")),
            }
            out.push('›');
        }
    }
}

fn needs_showing(c: char) -> bool {
    matches!(u32::from(c),
        0..0x20 | 0x7f..0xa0 | 0xad | 0x61c | 0x180e | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e
        | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe0fff | 0xf0000..=0x10_ffff)
}

fn name(c: char) -> Option<&'static str> {
    let name = match c {
        '\u{ad}' => "SHY",
        '\u{61c}' => "ALM",
        '\u{200b}' => "ZWSP",
        '\u{200e}' => "LRM",
        '\u{200f}' => "RLM",
        '\u{2028}' => "LS",
        '\u{2029}' => "PS",
        '\u{202a}' => "LRE",
        '\u{202b}' => "RLE",
        '\u{202c}' => "PDF",
        '\u{202d}' => "LRO",
        '\u{202e}' => "RLO",
        '\u{2060}' => "WJ",
        '\u{2066}' => "LRI",
        '\u{2067}' => "RLI",
        '\u{2068}' => "FSI",
        '\u{2069}' => "PDI",
        '\u{feff}' => "BOM",
        _ => return None,
    };
    Some(name)
}

/// Takes well-formed colour codes (`ESC [ … m`) out; every other escape stays, to be shown by [`visible`].
pub fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1b}[") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let tail = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';' || c == ':');
        match tail.strip_prefix('m') {
            Some(clean) => rest = clean,
            None => {
                out.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shows_what_a_terminal_would_obey() {
        for (text, expected) in [
            ("plain\nline", "plain\nline"),
            ("a\tb", "a   b"),
            ("\u{1b}[2Jgone", "␛[2Jgone"),
            ("bell\u{7}", "bell␇"),
            ("\u{9b}31m", "‹U+009B›31m"),
            ("\u{202e}txt.exe", "‹RLO›txt.exe"),
            ("e\u{301}", "é"),
            ("line\r\nend", "line\nend"),
            ("over\rwrite", "over␍write"),
            ("\u{e0041}", "‹U+E0041›"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_shows_its_line_ends() {
        assert_eq!(visible_line("a\nb\r\nc\rd"), "a␊b␊c␍d");
        assert_eq!(visible_line("plain"), "plain");
    }

    #[test]
    fn takes_only_colours_out() {
        assert_eq!(without_colours("\u{1b}[1;31mred\u{1b}[0m"), "red");
        assert_eq!(without_colours("\u{1b}[2Jx"), "\u{1b}[2Jx");
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text in "\\PC{0,20}[\u{0}-\u{9f}\u{202a}-\u{202e}]{0,20}") {
            let shown = visible(&text);
            prop_assert!(shown.chars().all(|c| c == '\n' || !needs_showing(c)));
        }
    }
}
