//! Folding: the same word however it is written, and CJK text cut into characters for an index.

use unicode_normalization::UnicodeNormalization;

/// Returns `text` in one form for comparing: compatible characters joined (full-width A is A), lower case.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// A character of Chinese, Japanese or Korean writing, their punctuation included.
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x303f | 0x3040..=0x31ff | 0x3200..=0x4dbf | 0x4e00..=0x9fff
        | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xfe30..=0xfe4f | 0xff00..=0xffef
        | 0x20000..=0x3ffff)
}

/// Puts a space around every CJK character, so that an index that splits at spaces finds any two of them.
pub fn space_cjk(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut after_cjk = false;
    for c in text.chars() {
        let cjk = is_cjk(c);
        if (cjk || after_cjk) && !out.is_empty() && !out.ends_with(' ') && c != ' ' {
            out.push(' ');
        }
        out.push(c);
        after_cjk = cjk;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_for_comparing() {
        assert_eq!(fold("ＡBc É"), "abc é");
    }

    #[test]
    fn spaces_stand_between_cjk_characters() {
        assert_eq!(space_cjk("旧政策v1.2有效"), "旧 政 策 v1.2 有 效");
        assert_eq!(space_cjk("old policy"), "old policy");
        assert_eq!(space_cjk("报销 rule"), "报 销 rule");
    }
}
