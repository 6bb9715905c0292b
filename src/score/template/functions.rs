//! What transformers adds to Jinja: `raise_exception`, `strftime_now`, generation marks.

use super::{GENERATION_END, GENERATION_START};
use crate::score::error::ScoreError;
use minijinja::{Environment, Error, ErrorKind, State, Value, context};

/// Name of the flag that switches generation marks on.
pub(super) const MARK: &str = "__mark_generation";

pub(super) fn install(env: &mut Environment<'static>) {
    env.add_function("raise_exception", |why: String| -> Result<Value, Error> {
        Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("the template says: {why}"),
        ))
    });
    env.add_filter(
        "__generation",
        |state: &mut State<'_, '_>, body: String| match state.lookup(MARK) {
            Some(on) if on.is_true() => format!("{GENERATION_START}{body}{GENERATION_END}"),
            _ => body,
        },
    );
}

/// Turns `{% generation %}` blocks into filter blocks, which minijinja knows.
pub(super) fn with_generation_filter(source: &str) -> Result<String, ScoreError> {
    let tag =
        |pattern: &str| regex::Regex::new(pattern).map_err(|e| ScoreError::Template(e.to_string()));
    let open = tag(r"\{%([-+]?)\s*generation\s*([-+]?)%\}")?;
    let close = tag(r"\{%([-+]?)\s*endgeneration\s*([-+]?)%\}")?;
    let source = open.replace_all(source, "{%$1 filter __generation $2%}");
    Ok(close
        .replace_all(&source, "{%$1 endfilter $2%}")
        .into_owned())
}

/// Offers `strftime_now` where the time is known. Without it, templates that test for it use their
/// own default, and others fail with its name.
pub(super) fn clock(now_us: Option<i64>) -> Value {
    let Some(now) = now_us.and_then(|us| jiff::Timestamp::from_microsecond(us).ok()) else {
        return context! {};
    };
    let civil = jiff::tz::Offset::UTC.to_datetime(now);
    let strftime = Value::from_function(move |format: &str| -> Result<String, Error> {
        jiff::fmt::strtime::format(format, civil)
            .map_err(|e| Error::new(ErrorKind::InvalidOperation, e.to_string()))
    });
    context! { strftime_now => strftime }
}
