//! Says whether a run that the same place of the same file tells with another end is the old one told further: everything
//! that the old one said must stand in the new one. It decides nothing about names.

use super::super::StoreError;
use super::super::bodies;
use super::Intake;
use rusqlite::params;

/// A step, as far as this comparison goes.
struct Told {
    owner: String,
    kind: String,
    message: u32,
    body: i64,
    size: usize,
    tool_call_id: Option<String>,
}

impl Told {
    fn is(&self, other: &Self) -> bool {
        self.body == other.body && self.is_like(other)
    }

    /// The same but for the text.
    fn is_like(&self, other: &Self) -> bool {
        self.owner == other.owner
            && self.kind == other.kind
            && self.tool_call_id == other.tool_call_id
    }

    fn is_model(&self) -> bool {
        self.owner == crate::domain::Owner::Model.word()
    }
}

impl Intake<'_> {
    /// The new run says all that the old one said, and more: up to one message they are equal; that message has grown, by
    /// the rest of a text or by more steps; behind it the old run had nothing but what others answered, which the new run
    /// has too. Another sample that was written over the first one says other things, and is a run of its own.
    pub(super) fn tells_further(&self, old: i64, new: i64) -> Result<bool, StoreError> {
        let (old, new) = (self.told(old)?, self.told(new)?);
        let Some(at) = old.iter().zip(&new).position(|(a, b)| !a.is(b)) else {
            return Ok(old.len() <= new.len());
        };
        let (Some(was), Some(now)) = (old.get(at), new.get(at)) else {
            return Ok(false);
        };
        let is_half = was.message == now.message && was.is_like(now) && self.is_start(was, now)?;
        let before = at.checked_sub(1).and_then(|before| old.get(before));
        let has_more = now.is_model() && before.is_some_and(|b| b.message == now.message);
        // An answer in which nothing stood yet was told as an empty step.
        let was_empty = was.size == 0 && was.message == now.message && was.owner == now.owner;
        let rest = old.get(at + usize::from(is_half || was_empty)..);
        let rest = rest.unwrap_or_default();
        let may_go_on = now.is_model() && rest.iter().all(|step| !step.is_model());
        let mut behind = new.iter().skip(at).filter(|s| s.message != now.message);
        Ok((is_half || has_more || was_empty)
            && (rest.is_empty() || may_go_on)
            && rest
                .iter()
                .all(|step| behind.any(|candidate| step.is(candidate))))
    }

    fn told(&self, run: i64) -> Result<Vec<Told>, StoreError> {
        let sql = "SELECT owner, kind, message, body, size, tool_call_id FROM step WHERE run = ?1 ORDER BY idx";
        let mut query = self.store.db.prepare_cached(sql)?;
        let rows = query.query_map([run], |row| {
            Ok(Told {
                owner: row.get(0)?,
                kind: row.get(1)?,
                message: row.get(2)?,
                body: row.get(3)?,
                size: row.get::<_, i64>(4)?.try_into().unwrap_or(0),
                tool_call_id: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The old text is the beginning of the new one.
    fn is_start(&self, old: &Told, new: &Told) -> Result<bool, StoreError> {
        Ok(old.size < new.size
            && self.start_of(old.body, old.size)? == self.start_of(new.body, old.size)?)
    }

    fn start_of(&self, body: i64, limit: usize) -> Result<String, StoreError> {
        let sql = "SELECT packed, data FROM body WHERE id = ?1";
        let mut query = self.store.db.prepare_cached(sql)?;
        let (packed, data): (bool, Vec<u8>) =
            query.query_row(params![body], |row| Ok((row.get(0)?, row.get(1)?)))?;
        bodies::start(packed, &data, limit)
    }
}
