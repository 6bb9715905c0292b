//! Numbers as people read them.

/// Groups digits: `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Says a size: `512 B`, `1.5 KiB`, `12 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut unit = 0;
    let mut rest = n;
    while rest >= 1024 * 1024 && unit + 1 < UNITS.len() {
        rest /= 1024;
        unit += 1;
    }
    let tenths = rest * 10 / 1024;
    let name = UNITS[unit];
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

/// Says a time span: `840 ms`, `12 s`, `3 min 05 s`, `2 h 10 min`.
pub fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s} s"),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

/// Says a share: `47 %`.
pub fn per_cent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Says how many: `1 run`, `2 runs`.
pub fn plural(n: u64, word: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {word}{s}", grouped(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_prose() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(13 * 1024 * 1024), "13 MiB");
        assert_eq!(duration(185_000), "3 min 05 s");
        assert_eq!(plural(1, "run"), "1 run");
        assert_eq!(plural(1200, "run"), "1,200 runs");
        assert_eq!(per_cent(0.474), "47 %");
    }
}
