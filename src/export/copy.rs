//! Gates for copies: everything may leave but what nobody may see. Nothing is judged as a lesson here.

use super::desk::Desk;
use super::error::Error;
use super::gate::{replaceable, resolved};
use super::input::{PairInput, RunInput};
use super::redact::{Redactor, is_redacted};
use super::why::Why;
use crate::domain::FindingKind;
use serde::Serialize;
use serde_json::Value;

/// Secrets and personal data of the run are decided.
pub(crate) fn may_leave(run: &RunInput, desk: &Desk<'_>) -> Result<(), Why> {
    let undecided = desk.options.undecided;
    let mut sensitive = run
        .findings
        .iter()
        .filter(|s| matches!(s.finding.kind, FindingKind::Secret | FindingKind::Personal));
    let known = |id: &str| run.redactions.iter().any(|r| r.finding == id);
    sensitive.try_for_each(|state| {
        if is_redacted(state, undecided) {
            replaceable(state, known(&state.finding.id))
        } else {
            resolved(state)
        }
    })
}

/// Both runs of a pair may leave; else it stays out.
pub(crate) fn pair_may_leave(pair: &PairInput, desk: &mut Desk<'_>) -> bool {
    match may_leave(&pair.a, desk).and_then(|()| may_leave(&pair.b, desk)) {
        Ok(()) => true,
        Err(why) => {
            desk.leave_out(&pair.record.id, &why);
            false
        }
    }
}

/// The value with placeholders in place.
pub(crate) fn redacted<T: Serialize>(
    of: &T,
    run: &RunInput,
    desk: &Desk<'_>,
) -> Result<Value, Error> {
    let mut value = serde_json::to_value(of).map_err(|e| Error::Options(e.to_string()))?;
    if !run.redactions.is_empty() {
        Redactor::of(run, desk.options.undecided).value(&mut value);
    }
    Ok(value)
}
