//! Scores, keyed by what was scored and the exact model. Scores of different bindings never mix.

use super::blobs;
use super::registers::to_json;
use super::{Store, StoreError};
use crate::domain::{DecisionId, RunId, Score, ScoreSubject};
use rusqlite::params;

impl Store {
    /// Keeps scores. `run` is the run whose context was scored.
    pub fn put_scores(
        &mut self,
        run: &RunId,
        scores: &[Score],
        now_us: i64,
    ) -> Result<(), StoreError> {
        self.must_write()?;
        let transaction = self.db.transaction()?;
        for score in scores {
            let sql = "INSERT INTO score (subject, binding, run, at_us, data) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (subject, binding) DO UPDATE SET at_us = excluded.at_us, data = excluded.data";
            transaction.prepare_cached(sql)?.execute(params![
                subject_key(&score.subject),
                to_json("binding", &score.binding)?,
                run.as_str(),
                now_us,
                blobs::pack(score)?,
            ])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// All scores of a run's steps and of pairs whose context is the run's.
    pub fn scores_of_run(&self, run: &RunId) -> Result<Vec<Score>, StoreError> {
        self.scores_where("run = ?1", run.as_str())
    }

    /// All scores of a pair's sides.
    pub fn scores_of_pair(&self, pair: &DecisionId) -> Result<Vec<Score>, StoreError> {
        self.scores_where(
            "subject IN (?1 || ' a', ?1 || ' b')",
            &format!("pair {pair}"),
        )
    }

    /// All scores.
    pub fn scores(&self) -> Result<Vec<Score>, StoreError> {
        self.scores_where("?1 = ?1", "")
    }

    fn scores_where(&self, clause: &str, value: &str) -> Result<Vec<Score>, StoreError> {
        let sql = format!("SELECT data FROM score WHERE {clause} ORDER BY run, subject, binding");
        let mut query = self.db.prepare_cached(&sql)?;
        let blobs: Vec<Vec<u8>> = query
            .query_map([value], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        blobs
            .iter()
            .map(|blob| blobs::unpack("score", blob))
            .collect()
    }
}

fn subject_key(subject: &ScoreSubject) -> String {
    match subject {
        ScoreSubject::Step(at) => format!("step {at}"),
        ScoreSubject::PairSide { pair, side } => format!("pair {pair} {side}"),
    }
}
