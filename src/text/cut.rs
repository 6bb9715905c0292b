//! Cutting long text where it does no harm.

use super::fold::is_cjk;
use super::visible::visible;
use super::width::graphemes;

/// Returns at most `max_bytes` of `text`, ending between two characters, and whether something was left off.
pub fn capped(text: &str, max_bytes: usize) -> (&str, bool) {
    if text.len() <= max_bytes {
        return (text, false);
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text.get(..end).unwrap_or_default(), true)
}

/// Returns the start of `text` as one harmless line of at most `columns`: for rows of a list.
pub fn one_line(text: &str, columns: usize) -> String {
    // Four bytes a column, and as much again for white space that folds away.
    let (head, cut) = capped(text.trim_start(), columns.saturating_mul(8).max(64));
    let shown = visible(head);
    let mut out = String::with_capacity(columns);
    let mut used = 0;
    let mut words = shown.split_whitespace().peekable();
    while let Some(word) = words.next() {
        for (grapheme, wide) in graphemes(word) {
            if used + wide > columns {
                return ellipsis(out, used, columns);
            }
            used += wide;
            out.push_str(grapheme);
        }
        let Some(next) = words.peek() else { break };
        if used + 2 > columns {
            return ellipsis(out, used, columns);
        }
        let glued =
            word.chars().last().is_some_and(is_cjk) && next.chars().next().is_some_and(is_cjk);
        if !glued {
            used += 1;
            out.push(' ');
        }
    }
    if cut {
        ellipsis(out, used, columns)
    } else {
        out
    }
}

fn ellipsis(mut out: String, used: usize, columns: usize) -> String {
    let mut used = used;
    while used + 1 > columns {
        let Some((last, wide)) = graphemes(&out).next_back() else {
            return out;
        };
        let keep = out.len() - last.len();
        out.truncate(keep);
        used -= wide;
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(capped("日本", 4), ("日", true));
        assert_eq!(capped("日本", 6), ("日本", false));
    }

    #[test]
    fn makes_one_harmless_line() {
        assert_eq!(one_line("  a\n\n b\tc ", 10), "a b c");
        assert_eq!(one_line("one two three", 8), "one two…");
        assert_eq!(one_line("旧政策仍然有效", 7), "旧政策…");
        assert_eq!(one_line("\u{1b}]0;x", 10), "␛]0;x");
        assert_eq!(one_line("", 10), "");
    }
}
