//! What a file says and no field of ours holds: kept beside the item up to a limit, and its name counted.

use super::json::Node;
use super::limits::MAX_EXTRA_BYTES;
use super::out::Out;
use serde_json::{Map, Value};

/// Members whose names are not in `known`. Their names are told as not understood.
pub(crate) fn leftover(
    out: &mut Out<'_>,
    node: &Node<'_>,
    known: &[&str],
    place: &str,
) -> Map<String, Value> {
    let mut extra = Map::new();
    for (key, value) in node.members() {
        if known.contains(&key.as_ref()) || value.is_null() {
            continue;
        }
        out.not_understood(&format!("field {place}.{key}"));
        extra.insert(key.clone().into_owned(), bounded(value));
    }
    extra
}

/// Copies these members where they are there and not null.
pub(crate) fn keep(extra: &mut Map<String, Value>, node: &Node<'_>, keys: &[&str]) {
    for key in keys {
        if let Some(value) = node.get(key) {
            extra.insert((*key).to_owned(), bounded(value));
        }
    }
}

/// A value, or a note on its size where it is too large to stand beside an item.
pub(crate) fn bounded(node: &Node<'_>) -> Value {
    let len = node.end.saturating_sub(node.start);
    if len as usize <= MAX_EXTRA_BYTES {
        node.to_value()
    } else {
        Value::String(format!("({len} bytes, see the source)"))
    }
}
