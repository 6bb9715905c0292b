//! Prints a filter in the language that it was read from, in one canonical spelling.

use crate::domain::filter::{Compare, Condition, Feature, Filter, Sort, Term};

/// Prints a filter; reading it back gives the same filter.
pub fn print_filter(filter: &Filter) -> String {
    let terms = filter.terms.iter().map(term);
    let sorts = filter.sort.iter().map(sort);
    terms.chain(sorts).collect::<Vec<_>>().join(" ")
}

fn term(term: &Term) -> String {
    let minus = if term.negated { "-" } else { "" };
    let body = match &term.condition {
        Condition::Is { field, values } => {
            let values: Vec<String> = values.iter().map(|v| value(v)).collect();
            format!("{}:{}", field.word(), values.join(","))
        }
        Condition::Number {
            field,
            compare,
            value,
        } => format!("{}:{}{value}", field.word(), sign(*compare)),
        Condition::Text(words) => format!("text:{}", value(words)),
        Condition::StepTool(tool) => format!("step.tool:{}", value(tool)),
        Condition::Labelled(None) => "labelled:any".to_owned(),
        Condition::Labelled(Some(who)) if matches!(who.as_str(), "any" | "none" | "me") => {
            format!("labelled:\"{who}\"")
        }
        Condition::Labelled(Some(who)) => format!("labelled:{}", value(who)),
        Condition::Has(feature) => format!("has:{}", word_of(*feature)),
    };
    format!("{minus}{body}")
}

fn sort(sort: &Sort) -> String {
    let minus = if sort.descending { "-" } else { "" };
    format!("sort:{minus}{}", sort.field.word())
}

fn sign(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => "",
        Compare::Less => "<",
        Compare::AtMost => "<=",
        Compare::Greater => ">",
        Compare::AtLeast => ">=",
    }
}

fn word_of(feature: Feature) -> &'static str {
    Feature::ALL
        .iter()
        .find(|(f, _)| *f == feature)
        .map_or("", |(_, word)| word)
}

/// Quotes a value where the language would read it as something else.
pub(super) fn value(text: &str) -> String {
    let plain = !text.is_empty()
        && !text
            .chars()
            .any(|c| c.is_whitespace() || matches!(c, '"' | ',' | '\\'));
    if plain {
        return text.to_owned();
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}
