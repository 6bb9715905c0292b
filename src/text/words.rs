//! Words for comparing texts: folded, and a CJK character is a word of its own, since no blank tells where a
//! Chinese word ends.

use super::fold::{fold, is_cjk};

/// Returns the words of a text in order; punctuation falls away.
pub fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = String::new();
    for c in fold(text).chars() {
        if c.is_alphanumeric() && !is_cjk(c) {
            open.push(c);
            continue;
        }
        if !open.is_empty() {
            out.push(std::mem::take(&mut open));
        }
        if c.is_alphanumeric() {
            out.push(c.to_string());
        }
    }
    if !open.is_empty() {
        out.push(open);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_chinese_goes_by_characters() {
        assert_eq!(
            words("Old-policy Ｖ3，住宿上限"),
            ["old", "policy", "v3", "住", "宿", "上", "限"]
        );
        assert_eq!(words("  …  "), Vec::<String>::new());
    }
}
