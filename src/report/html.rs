//! Text on its way into HTML.

use crate::text;
use std::fmt::{self, Display, Formatter, Write};

/// A text that stays text: no markup, no control characters, no marks that turn the reading direction.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in text::visible(self.0).chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A table with a head line. Numbers stand at the right.
pub(super) fn table(
    out: &mut String,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> fmt::Result {
    out.push_str("<div class=\"wide\"><table><tr>");
    for head in heads {
        write!(out, "<th>{}</th>", Escaped(head))?;
    }
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let is_number = cell
                .chars()
                .all(|c| c.is_ascii_digit() || ", .–−%".contains(c))
                && cell.chars().any(|c| c.is_ascii_digit());
            let class = if is_number { " class=\"n\"" } else { "" };
            write!(out, "<td{class}>{}</td>", Escaped(&cell))?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    Ok(())
}
