//! Python's methods on strings, dicts and lists, as far as chat templates use them.

use super::python::bytes;
use minijinja::value::{ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value};

pub(super) fn install(env: &mut Environment<'static>) {
    env.set_unknown_method_callback(|state, value, method, args| {
        let size = value.as_str().map_or(0, bytes) + value.len().unwrap_or(0) as u64;
        state.consume_fuel(size)?;
        match value.kind() {
            ValueKind::String => on_text(state, value.as_str().unwrap_or_default(), method, args),
            ValueKind::Map => on_dict(value, method, args),
            ValueKind::Seq | ValueKind::Iterable => on_list(value, method, args),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    });
}

fn on_text(
    state: &State<'_, '_>,
    text: &str,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let strip = |trim: fn(&str, &dyn Fn(char) -> bool) -> String| -> Result<Value, Error> {
        let (set,): (Option<String>,) = from_args(args)?;
        let inside = |c: char| match &set {
            Some(set) => set.contains(c),
            None => is_python_space(c),
        };
        Ok(Value::from(trim(text, &inside)))
    };
    match method {
        "strip" => strip(|t, inside| t.trim_matches(inside).to_owned()),
        "lstrip" => strip(|t, inside| t.trim_start_matches(inside).to_owned()),
        "rstrip" => strip(|t, inside| t.trim_end_matches(inside).to_owned()),
        "split" | "rsplit" => split(state, text, method, args),
        "splitlines" => from_args::<()>(args).map(|()| text.lines().map(Value::from).collect()),
        "startswith" => affix(args, |part| text.starts_with(part)),
        "endswith" => affix(args, |part| text.ends_with(part)),
        "upper" => from_args::<()>(args).map(|()| Value::from(text.to_uppercase())),
        "lower" => from_args::<()>(args).map(|()| Value::from(text.to_lowercase())),
        "capitalize" => from_args::<()>(args).map(|()| Value::from(capitalized(text))),
        "title" => from_args::<()>(args).map(|()| Value::from(titled(text))),
        "replace" => replace(state, text, args),
        "removeprefix" => remove(args, |part| {
            text.strip_prefix(part).unwrap_or(text).to_owned()
        }),
        "removesuffix" => remove(args, |part| {
            text.strip_suffix(part).unwrap_or(text).to_owned()
        }),
        "find" => position(args, |part| {
            text.find(part).map(|at| chars_before(text, at))
        }),
        "rfind" => position(args, |part| {
            text.rfind(part).map(|at| chars_before(text, at))
        }),
        "count" => remove_count(text, args),
        "join" => join(state, text, args),
        "isdigit" | "isnumeric" | "isdecimal" => all(text, char::is_numeric),
        "isalpha" => all(text, char::is_alphabetic),
        "isalnum" => all(text, char::is_alphanumeric),
        "isspace" => all(text, is_python_space),
        "isupper" => cased(text, char::is_lowercase, char::is_uppercase),
        "islower" => cased(text, char::is_uppercase, char::is_lowercase),
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// `str.isspace`: Unicode white space and the four separators that Python adds.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn split(state: &State<'_, '_>, text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (by, most): (Option<String>, Option<i64>) = from_args(args)?;
    let most = most.and_then(|n| usize::try_from(n).ok());
    let parts: Vec<String> = match (&by, method) {
        (None, "split") => split_spaces(text, most),
        (None, _) => text
            .split(is_python_space)
            .filter(|p| !p.is_empty())
            .map(str::to_owned)
            .collect(),
        (Some(by), _) if by.is_empty() => {
            return Err(Error::new(ErrorKind::InvalidOperation, "empty separator"));
        }
        (Some(by), "rsplit") => {
            let mut parts: Vec<_> = match most {
                Some(n) => text
                    .rsplitn(n + 1, by.as_str())
                    .map(str::to_owned)
                    .collect(),
                None => text.rsplit(by.as_str()).map(str::to_owned).collect(),
            };
            parts.reverse();
            parts
        }
        (Some(by), _) => match most {
            Some(n) => text.splitn(n + 1, by.as_str()).map(str::to_owned).collect(),
            None => text.split(by.as_str()).map(str::to_owned).collect(),
        },
    };
    state.consume_fuel(parts.len() as u64)?;
    Ok(parts.into_iter().map(Value::from).collect())
}

/// Splits at runs of white space; the rest after the last allowed split keeps its inner spaces.
fn split_spaces(text: &str, most: Option<usize>) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_python_space);
    while !rest.is_empty() {
        if most.is_some_and(|n| parts.len() >= n) {
            parts.push(rest.to_owned());
            break;
        }
        let Some((word, after)) = rest.split_once(is_python_space) else {
            parts.push(rest.to_owned());
            break;
        };
        parts.push(word.to_owned());
        rest = after.trim_start_matches(is_python_space);
    }
    parts
}

/// `startswith` and `endswith` take one string or a tuple of them.
fn affix(args: &[Value], fits: impl Fn(&str) -> bool) -> Result<Value, Error> {
    let (part,): (Value,) = from_args(args)?;
    if let Some(text) = part.as_str() {
        return Ok(Value::from(fits(text)));
    }
    let mut parts = part.try_iter()?;
    Ok(Value::from(parts.any(|p| p.as_str().is_some_and(&fits))))
}

fn replace(state: &State<'_, '_>, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (old, new, most): (String, String, Option<i64>) = from_args(args)?;
    // Paid before the work: a short text can become an endless one.
    let times = text.matches(old.as_str()).count() as u64;
    state.consume_fuel(times.saturating_mul(bytes(&new) + 1))?;
    Ok(Value::from(
        match most.and_then(|n| usize::try_from(n).ok()) {
            Some(n) => text.replacen(&old, &new, n),
            None => text.replace(&old, &new),
        },
    ))
}

fn remove(args: &[Value], cut: impl Fn(&str) -> String) -> Result<Value, Error> {
    let (part,): (String,) = from_args(args)?;
    Ok(Value::from(cut(&part)))
}

fn position(args: &[Value], find: impl Fn(&str) -> Option<usize>) -> Result<Value, Error> {
    let (part,): (String,) = from_args(args)?;
    let at = find(&part).and_then(|at| i64::try_from(at).ok());
    Ok(Value::from(at.unwrap_or(-1)))
}

fn chars_before(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}

fn remove_count(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (part,): (String,) = from_args(args)?;
    Ok(Value::from(match part.as_str() {
        "" => text.chars().count() + 1,
        part => text.matches(part).count(),
    }))
}

fn join(state: &State<'_, '_>, between: &str, args: &[Value]) -> Result<Value, Error> {
    let (items,): (Value,) = from_args(args)?;
    let mut parts = Vec::new();
    for item in items.try_iter()? {
        let Some(text) = item.as_str() else {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "join needs strings",
            ));
        };
        state.consume_fuel(1 + bytes(text) + bytes(between))?;
        parts.push(text.to_owned());
    }
    Ok(Value::from(parts.join(between)))
}

fn all(text: &str, is: fn(char) -> bool) -> Result<Value, Error> {
    Ok(Value::from(!text.is_empty() && text.chars().all(is)))
}

fn cased(text: &str, bad: fn(char) -> bool, good: fn(char) -> bool) -> Result<Value, Error> {
    Ok(Value::from(
        text.chars().any(good) && !text.chars().any(bad),
    ))
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + &chars.as_str().to_lowercase()
}

fn titled(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_alphabetic();
    }
    out
}

fn on_dict(dict: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let keys = || dict.try_iter();
    match method {
        "items" => {
            from_args::<()>(args)?;
            let pair = |key: Value| {
                let item = dict.get_item(&key)?;
                Ok(Value::from(vec![key, item]))
            };
            keys()?
                .map(pair)
                .collect::<Result<Vec<_>, Error>>()
                .map(Value::from)
        }
        "keys" => from_args::<()>(args).and_then(|()| Ok(keys()?.collect())),
        "values" => {
            from_args::<()>(args)?;
            let items = keys()?.map(|key| dict.get_item(&key));
            items.collect::<Result<Vec<_>, Error>>().map(Value::from)
        }
        "get" => {
            let (key, default): (Value, Option<Value>) = from_args(args)?;
            let found = dict.get_item(&key)?;
            let missing = || default.unwrap_or(Value::from(()));
            Ok(if found.is_undefined() {
                missing()
            } else {
                found
            })
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

fn on_list(list: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted,): (Value,) = from_args(args)?;
    match method {
        "count" => Ok(Value::from(
            list.try_iter()?.filter(|v| *v == wanted).count(),
        )),
        "index" => match list.try_iter()?.position(|v| v == wanted) {
            Some(at) => Ok(Value::from(at)),
            None => Err(Error::new(ErrorKind::InvalidOperation, "not in list")),
        },
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}
