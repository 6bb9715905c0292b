//! Values as Python writes them: `json.dumps`, `str`, `repr`, and Jinja's tests with Python's meaning.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use std::fmt::Write;

/// Pays for work with the template's fuel. Values can hold one list many times over, so what is
/// small in memory may be endless in writing.
type Spend<'a> = &'a dyn Fn(u64) -> Result<(), Error>;

pub(super) fn install(env: &mut Environment<'static>) {
    env.add_filter("tojson", tojson);
    env.add_filter("string", |state: &State<'_, '_>, value: &Value| {
        py_str(value, &|fuel| state.consume_fuel(fuel))
    });
    env.set_formatter(|out, state, value| {
        let text = py_str(value, &|fuel| state.consume_fuel(fuel))?;
        out.write_str(&text).map_err(Error::from)
    });
    // In Jinja a string and a dict are sequences too, and True is a number.
    env.add_test("sequence", |v: &Value| {
        matches!(
            v.kind(),
            ValueKind::Seq | ValueKind::String | ValueKind::Map
        )
    });
    env.add_test("iterable", |v: &Value| {
        v.kind() == ValueKind::String || (!v.is_none() && v.try_iter().is_ok())
    });
    env.add_test("number", |v: &Value| {
        matches!(v.kind(), ValueKind::Number | ValueKind::Bool)
    });
}

/// `str(value)`.
fn py_str(value: &Value, spend: Spend<'_>) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Undefined => Ok(String::new()),
        _ => {
            let mut out = String::new();
            write_repr(&mut out, value, spend)?;
            Ok(out)
        }
    }
}

/// `repr(value)`.
fn write_repr(out: &mut String, value: &Value, spend: Spend<'_>) -> Result<(), Error> {
    spend(1)?;
    match value.kind() {
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            spend(bytes(text))?;
            write_quoted(out, text);
        }
        ValueKind::Number => out.push_str(&py_number(value)),
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (i, item) in value.try_iter()?.enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_repr(out, &item, spend)?;
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            for (i, key) in value.try_iter()?.enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_repr(out, &key, spend)?;
                out.push_str(": ");
                write_repr(out, &value.get_item(&key)?, spend)?;
            }
            out.push('}');
        }
        _ => {
            let _ = write!(out, "{value}");
        }
    }
    Ok(())
}

/// Fuel for so many bytes.
pub(super) fn bytes(text: &str) -> u64 {
    text.len() as u64 / 64
}

/// Python prefers single quotes and changes to double ones when that saves escapes.
fn write_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if u32::from(c) < 0x20 || u32::from(c) == 0x7f => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

fn py_number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    f64::try_from(value.clone()).map_or_else(|_| value.to_string(), py_float)
}

/// `repr(float)`: shortest digits that read back, exponent from 1e16 and below 1e-4.
pub(super) fn py_float(x: f64) -> String {
    if !x.is_finite() {
        return if x.is_nan() {
            "nan"
        } else if x > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{x}");
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

/// `json.dumps(x, ensure_ascii=False, indent=…, separators=…, sort_keys=…)`, as transformers offers it.
fn tojson(state: &State<'_, '_>, value: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let indent: Option<usize> = kwargs.get("indent")?;
    let separators: Option<Vec<String>> = kwargs.get("separators")?;
    let spend = |fuel| state.consume_fuel(fuel);
    let style = JsonStyle {
        spend: &spend,
        ascii: kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
        sorted: kwargs.get::<Option<bool>>("sort_keys")?.unwrap_or(false),
        item: item_separator(separators.as_deref(), indent)?,
        key: separators
            .as_deref()
            .map_or(": ", |s| s[1].as_str())
            .to_owned(),
        indent,
    };
    kwargs.assert_all_used()?;
    let mut out = String::new();
    style.write(&mut out, value, 0)?;
    Ok(Value::from(out))
}

/// `json.dumps(x, ensure_ascii=False, separators=(item, key))` of plain JSON.
pub(in crate::score) fn to_json(json: &serde_json::Value, item: &str, key: &str) -> String {
    let style = JsonStyle {
        spend: &|_| Ok(()),
        ascii: false,
        sorted: false,
        item: item.to_owned(),
        key: key.to_owned(),
        indent: None,
    };
    let mut out = String::new();
    // Plain JSON has no values that cannot be written.
    let _ = style.write(&mut out, &super::from_json(json), 0);
    out
}

fn item_separator(separators: Option<&[String]>, indent: Option<usize>) -> Result<String, Error> {
    match separators {
        Some([item, _]) => Ok(item.clone()),
        Some(_) => Err(Error::new(
            ErrorKind::InvalidOperation,
            "separators must be a pair",
        )),
        None => Ok(if indent.is_some() { "," } else { ", " }.to_owned()),
    }
}

struct JsonStyle<'a> {
    spend: Spend<'a>,
    ascii: bool,
    sorted: bool,
    item: String,
    key: String,
    indent: Option<usize>,
}

impl JsonStyle<'_> {
    fn write(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        (self.spend)(1)?;
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&json_number(value)),
            ValueKind::String => {
                let text = value.as_str().unwrap_or_default();
                (self.spend)(bytes(text))?;
                self.write_text(out, text);
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.map(|v| (None, v)).collect();
                self.write_items(out, items, '[', ']', depth)?;
            }
            ValueKind::Map => {
                let mut items = Vec::new();
                for key in value.try_iter()? {
                    let item = value.get_item(&key)?;
                    items.push((Some(py_str(&key, self.spend)?), item));
                }
                if self.sorted {
                    items.sort_by(|a, b| a.0.cmp(&b.0));
                }
                self.write_items(out, items, '{', '}', depth)?;
            }
            kind => {
                let why = format!("{kind} is not JSON serializable");
                return Err(Error::new(ErrorKind::InvalidOperation, why));
            }
        }
        Ok(())
    }

    fn write_items(
        &self,
        out: &mut String,
        items: Vec<(Option<String>, Value)>,
        open: char,
        close: char,
        depth: usize,
    ) -> Result<(), Error> {
        out.push(open);
        let is_empty = items.is_empty();
        for (i, (key, item)) in items.into_iter().enumerate() {
            if i > 0 {
                out.push_str(&self.item);
            }
            self.break_line(out, depth + 1);
            if let Some(key) = key {
                self.write_text(out, &key);
                out.push_str(&self.key);
            }
            self.write(out, &item, depth + 1)?;
        }
        if !is_empty {
            self.break_line(out, depth);
        }
        out.push(close);
        Ok(())
    }

    fn break_line(&self, out: &mut String, depth: usize) {
        if let Some(width) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    }

    fn write_text(&self, out: &mut String, text: &str) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if u32::from(c) < 0x20 || (self.ascii && !c.is_ascii()) => {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
    }
}

fn json_number(value: &Value) -> String {
    match py_number(value).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        number => number.to_owned(),
    }
}
