//! Placebo texts: unrelated, distinct, as long as the text they stand beside (±5%), in its language.

use crate::stats::Chance;
use crate::text::is_cjk;

/// Allowed difference in length.
const LENGTH_TOLERANCE: f64 = 0.05;

/// A text of the placebo stock with its length in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceboText {
    /// The text.
    pub text: String,
    /// Its length.
    pub tokens: usize,
}

/// Picks `wanted` distinct texts for `target`, sentences joined or cut to length; the same seed gives the same texts.
///
/// `count` measures a text in tokens. Fewer come back where the stock is too small or cannot be cut to length.
pub fn pick_placebos(
    stock: &[&str],
    target: &str,
    wanted: usize,
    count: &dyn Fn(&str) -> usize,
    seed: u64,
) -> Vec<PlaceboText> {
    let goal = count(target);
    let cjk = mostly_cjk(target);
    let fitting: Vec<&str> = stock
        .iter()
        .copied()
        .filter(|t| mostly_cjk(t) == cjk)
        .collect();
    let mut order: Vec<usize> = (0..fitting.len()).collect();
    Chance::named(seed, "placebo").shuffle(&mut order);
    let mut out: Vec<PlaceboText> = Vec::new();
    for start in 0..order.len() {
        if out.len() == wanted {
            break;
        }
        let texts = (0..order.len()).filter_map(|i| {
            let at = order.get((start + i) % order.len())?;
            fitting.get(*at).copied()
        });
        if let Some(text) = to_length(texts, goal, count, cjk)
            && !out.iter().any(|p| p.text == text.text)
        {
            out.push(text);
        }
    }
    out
}

/// Joins texts until they are long enough, then drops words from the end until they fit.
fn to_length<'a>(
    texts: impl Iterator<Item = &'a str>,
    goal: usize,
    count: &dyn Fn(&str) -> usize,
    cjk: bool,
) -> Option<PlaceboText> {
    let slack = goal as f64 * LENGTH_TOLERANCE;
    let mut text = String::new();
    for next in texts {
        if !text.is_empty() && !cjk {
            text.push(' ');
        }
        text.push_str(next);
        if count(&text) >= goal {
            break;
        }
    }
    let pieces: Vec<&str> = if cjk {
        split_chars(&text)
    } else {
        text.split_inclusive(' ').collect()
    };
    // Length grows with the number of pieces, so the last that fits is found by halving.
    let (mut low, mut high) = (0, pieces.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        if count(pieces[..middle].concat().trim_end()) > goal {
            high = middle - 1;
        } else {
            low = middle;
        }
    }
    let cut = pieces[..low].concat().trim_end().to_owned();
    let tokens = count(&cut);
    ((tokens as f64 - goal as f64).abs() <= slack && !cut.is_empty())
        .then_some(PlaceboText { text: cut, tokens })
}

fn split_chars(text: &str) -> Vec<&str> {
    text.split_inclusive(|_: char| true).collect()
}

fn mostly_cjk(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let cjk = text
        .chars()
        .filter(|c| is_cjk(*c) && c.is_alphabetic())
        .count();
    cjk * 2 > letters
}
