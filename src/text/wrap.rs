//! Breaks text into lines that fit, without copying it: a line is where it starts.

use super::fold::is_cjk;
use super::width::graphemes;

/// Narrower than this nothing can be read; a narrower request is widened.
pub const MIN_COLUMNS: usize = 2;

/// How lines break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// At spaces and between CJK characters, else anywhere.
    Words,
    /// Only where the text itself has a line end; the view scrolls sideways.
    Off,
}

/// Returns the byte offset at which each screen line of `text` starts.
///
/// There is always at least one line. A line runs to the next start; the line end, where there is one, is its last byte.
pub fn wrap(text: &str, columns: usize, mode: Wrap) -> Vec<u32> {
    let columns = columns.max(MIN_COLUMNS);
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        starts.push(offset(at));
        if mode == Wrap::Words {
            break_line(line.trim_end_matches('\n'), at, columns, &mut starts);
        }
        at += line.len();
    }
    if text.is_empty() || text.ends_with('\n') {
        starts.push(offset(at));
    }
    starts
}

/// Offsets are `u32`: a display text is capped far below 4 GiB (`jobs` loads at most `MAX_BODY_BYTES`).
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn break_line(line: &str, base: usize, columns: usize, starts: &mut Vec<u32>) {
    if line.len() <= columns {
        // Bytes are never fewer than columns for what we draw, so it fits.
        return;
    }
    if line.bytes().all(|b| b.is_ascii() && b >= 0x20) {
        break_ascii(line.as_bytes(), base, columns, starts);
    } else {
        break_wide(line, base, columns, starts);
    }
}

fn break_ascii(line: &[u8], base: usize, columns: usize, starts: &mut Vec<u32>) {
    let mut from = 0;
    while line.len() - from > columns {
        let hard = from + columns;
        let window = line.get(from..=hard).unwrap_or_default();
        let next = match window.iter().rposition(|b| *b == b' ') {
            // A space in the last column still belongs to this line, and one in the first column helps nobody.
            Some(space) if space > 0 => from + space + 1,
            Some(_) | None => hard,
        };
        let next = if next > hard + 1 { hard } else { next };
        starts.push(offset(base + next));
        from = next;
    }
}

fn break_wide(line: &str, base: usize, columns: usize, starts: &mut Vec<u32>) {
    let mut used = 0;
    let mut at = 0;
    let mut soft: Option<(usize, usize)> = None; // where a break is nice, and the columns before it
    let mut before_wide = false;
    for (grapheme, wide) in graphemes(line) {
        let first = grapheme.chars().next().unwrap_or(' ');
        let breakable = before_wide && is_cjk(first) && !is_closing(first);
        if breakable {
            soft = Some((at, used));
        }
        if used + wide > columns && grapheme != " " {
            let (next, spent) = soft.take().unwrap_or((at, used));
            starts.push(offset(base + next));
            used -= spent;
            if used + wide > columns && next < at {
                // Better a mark that begins a line than one that sticks out.
                starts.push(offset(base + at));
                used = 0;
            }
        }
        used += wide;
        at += grapheme.len();
        before_wide = is_cjk(first) && !is_opening(first);
        if grapheme == " " || (before_wide && !breakable) {
            soft = Some((at, used));
        }
    }
}

/// May not begin a line in Chinese and Japanese typesetting.
fn is_closing(c: char) -> bool {
    "。，、．：；！？）」』】》〉〕｝”’…—".contains(c)
}

/// May not end a line.
fn is_opening(c: char) -> bool {
    "（「『【《〈〔｛“‘".contains(c)
}

#[cfg(test)]
mod tests {
    use super::super::width::width;
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        let starts = wrap(text, columns, Wrap::Words);
        let ends = starts.iter().skip(1).map(|s| *s as usize);
        starts
            .iter()
            .zip(ends.chain([text.len()]))
            .map(|(s, e)| text.get(*s as usize..e).unwrap().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn breaks_at_words_and_between_wide_characters() {
        let check = |text: &str, columns, expected: &[&str]| {
            assert_eq!(lines(text, columns), expected, "{text} at {columns}");
        };
        check("", 10, &[""]);
        check("one two three", 8, &["one two", "three"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("a\nb\n", 10, &["a", "b", ""]);
        check("报销政策已更新", 6, &["报销政", "策已更", "新"]);
        // A full stop never begins a line: the character before it comes along.
        check("报销政。新", 6, &["报销", "政。新"]);
        check("see 政策 now", 6, &["see 政", "策 now"]);
        // No room to bring the character before it along.
        check(" a，", 2, &["", "a", "，"]);
    }

    #[test]
    fn without_wrapping_only_line_ends_count() {
        assert_eq!(wrap("aaaaaaaaaa\nb", 4, Wrap::Off), vec![0, 11]);
    }

    proptest! {
        #[test]
        fn loses_nothing_and_fits(text in "[a-z 报销政策。，é\n]{0,80}", columns in 2usize..20) {
            let starts = wrap(&text, columns, Wrap::Words);
            prop_assert_eq!(starts[0], 0);
            prop_assert!(starts.windows(2).all(|w| w[0] < w[1] || w[1] as usize == text.len()));
            for line in lines(&text, columns) {
                prop_assert!(width(&line) <= columns, "{:?} is wider than {}", line, columns);
            }
        }
    }
}
