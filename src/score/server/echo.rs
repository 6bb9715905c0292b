//! Which number of a server's answer belongs to which token of the prompt.
//!
//! Servers differ: some generate a token more than was asked about, llama-cpp-python leaves every start token
//! out, and where a prompt has none it gives each token the log-prob of the next place. What cannot be told
//! for sure is refused, never guessed.

use super::answer::{Choice, LogProbs};
use crate::score::engine::RowScore;
use crate::score::prompt::Plan;

/// Successors that were foretold before a shift is believed.
const SHIFTED: usize = 4;
/// A log-prob may stand above nought by this much: the rounding of its sum.
const ROUNDING: f64 = 1e-6;

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
    choice: &Choice,
    sent: Accepts,
    counted: Option<u64>,
) -> Result<Vec<RowScore>, String> {
    let told = choice.logprobs.as_ref();
    let told = told.and_then(|l| Some((l, l.token_logprobs.as_ref()?)));
    let Some((logprobs, list)) = told else {
        return Err("the answer holds no prompt log-probs; hint: the server must support echo with logprobs (llama-cpp-python: start it with --logits_all true)".to_owned());
    };
    let list = list.0.as_slice();
    let tokens = tokens_of(logprobs, list.len())?;
    let places = match sent {
        Accepts::Tokens => all_places(plan, list.len())?,
        Accepts::Text => text_places(plan, list.len(), counted)?,
    };
    possible(list)?;
    if is_early(&places, list) || is_shifted(logprobs) {
        return Err("it gives each token the log-prob of its successor's place (a fault of llama-cpp-python where the prompt has no start token)".to_owned());
    }
    same_tokens(plan, &places, tokens, sent)?;
    let score = |(i, place): (usize, &Option<usize>)| {
        let logp = place.and_then(|place| list[place]);
        let logp = logp.ok_or_else(|| format!("token {i} has no log-prob"))?;
        #[expect(clippy::cast_possible_truncation, reason = "log-probs are F32 here")]
        Ok(RowScore {
            logp: logp.min(0.0) as f32,
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

/// The texts of the tokens; none where the server tells none.
fn tokens_of(logprobs: &LogProbs, told: usize) -> Result<&[Option<String>], String> {
    let tokens = logprobs.tokens.as_ref().map_or(&[][..], |l| &l.0);
    if tokens.is_empty() || tokens.len() == told {
        return Ok(tokens);
    }
    Err(format!("{told} log-probs of {} tokens", tokens.len()))
}

/// A log-prob is a finite number that is not above nought.
fn possible(list: &[Option<f64>]) -> Result<(), String> {
    let fits = |x: f64| x <= ROUNDING && x >= f64::from(f32::MIN);
    let wrong = list.iter().enumerate();
    let mut wrong = wrong.filter_map(|(i, x)| x.filter(|x| !fits(*x)).map(|x| (i, x)));
    match wrong.next() {
        Some((i, x)) if x > 0.0 => Err(format!(
            "token {i} has the log-prob {x:?}, which is above 0: these are no log-probs"
        )),
        Some((i, x)) => Err(format!(
            "token {i} has the log-prob {x:?}, which no model gives"
        )),
        None => Ok(()),
    }
}

/// Every token of the prompt has a place. One more is the generated token; a server may have stopped before it.
fn all_places(plan: &Plan, told: usize) -> Result<Vec<Option<usize>>, String> {
    let ours = plan.ids.len();
    if (ours..=ours + 1).contains(&told) {
        return Ok((0..ours).map(Some).collect());
    }
    Err(format!(
        "log-probs of {told} tokens for a prompt of {ours}; it cut the prompt, does not echo it, or speaks of another"
    ))
}

/// Where each token of the prompt stands in the answer of a server that cut the text itself.
fn text_places(
    plan: &Plan,
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
    if let Ok(places) = all_places(plan, told) {
        return Ok(places);
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
    Ok(plan.ids.iter().map(place).collect())
}

/// Nothing stands before the first token, so it has no log-prob (some servers write 0); where it has one, it is the next
/// token's.
fn is_early(places: &[Option<usize>], list: &[Option<f64>]) -> bool {
    let stands_first = places.first() == Some(&Some(0));
    stands_first && list.first().is_some_and(|x| x.is_some_and(|x| x != 0.0))
}

/// Holds the action's tokens against the server's. What one of both does not show as text proves nothing.
fn same_tokens(
    plan: &Plan,
    places: &[Option<usize>],
    tokens: &[Option<String>],
    sent: Accepts,
) -> Result<(), String> {
    let (mut same, mut other) = (0, Vec::new());
    for (i, place) in places.iter().enumerate().skip(plan.first) {
        let theirs = place.and_then(|place| tokens.get(place)?.as_deref());
        let Some(theirs) = theirs else { continue };
        let own = plan.texts[i - plan.first].as_str();
        match is_same(plan.ids[i], own, theirs) {
            Some(true) => same += 1,
            Some(false) => other.push((own, theirs)),
            None => {}
        }
    }
    // Token numbers were read as they were sent; a text that only looks different is no proof then, most of them are.
    let bearable = if sent == Accepts::Tokens { same } else { 0 };
    match other.first() {
        Some((own, theirs)) if other.len() > bearable => Err(format!(
            "it reads {theirs:?} where a token is {own:?} here; its tokenizer is another, or its numbers stand elsewhere"
        )),
        _ => Ok(()),
    }
}

/// Whether a token is what a server calls `theirs`; nothing where its text cannot tell.
fn is_same(id: u32, own: &str, theirs: &str) -> Option<bool> {
    if let Some(number) = theirs.strip_prefix("token_id:") {
        return Some(number.parse() == Ok(id));
    }
    // Vocabularies write a space as Ġ or ▁, and bytes as signs of their own.
    let bare = |text: &str| text.replace(['Ġ', '▁'], " ").trim().to_owned();
    let (own, theirs) = (bare(own), bare(theirs));
    let tells = |text: &str| !text.is_empty() && text.is_ascii() && !text.starts_with("<0x");
    (tells(&own) && tells(&theirs)).then_some(own == theirs)
}

/// The likeliest token of a place is now and then the token itself; where it is rather the next one, all
/// numbers stand one place too early.
fn is_shifted(logprobs: &LogProbs) -> bool {
    let (Some(tops), Some(tokens)) = (&logprobs.top_logprobs, &logprobs.tokens) else {
        return false;
    };
    let (mut own, mut next) = (0, 0);
    for (top, pair) in tops.0.iter().zip(tokens.0.windows(2)) {
        let likeliest = top.as_ref().and_then(|top| top.0.as_ref());
        let Some(likeliest) = likeliest.filter(|t| !t.is_empty() && pair[0] != pair[1]) else {
            continue;
        };
        own += usize::from(pair[0].as_ref() == Some(likeliest));
        next += usize::from(pair[1].as_ref() == Some(likeliest));
    }
    next >= SHIFTED && next > 2 * own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
        logps_of(choice, Accepts::Text, counted)
    }

    fn logps_of(choice: &Value, sent: Accepts, counted: Option<u64>) -> Result<Vec<f32>, String> {
        let choice = serde_json::from_value(choice.clone()).map_err(|e| e.to_string())?;
        let rows = read(&plan(), &choice, sent, counted)?;
        Ok(rows.iter().map(|row| row.logp).collect())
    }

    /// The plan's own tokens, as a server names them that was sent their numbers.
    fn echoed() -> Value {
        json!({"logprobs": {"tokens": ["<s>", "ask", "<s>", "yes", "Ġit", "▁is", "<0x0A>", "x"],
                            "token_logprobs": [null, -3.0, -4.0, -0.25, -0.5, -0.75, -1.0, -9.0]}})
    }

    /// Changes what stands at a place of one list.
    fn with(list: &str, at: usize, value: Value) -> Value {
        let mut answer = echoed();
        answer["logprobs"][list][at] = value;
        answer
    }

    #[test]
    fn numbers_that_no_model_gives_are_refused() {
        let own = |x: Value| logps_of(&with("token_logprobs", 4, x), Accepts::Tokens, None);
        assert_eq!(own(json!(-0.5)).unwrap(), [-0.25, -0.5, -0.75, -1.0]);
        // A sum's rounding is nought.
        assert_eq!(own(json!(5e-7)).unwrap()[1], 0.0);
        assert!(own(json!(2e-6)).unwrap_err().contains("above 0"));
        assert!(
            own(json!(5.0))
                .unwrap_err()
                .contains("token 4 has the log-prob 5.0, which is above 0")
        );
        for x in [-1e39, -1e300] {
            assert!(own(json!(x)).unwrap_err().contains("no model gives"));
        }
        assert!(
            own(Value::Null)
                .unwrap_err()
                .contains("token 4 has no log-prob")
        );
        assert!(own(json!("-1")).unwrap_err().contains("invalid type"));
        // Wherever it stands: a prompt's token of 5 nats makes the rest no better.
        let prompt = with("token_logprobs", 1, json!(5.0));
        assert!(logps_of(&prompt, Accepts::Tokens, None).is_err());
    }

    #[test]
    fn more_or_fewer_numbers_than_tokens_are_refused() {
        let sized = |n: usize| {
            let mut logps = vec![json!(-1.0); n];
            logps[0] = Value::Null;
            logps_of(
                &json!({"logprobs": {"token_logprobs": logps}}),
                Accepts::Tokens,
                None,
            )
        };
        assert_eq!((sized(7).unwrap().len(), sized(8).unwrap().len()), (4, 4));
        for n in [6, 9, 5007] {
            let said = format!("log-probs of {n} tokens for a prompt of 7");
            assert!(sized(n).unwrap_err().contains(&said));
        }
        let mut answer = echoed();
        answer["logprobs"]["tokens"] = json!(["<s>"]);
        let said = logps_of(&answer, Accepts::Tokens, None).unwrap_err();
        assert_eq!(said, "8 log-probs of 1 tokens");
    }

    #[test]
    fn tokens_that_were_not_sent_are_refused() {
        let said = |answer: &Value| logps_of(answer, Accepts::Tokens, None);
        // One that only looks different is no proof; a vocabulary's own spelling is none at all.
        assert!(said(&with("tokens", 4, json!("ĠIt"))).is_ok());
        let mut other = echoed();
        other["logprobs"]["tokens"] = json!(["<s>", "ask", "<s>", "no", " it", " was", "", "x"]);
        assert!(
            said(&other)
                .unwrap_err()
                .contains("\"no\" where a token is \"yes\"")
        );
        let numbers = |shift: usize| {
            let mut ids = plan().ids;
            ids.rotate_left(shift);
            let names: Vec<String> = ids.iter().map(|id| format!("token_id:{id}")).collect();
            let mut answer = echoed();
            answer["logprobs"]["tokens"] = json!([names, vec!["x".to_owned()]].concat());
            said(&answer)
        };
        assert!(numbers(0).is_ok() && numbers(1).is_err());
    }

    /// As a server answers that leaves the first token out and tells no likeliest ones.
    #[test]
    fn a_first_token_with_a_number_shows_that_all_stand_early() {
        let early =
            json!({"logprobs": {"token_logprobs": [-3.0, -4.0, -0.25, -0.5, -0.75, -1.0, -9.0]}});
        let said = logps_of(&early, Accepts::Tokens, None).unwrap_err();
        assert!(said.contains("successor"), "{said}");
        assert!(
            logps_of(
                &with("token_logprobs", 0, json!(0.0)),
                Accepts::Tokens,
                None
            )
            .is_ok()
        );
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
            let words = ["s", "ask", "s", "yes", " it", " is", "<end>", "x"];
            // The model foretells everything; in a shifted answer each place tells the next word.
            let top = |i: usize| json!({words[(i + shift).min(7)]: -0.1, words[i]: -4.0});
            let tops: Vec<Value> = (0..8).map(top).collect();
            let mut logps = vec![json!(-4.0); 8];
            logps[0] = Value::Null;
            json!({"logprobs": {"tokens": words, "token_logprobs": logps, "top_logprobs": tops}})
        };
        assert!(
            logps(&answer(1), Some(7))
                .unwrap_err()
                .contains("successor")
        );
        assert_eq!(logps(&answer(0), Some(7)).unwrap().len(), 4);
    }
}
