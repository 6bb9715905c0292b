//! Attributes of a span in all their spellings, as one flat map, and lists that are flattened into numbered keys.

use crate::import::json::Node;
use serde_json::{Map, Value};

/// A flat map of attributes.
pub(crate) type Attributes = Map<String, Value>;

/// Attributes of a span: under their own key, or, in a table, one column each.
pub(crate) fn of_span(node: &Node<'_>) -> Attributes {
    let own = node
        .get("attributes")
        .or_else(|| node.get("span_attributes"));
    if own.is_some() {
        return attributes(own);
    }
    let column = |key: &str| key.strip_prefix("attributes.").map(str::to_owned);
    let columns = node.members().iter().filter(|(_, value)| !value.is_null());
    columns
        .filter_map(|(key, value)| Some((column(key)?, value.to_value())))
        .collect()
}

/// Reads attributes: a list of `{key, value}` with typed values, or an object.
pub(crate) fn attributes(node: Option<&Node<'_>>) -> Attributes {
    let Some(node) = node else {
        return Map::new();
    };
    if node.is_list() {
        let pair = |n: &Node<'_>| Some((n.id("key")?, any_value(n.get("value")?)));
        return node.items().iter().filter_map(pair).collect();
    }
    node.to_map()
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect()
}

/// A typed value of OTLP; whole numbers come as text.
fn any_value(node: &Node<'_>) -> Value {
    for (key, value) in node.members() {
        if value.is_null() {
            continue;
        }
        return match key.as_ref() {
            "intValue" | "int_value" => value
                .as_id()
                .and_then(|t| t.parse::<i64>().ok())
                .map_or(Value::Null, Value::from),
            "arrayValue" | "array_value" => value.list("values").iter().map(any_value).collect(),
            "kvlistValue" | "kvlist_value" => {
                let pair = |n: &Node<'_>| Some((n.id("key")?, any_value(n.get("value")?)));
                Value::Object(value.list("values").iter().filter_map(pair).collect())
            }
            _ => value.to_value(),
        };
    }
    // A node that is no typed value is the value itself.
    if node.is_object() {
        Value::Null
    } else {
        node.to_value()
    }
}

/// Text of an attribute; numbers and bools as they are spelled.
pub(crate) fn text(map: &Attributes, key: &str) -> Option<String> {
    match map.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// The first of these keys that is there.
pub(crate) fn first<'m>(map: &'m Attributes, keys: &[&str]) -> Option<&'m Value> {
    keys.iter()
        .find_map(|key| map.get(*key).filter(|v| !v.is_null()))
}

/// Elements of a list that is flattened into `prefix.0.rest`, or stands there as a list of objects.
pub(crate) fn indexed(map: &Attributes, prefix: &str) -> Vec<Attributes> {
    if let Some(Value::Array(items)) = map.get(prefix) {
        let object = |v: &Value| v.as_object().cloned();
        return items.iter().filter_map(object).collect();
    }
    const MOST: usize = 100_000;
    let mut items: std::collections::BTreeMap<usize, Attributes> =
        std::collections::BTreeMap::new();
    for (key, value) in map {
        let Some(rest) = key.strip_prefix(prefix).and_then(|r| r.strip_prefix('.')) else {
            continue;
        };
        let Some((number, rest)) = rest.split_once('.') else {
            continue;
        };
        if let Ok(number) = number.parse::<usize>()
            && number < MOST
        {
            items
                .entry(number)
                .or_default()
                .insert(rest.to_owned(), value.clone());
        }
    }
    items.into_values().collect()
}
