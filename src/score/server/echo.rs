//! Which number of a server's answer belongs to which token of the prompt.
//!
//! Servers differ: some generate a token more than was asked about, llama-cpp-python leaves every start token
//! out, and where a prompt has none it gives each token the log-prob of the next place. What cannot be told
//! for sure is refused, never guessed.

use crate::score::engine::RowScore;
use crate::score::prompt::Plan;
use serde_json::Value;

/// Successors that were foretold before a shift is believed.
const SHIFTED: usize = 4;

/// How a prompt was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accepts {
    Tokens,
    /// The server cuts the text into tokens itself.
    Text,
}

/// Log-probs of the tokens from `first` on, or why they cannot be read. `counted`: the tokens that the server says it read.
pub(super) fn read(
    plan: &Plan,
    choice: &Value,
    sent: Accepts,
    counted: Option<u64>,
) -> Result<Vec<RowScore>, String> {
    let logprobs = &choice["logprobs"];
    let list = logprobs["token_logprobs"].as_array().ok_or(
        "the answer holds no prompt log-probs; hint: the server must support echo with logprobs (llama-cpp-python: start it with --logits_all true)",
    )?;
    let places = match sent {
        Accepts::Tokens if list.len() < plan.ids.len() => {
            return Err(format!(
                "log-probs of {} tokens for a prompt of {}; it cut the prompt or does not echo it",
                list.len(),
                plan.ids.len()
            ));
        }
        Accepts::Tokens => (0..plan.ids.len()).map(Some).collect(),
        Accepts::Text => places(plan, logprobs, list.len(), counted)?,
    };
    if is_shifted(logprobs) {
        return Err("it gives each token the log-prob of its successor's place (a fault of llama-cpp-python where the prompt has no start token)".to_owned());
    }
    let score = |(i, place): (usize, &Option<usize>)| {
        let value = place.and_then(|place| list[place].as_f64());
        let logp = value
            .filter(|x| x.is_finite())
            .ok_or_else(|| format!("token {i} has no log-prob"))?;
        #[expect(clippy::cast_possible_truncation, reason = "log-probs are F32 here")]
        Ok(RowScore {
            logp: logp as f32,
            entropy: None,
            rank: None,
        })
    };
    places
        .iter()
        .enumerate()
        .skip(plan.first)
        .map(score)
        .collect()
}

/// Where each token of the prompt stands in the answer of a server that cut the text itself.
fn places(
    plan: &Plan,
    logprobs: &Value,
    told: usize,
    counted: Option<u64>,
) -> Result<Vec<Option<usize>>, String> {
    let ours = plan.ids.len();
    let differs = |theirs: u64| {
        format!(
            "it makes {theirs} tokens of a prompt that has {ours} here; its tokenizer is another, or it adds a start token"
        )
    };
    if let Some(theirs) = counted.filter(|n| *n != ours as u64) {
        return Err(differs(theirs));
    }
    // One more: the generated token. A server may have stopped before it.
    if (ours..=ours + 1).contains(&told) {
        return Ok((0..ours).map(Some).collect());
    }
    let start = plan.ids.first().copied();
    let kept = plan.ids.iter().filter(|id| Some(**id) != start).count();
    if !(kept..=kept + 1).contains(&told) {
        return Err(differs(told as u64));
    }
    let mut next = 0;
    let place = |id: &u32| {
        (Some(*id) != start).then(|| {
            next += 1;
            next - 1
        })
    };
    let places: Vec<Option<usize>> = plan.ids.iter().map(place).collect();
    same_texts(plan, &places, &logprobs["tokens"])?;
    Ok(places)
}

/// Holds the action's tokens against the server's. What one of both does not show as text proves nothing.
fn same_texts(plan: &Plan, places: &[Option<usize>], tokens: &Value) -> Result<(), String> {
    let shown = |text: &str| !text.is_empty() && !text.contains('\u{FFFD}');
    for (own, place) in plan.texts.iter().zip(&places[plan.first..]) {
        let theirs = place.and_then(|place| tokens[place].as_str());
        let theirs = theirs.unwrap_or_default();
        if shown(own) && shown(theirs) && own.trim() != theirs.trim() {
            return Err(format!(
                "it reads {theirs:?} where a token is {own:?} here; its tokenizer is another"
            ));
        }
    }
    Ok(())
}

/// The likeliest token of a place is now and then the token itself; where it is rather the next one, all
/// numbers stand one place too early.
fn is_shifted(logprobs: &Value) -> bool {
    let (Some(tops), Some(tokens)) = (
        logprobs["top_logprobs"].as_array(),
        logprobs["tokens"].as_array(),
    ) else {
        return false;
    };
    let (mut own, mut next) = (0, 0);
    for (top, pair) in tops.iter().zip(tokens.windows(2)) {
        let likeliest = top.as_object().and_then(|top| {
            let by_value = |(_, a): &(&String, &Value), (_, b): &(&String, &Value)| {
                let value = |v: &Value| v.as_f64().unwrap_or(f64::NEG_INFINITY);
                value(a).total_cmp(&value(b))
            };
            top.iter().max_by(by_value).map(|(token, _)| token)
        });
        let Some(likeliest) = likeliest.filter(|t| !t.is_empty() && pair[0] != pair[1]) else {
            continue;
        };
        own += usize::from(pair[0] == **likeliest);
        next += usize::from(pair[1] == **likeliest);
    }
    next >= SHIFTED && next > 2 * own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan() -> Plan {
        let texts = ["yes", " it", " is", "<end>"].map(str::to_owned).to_vec();
        Plan {
            text: "<s>ask<s>yes it is<end>".to_owned(),
            ids: vec![1, 20, 1, 30, 31, 32, 2],
            first: 3,
            own: 3,
            owned_end: 7,
            parts: vec![crate::score::Part::Text; texts.len()],
            texts,
            bytes: 0,
            warnings: Vec::new(),
        }
    }

    /// As llama-cpp-python answers: no start tokens, none for the first, special tokens without text, one generated.
    fn left_out() -> Value {
        json!({"logprobs": {"tokens": ["ask", "yes", " it", " is", "", "x"],
                            "token_logprobs": [null, -0.25, -0.5, -0.75, -1.0, -9.0]}})
    }

    fn logps(choice: &Value, counted: Option<u64>) -> Result<Vec<f32>, String> {
        let rows = read(&plan(), choice, Accepts::Text, counted)?;
        Ok(rows.iter().map(|row| row.logp).collect())
    }

    #[test]
    fn start_tokens_that_are_left_out_are_counted() {
        for counted in [None, Some(7)] {
            let got = logps(&left_out(), counted).unwrap();
            assert_eq!(got, [-0.25, -0.5, -0.75, -1.0]);
        }
        let added = logps(&left_out(), Some(8)).unwrap_err();
        assert!(added.contains("8 tokens of a prompt that has 7"), "{added}");
        let mut other = left_out();
        other["logprobs"]["tokens"][2] = json!(" was");
        assert!(
            logps(&other, None)
                .unwrap_err()
                .contains("\" was\" where a token is \" it\"")
        );
    }

    #[test]
    fn numbers_in_the_next_ones_place_are_refused() {
        let answer = |shift: usize| {
            let words: Vec<String> = (0..8).map(|i| format!("w{i}")).collect();
            // The model foretells everything; in a shifted answer each place tells the next word.
            let top =
                |i: usize| json!({words[(i + shift).min(7)].clone(): -0.1, words[i].clone(): -4.0});
            let tops: Vec<Value> = (0..8).map(top).collect();
            json!({"logprobs": {"tokens": words, "token_logprobs": vec![-4.0; 8], "top_logprobs": tops}})
        };
        assert!(
            logps(&answer(1), Some(7))
                .unwrap_err()
                .contains("successor")
        );
        assert_eq!(logps(&answer(0), Some(7)).unwrap().len(), 4);
    }
}
