//! Token heat: the model's own tokens shaded by how sure it was of them.

use crate::tui::doc::Doc;
use crate::tui::theme::Ink;

/// Below these log-probs (nats) a token is likely, unlikely, a surprise: probabilities of 0.9, 0.5 and 0.05.
const BANDS: [f32; 3] = [-0.105_36, -std::f32::consts::LN_2, -2.995_73];

/// Draws tokens with their log-probs.
pub(crate) fn heat(texts: &[String], logps: &[f32]) -> Doc {
    let mut doc = Doc::default();
    for (text, logp) in texts.iter().zip(logps) {
        doc.push(ink(*logp), text);
    }
    doc
}

/// Returns the ink of one log-prob.
fn ink(logp: f32) -> Ink {
    let [likely, unlikely, surprised] = BANDS;
    if logp.is_nan() || logp < surprised {
        Ink::Heat3
    } else if logp < unlikely {
        Ink::Heat2
    } else if logp < likely {
        Ink::Heat1
    } else {
        Ink::Heat0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_probabilities() {
        // ln 0.95, ln 0.7, ln 0.2, ln 0.01 by hand.
        for (logp, expected) in [
            (-0.0513, Ink::Heat0),
            (-0.3567, Ink::Heat1),
            (-1.6094, Ink::Heat2),
            (-4.6052, Ink::Heat3),
            (f32::NAN, Ink::Heat3),
        ] {
            assert_eq!(ink(logp), expected, "{logp}");
        }
    }
}
