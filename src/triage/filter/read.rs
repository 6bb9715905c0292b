//! Reads the filter language. Unknown keys and values are errors with a suggestion.

use super::FilterError;
use super::split::{Piece, RawTerm, split};
use super::vocabulary::{closed_values, features, keys};
use crate::domain::filter::{Compare, Condition, Feature, Field, Filter, Sort, Term};
use crate::text::nearest;

/// Longest filter that is read; past it something was pasted by mistake.
const MAX_FILTER_CHARS: usize = 4096;

/// Reads a filter. `me` is the reviewer's name, for `labelled:me`.
pub fn parse_filter(text: &str, me: Option<&str>) -> Result<Filter, FilterError> {
    let long = text.chars().count();
    if long > MAX_FILTER_CHARS {
        let what = format!("{long} characters are too many (limit {MAX_FILTER_CHARS})");
        return Err(error(0, long, what, None));
    }
    let mut filter = Filter::default();
    for raw in split(text)? {
        add(&mut filter, &raw, me)?;
    }
    Ok(filter)
}

fn add(filter: &mut Filter, raw: &RawTerm, me: Option<&str>) -> Result<(), FilterError> {
    let Some(key) = &raw.key else {
        let words = only_value(raw)?;
        push(filter, raw.negated, Condition::Text(words.text.clone()));
        return Ok(());
    };
    match key.text.as_str() {
        "sort" => filter.sort.extend(sorts(raw)?),
        "text" => push(filter, raw.negated, Condition::Text(joined(raw)?)),
        "step.tool" => push(filter, raw.negated, Condition::StepTool(joined(raw)?)),
        "labelled" | "labeled" => {
            let (flip, who) = labelled(only_value(raw)?, me)?;
            push(filter, raw.negated != flip, Condition::Labelled(who));
        }
        "has" => {
            let feature = feature(only_value(raw)?)?;
            push(filter, raw.negated, Condition::Has(feature));
        }
        word => {
            let field = Field::from_word(word).ok_or_else(|| unknown_key(key))?;
            push(filter, raw.negated, column(field, raw)?);
        }
    }
    Ok(())
}

fn push(filter: &mut Filter, negated: bool, condition: Condition) {
    filter.terms.push(Term { negated, condition });
}

fn column(field: Field, raw: &RawTerm) -> Result<Condition, FilterError> {
    let first = value_at(raw, 0)?;
    let asks_none = !first.quoted && first.text == "none" && raw.values.len() == 1;
    if field.is_number() && !asks_none {
        return number(field, only_value(raw)?);
    }
    if field == Field::Imported {
        let hint = "write sort:imported or sort:-imported".to_owned();
        let what = "`imported` can only be sorted by".to_owned();
        return Err(error(first.at, first.len, what, Some(hint)));
    }
    let closed = closed_values(field);
    let mut values = Vec::new();
    for (i, _) in raw.values.iter().enumerate() {
        let piece = value_at(raw, i)?;
        if let Some(known) = &closed {
            check_closed(field, piece, known)?;
        }
        values.push(piece.text.clone());
    }
    Ok(Condition::Is { field, values })
}

fn check_closed(field: Field, piece: &Piece, known: &[&'static str]) -> Result<(), FilterError> {
    if piece.text == "none" || known.contains(&piece.text.as_str()) {
        return Ok(());
    }
    let what = format!("`{}` is no {}", piece.text, field.word());
    Err(error(
        piece.at,
        piece.len,
        what,
        Some(one_of(&piece.text, known)),
    ))
}

fn number(field: Field, piece: &Piece) -> Result<Condition, FilterError> {
    let signs = [
        (">=", Compare::AtLeast),
        ("<=", Compare::AtMost),
        (">", Compare::Greater),
        ("<", Compare::Less),
        ("=", Compare::Equal),
        ("", Compare::Equal),
    ];
    let (value, compare) = signs
        .iter()
        .find_map(|(sign, c)| piece.text.strip_prefix(sign).map(|rest| (rest, *c)))
        .unwrap_or((piece.text.as_str(), Compare::Equal));
    if !value.parse::<f64>().is_ok_and(f64::is_finite) {
        let what = format!("`{}` is no number for `{}`", piece.text, field.word());
        let hint = format!("write {0}:20, {0}:>20 or {0}:<=20", field.word());
        return Err(error(piece.at, piece.len, what, Some(hint)));
    }
    Ok(Condition::Number {
        field,
        compare,
        value: value.to_owned(),
    })
}

fn sorts(raw: &RawTerm) -> Result<Vec<Sort>, FilterError> {
    let mut out = Vec::new();
    for (i, _) in raw.values.iter().enumerate() {
        let piece = value_at(raw, i)?;
        let (word, minus) = match piece.text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (piece.text.as_str(), false),
        };
        let field = Field::from_word(word).ok_or_else(|| {
            let known: Vec<&str> = Field::ALL.iter().map(|(_, w)| *w).collect();
            let what = format!("cannot sort by `{word}`");
            error(piece.at, piece.len, what, Some(one_of(word, &known)))
        })?;
        out.push(Sort {
            field,
            descending: minus != raw.negated,
        });
    }
    Ok(out)
}

/// `labelled:none` is the contrary of `labelled:any`, so it comes back flipped.
fn labelled(piece: &Piece, me: Option<&str>) -> Result<(bool, Option<String>), FilterError> {
    match piece.text.as_str() {
        // Quotes make a name of a keyword: somebody may be called "any".
        name if piece.quoted => Ok((false, Some(name.to_owned()))),
        "any" => Ok((false, None)),
        "none" => Ok((true, None)),
        "me" => me.map(|m| (false, Some(m.to_owned()))).ok_or_else(|| {
            let what = "`labelled:me` needs to know who you are".to_owned();
            let hint = "pass --reviewer NAME".to_owned();
            error(piece.at, piece.len, what, Some(hint))
        }),
        name => Ok((false, Some(name.to_owned()))),
    }
}

fn feature(piece: &Piece) -> Result<Feature, FilterError> {
    Feature::ALL
        .iter()
        .find(|(_, word)| *word == piece.text)
        .map(|(f, _)| *f)
        .ok_or_else(|| {
            let known: Vec<&str> = features().collect();
            let what = format!("`has:` does not know `{}`", piece.text);
            error(piece.at, piece.len, what, Some(one_of(&piece.text, &known)))
        })
}

fn value_at(raw: &RawTerm, i: usize) -> Result<&Piece, FilterError> {
    let missing = || {
        let what = "a value is missing".to_owned();
        error(
            raw.end,
            0,
            what,
            Some("write key:value, or key:none".to_owned()),
        )
    };
    let piece = raw.values.get(i).ok_or_else(missing)?;
    if piece.text.is_empty() {
        return Err(missing());
    }
    Ok(piece)
}

fn only_value(raw: &RawTerm) -> Result<&Piece, FilterError> {
    if let Some(second) = raw.values.get(1) {
        let what = "only one value fits here".to_owned();
        let hint = "repeat the key, or quote a comma".to_owned();
        return Err(error(second.at, second.len, what, Some(hint)));
    }
    value_at(raw, 0)
}

/// Words to search may hold commas: `text:a,b` asks for `a,b`.
fn joined(raw: &RawTerm) -> Result<String, FilterError> {
    value_at(raw, 0)?;
    let words: Vec<&str> = raw.values.iter().map(|p| p.text.as_str()).collect();
    Ok(words.join(","))
}

fn unknown_key(key: &Piece) -> FilterError {
    let hint = match nearest(&key.text, keys()) {
        Some(word) => format!("did you mean `{word}`? To search for the words, quote them"),
        None => format!(
            "keys are {}; to search for the words, quote them",
            keys().collect::<Vec<_>>().join(", ")
        ),
    };
    error(
        key.at,
        key.len,
        format!("unknown key `{}`", key.text),
        Some(hint),
    )
}

fn one_of(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    }
}

fn error(at: usize, len: usize, what: String, hint: Option<String>) -> FilterError {
    FilterError {
        at,
        len,
        what,
        hint,
    }
}
