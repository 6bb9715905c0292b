//! Counts the runs of a filter by the values of their columns, all columns in one pass over the runs.

use super::query::{self, Where};
use super::{Store, StoreError};
use crate::domain::Filter;
use crate::domain::filter::Field;
use rusqlite::params_from_iter;
use rusqlite::types::ValueRef;
use std::collections::{HashMap, HashSet};

/// One value of a facet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetCount {
    /// The value; `None` where runs have none.
    pub value: Option<String>,
    /// Runs.
    pub count: u64,
}

/// Values of one facet shown at the most.
const SHOWN: usize = 200;

/// How often each value was seen; values stay bytes until all are counted.
type Counts = HashMap<Box<[u8]>, u64>;

impl Store {
    /// Counts the runs that pass by each value of each field, most first.
    pub fn facets(
        &self,
        filter: &Filter,
        fields: &[Field],
    ) -> Result<Vec<Vec<FacetCount>>, StoreError> {
        self.counted(Where::of(filter), fields, |_| true)
    }

    /// Counts the runs of a list that is known already: what it took to find them is not done twice.
    pub fn facets_of(
        &self,
        seqs: &[i64],
        fields: &[Field],
    ) -> Result<Vec<Vec<FacetCount>>, StoreError> {
        let wanted: HashSet<i64> = seqs.iter().copied().collect();
        self.counted(Where::of(&Filter::default()), fields, |seq| {
            wanted.contains(&seq)
        })
    }

    fn counted(
        &self,
        wanted: Where,
        fields: &[Field],
        is_wanted: impl Fn(i64) -> bool,
    ) -> Result<Vec<Vec<FacetCount>>, StoreError> {
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let said = [
            self.said("SELECT run, layer FROM current_verdict")?,
            self.said("SELECT run, cause FROM current_verdict WHERE cause IS NOT NULL")?,
            self.said("SELECT run, outcome FROM current_outcome")?,
        ];
        let columns: Vec<&str> = fields.iter().map(|field| stored(*field)).collect();
        let sql = format!(
            "SELECT r.id, {}, r.seq FROM run r WHERE {}",
            columns.join(", "),
            wanted.sql
        );
        let mut counts: Vec<(Counts, u64)> = vec![(Counts::new(), 0); fields.len()];
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(wanted.values))?;
        while let Some(row) = rows.next()? {
            if !is_wanted(row.get(fields.len() + 1)?) {
                continue;
            }
            let run = row.get_ref(0)?.as_bytes().unwrap_or_default();
            for (at, field) in fields.iter().enumerate() {
                let by_people = match field {
                    Field::Layer => said[0].get(run),
                    Field::Cause => said[1].get(run),
                    Field::Outcome => said[2].get(run),
                    _ => None,
                };
                let value = match by_people {
                    Some(value) => ValueRef::Text(value),
                    None => row.get_ref(at + 1)?,
                };
                count(&mut counts[at], value);
            }
        }
        Ok(counts.into_iter().map(sorted).collect())
    }

    /// What people said of runs: few against the runs themselves.
    fn said(&self, sql: &str) -> Result<HashMap<Vec<u8>, Vec<u8>>, StoreError> {
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            let (run, value): (String, String) = (row.get(0)?, row.get(1)?);
            Ok((run.into_bytes(), value.into_bytes()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The column of the log's own value; what people said is held against it in memory, not looked up row by row.
fn stored(field: Field) -> &'static str {
    match field {
        Field::Outcome => "r.outcome",
        Field::Layer | Field::Cause => "NULL",
        other => query::column(other),
    }
}

fn count((counts, none): &mut (Counts, u64), value: ValueRef<'_>) {
    let number;
    let bytes = match value {
        ValueRef::Null | ValueRef::Blob(_) => {
            *none += 1;
            return;
        }
        ValueRef::Text(text) => text,
        ValueRef::Integer(n) => {
            number = n.to_string();
            number.as_bytes()
        }
        ValueRef::Real(x) => {
            number = x.to_string();
            number.as_bytes()
        }
    };
    match counts.get_mut(bytes) {
        Some(seen) => *seen += 1,
        None => {
            counts.insert(bytes.into(), 1);
        }
    }
}

/// Most first; equal counts by value, so that the list does not jump.
fn sorted((counts, none): (Counts, u64)) -> Vec<FacetCount> {
    let of = |value: Option<String>, count| FacetCount { value, count };
    let mut all: Vec<FacetCount> = counts
        .into_iter()
        .map(|(value, count)| of(Some(String::from_utf8_lossy(&value).into_owned()), count))
        .collect();
    if none > 0 {
        all.push(of(None, none));
    }
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    all.truncate(SHOWN);
    all
}
