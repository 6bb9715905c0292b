//! Days as policies and logs write them.

use crate::text::Plain;
use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Reads `2025-07-01`, with or without a time behind it.
pub(super) fn day(text: &str) -> Option<Date> {
    text.trim().get(..10)?.parse().ok()
}

/// All ways in which people write a day, in plain form. Ambiguous ones (03/04/2025) are left out.
pub(super) fn written(on: Date) -> Vec<Plain> {
    let (y, m, d) = (on.year(), on.month(), on.day());
    let index = usize::try_from(m - 1).unwrap_or(0);
    let month = MONTHS.get(index).copied().unwrap_or("");
    let short: String = month.chars().take(3).collect();
    let mut out = vec![format!("{y}{m:02}{d:02}")];
    for mark in ["-", "/", "."] {
        out.push(format!("{y}{mark}{m:02}{mark}{d:02}"));
        out.push(format!("{y}{mark}{m}{mark}{d}"));
    }
    out.push(format!("{y}年{m:02}月{d:02}日"));
    out.push(format!("{y}年{m}月{d}日"));
    for name in [month, &short, &format!("{short}.")] {
        for number in [format!("{d}"), format!("{d:02}"), ordinal(d)] {
            out.push(format!("{name} {number}, {y}"));
            out.push(format!("{name} {number} {y}"));
            out.push(format!("{number} {name} {y}"));
            out.push(format!("{number} {name}, {y}"));
            out.push(format!("{number} of {name} {y}"));
        }
    }
    out.sort();
    out.dedup();
    out.iter().map(|t| Plain::new(t)).collect()
}

fn ordinal(d: i8) -> String {
    let ending = match (d % 10, d) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        (_, _) => "th",
    };
    format!("{d}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_found_however_it_is_written() {
        let forms = written(day("2025-07-01").unwrap());
        let holds = |text: &str| forms.iter().any(|f| Plain::new(text).contains(f));
        for text in [
            "valid from 2025-07-01.",
            "自2025年7月1日起施行",
            "自 ２０２５ 年 ７ 月 １ 日起",
            "Effective July 1, 2025",
            "1st of July 2025",
            "01 Jul 2025",
            "2025/7/1",
            "20250701",
            "2025-07-01T00:00:00Z",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "2025-07-11",
            "2025-07-011",
            "07/01/2025",
            "July 2025",
            "12025-07-01",
        ] {
            assert!(!holds(text), "{text}");
        }
    }
}
