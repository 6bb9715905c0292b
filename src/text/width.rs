//! Columns that text takes on a terminal, measured by grapheme.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Stands for what was cut off.
const ELLIPSIS: &str = "…";

/// Returns the columns that `text` takes. Control characters count nothing: make them visible first.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        text.len()
    } else {
        graphemes(text).map(|(_, columns)| columns).sum()
    }
}

/// Walks `text` grapheme by grapheme with the columns of each.
pub fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = (&str, usize)> {
    text.graphemes(true).map(|g| (g, columns(g)))
}

fn columns(grapheme: &str) -> usize {
    // No terminal gives a grapheme more than two cells, whatever it is composed of.
    UnicodeWidthStr::width(grapheme).min(2)
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| (0x20..0x7f).contains(&b))
}

/// Cuts `text` to at most `columns`, with an ellipsis where something was cut.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut out = head(graphemes(text), room).concat();
    out.push_str(ELLIPSIS);
    out
}

/// Cuts the start of `text` instead of its end: for paths and ids, whose ends tell them apart.
pub fn fit_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut kept = head(graphemes(text).rev(), room);
    kept.push(ELLIPSIS);
    kept.reverse();
    kept.concat()
}

/// Cuts the middle of `text`: for names that are told apart by their beginning or by their end.
pub fn fit_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let begin = head(graphemes(text), room.div_ceil(2));
    let mut end = head(graphemes(text).rev(), room / 2);
    end.reverse();
    format!("{}{ELLIPSIS}{}", begin.concat(), end.concat())
}

fn head<'a>(items: impl Iterator<Item = (&'a str, usize)>, room: usize) -> Vec<&'a str> {
    let mut used = 0;
    items
        .take_while(|(_, columns)| {
            used += columns;
            used <= room
        })
        .map(|(g, _)| g)
        .collect()
}

/// Cuts or fills `text` to exactly `columns`, text first.
pub fn pad(text: &str, columns: usize) -> String {
    let mut out = fit(text, columns);
    let missing = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// Cuts or fills `text` to exactly `columns`, text last: for numbers.
pub fn pad_left(text: &str, columns: usize) -> String {
    let cut = fit(text, columns);
    let missing = columns.saturating_sub(width(&cut));
    let mut out = " ".repeat(missing);
    out.push_str(&cut);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected columns: Unicode East Asian Width (UAX #11) counted by hand.
    #[test]
    fn a_name_keeps_both_its_ends() {
        assert_eq!(fit_middle("four-correct-citation", 11), "four-…ation");
        assert_eq!(fit_middle("旧政策的报销", 9), "旧政…报销");
        assert_eq!(fit_middle("short", 5), "short");
        assert_eq!(fit_middle("long", 0), "");
    }

    #[test]
    fn measures_by_grapheme() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("日本語", 6),
            ("旧政策 v1", 9),
            ("e\u{301}", 1),
            ("👩\u{200d}🚀", 2),
            ("─┃✗", 3),
        ] {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn cuts_without_splitting_a_wide_character() {
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(pad("日本語", 4), "日… ");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit_start("logs/retail-failed-29.json", 12), "…led-29.json");
        assert_eq!(pad_left("7", 3), "  7");
    }
}
