//! Takes the importers' stream into the file. Identity is content: what is known already changes nothing,
//! a grown run gets only what is new, and another run of the same name gets a suffix.

use super::bodies::{Hash, Writer};
use super::parcel::{Ended, PackedText, Packer, Parcel, Ready};
use super::{Store, StoreError};
use crate::domain::{Call, ForeignLabel, Item, Reward, Rollout, Sink, Skip, Step};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

mod held;
mod identity;
mod left;
mod open;
mod revised;
pub(super) mod rows;

use identity::Arrival;
pub(super) use identity::link;
use left::has_died;
use open::OpenRun;

/// While rows stream in: the writer itself writes texts before steps and runs with their steps, so looking each of them up again
/// is skipped; indices in random order stay in memory; pages that change often are copied into the file seldom.
const BULK_ON: &str =
    "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 16384;";
/// As `Store::connect` sets them.
const BULK_OFF: &str =
    "PRAGMA foreign_keys = ON; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 1000;";
/// Commit after so many bytes of new texts, so that the write-ahead log and a crash's loss stay small.
const COMMIT_BYTES: u64 = 48 << 20;
/// Commit after so many steps, so that the first rows of a huge run are seen early.
const COMMIT_STEPS: u64 = 50_000;
/// Skips kept word for word; more are only counted.
const MAX_SKIPS: usize = 10_000;
/// Rows left by an import of which nobody can tell whether it died are swept after this long.
const STALE_US: i64 = 3_600_000_000;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntakeCounts {
    /// Runs that were read to their end.
    pub read: u64,
    /// New runs.
    pub stored: u64,
    /// Runs that were here already.
    pub duplicates: u64,
    /// Runs that were here and have grown.
    pub grown: u64,
    /// Runs whose steps were here and whose rewards or labels are new.
    pub updated: u64,
    /// Steps written.
    pub steps: u64,
    /// Calls written.
    pub calls: u64,
    /// Bytes of step texts handed in.
    pub bytes_in: u64,
    /// Bytes of step texts that were new.
    pub bytes_new: u64,
    /// Skips beyond those kept in `skipped`.
    pub more_skips: u64,
    /// What could not be read.
    pub skipped: Vec<Skip>,
    /// Row types and fields that were not understood, with counts.
    pub not_understood: BTreeMap<String, u64>,
}

/// A file's marks, by which a re-import sees that nothing changed without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMark {
    /// As the user named it.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Modification time, microseconds UTC.
    pub mtime_us: i64,
}

/// An import under way. Call `finish`; dropping it keeps what was committed so far.
pub struct Intake<'a> {
    store: &'a Store,
    now_us: i64,
    bodies: Writer,
    packer: Packer,
    open: Option<OpenRun>,
    counts: IntakeCounts,
    since_commit: (u64, u64),
    failed: Option<StoreError>,
}

impl Store {
    /// Starts an import.
    pub fn intake(&mut self, now_us: i64) -> Result<Intake<'_>, StoreError> {
        self.must_write()?;
        self.db.execute_batch(BULK_ON)?;
        if let Err(error) = self.db.execute_batch("BEGIN IMMEDIATE") {
            // Another program writes. The store goes on as it was.
            self.db.execute_batch(BULK_OFF)?;
            return Err(error.into());
        }
        let intake = Intake {
            store: self,
            now_us,
            bodies: Writer::default(),
            packer: Packer::default(),
            open: None,
            counts: IntakeCounts::default(),
            since_commit: (0, 0),
            failed: None,
        };
        intake.sweep()?;
        Ok(intake)
    }

    /// A file with these marks was imported to its end before.
    pub fn is_unchanged(&self, mark: &SourceMark) -> Result<bool, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT size = ?2 AND mtime_us = ?3 FROM source WHERE path = ?1")?;
        let row = query
            .query_row(params![mark.path, mark.size as i64, mark.mtime_us], |row| {
                row.get(0)
            })
            .optional()?;
        Ok(row.unwrap_or(false))
    }

    /// The report that was kept when a file was imported to its end, as JSON.
    pub fn source_report(&self, path: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT report FROM source WHERE path = ?1";
        Ok(self
            .db
            .prepare_cached(sql)?
            .query_row([path], |row| row.get(0))
            .optional()?)
    }
}

impl Intake<'_> {
    /// Remembers a file that was read to its end, with its report as JSON.
    pub fn mark_source(
        &mut self,
        mark: &SourceMark,
        format: &str,
        report: &str,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO source (path, size, mtime_us, format, imported_us, report) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_us = excluded.mtime_us,
               format = excluded.format, imported_us = excluded.imported_us, report = excluded.report";
        let values = params![
            mark.path,
            mark.size as i64,
            mark.mtime_us,
            format,
            self.now_us,
            report
        ];
        self.store.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// What was done so far.
    pub fn counts(&self) -> &IntakeCounts {
        &self.counts
    }

    /// Takes the counts so far and starts new ones, for a report a file.
    pub fn take_counts(&mut self) -> IntakeCounts {
        self.counts.bytes_in = self.bodies.bytes_in;
        self.counts.bytes_new = self.bodies.bytes_new;
        (self.bodies.bytes_in, self.bodies.bytes_new) = (0, 0);
        self.since_commit.0 = 0;
        std::mem::take(&mut self.counts)
    }

    /// Commits and ends the import.
    pub fn finish(mut self) -> Result<IntakeCounts, StoreError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.abandon()?;
        self.store.db.execute_batch("COMMIT")?;
        self.store.db.execute_batch(BULK_OFF)?;
        Ok(self.take_counts())
    }

    /// Drops a run whose end never came (the reader stopped): what the next import finds is clean.
    fn abandon(&mut self) -> Result<(), StoreError> {
        match self.open.take().and_then(|open| open.seq) {
            Some(seq) => self.delete_run(seq),
            None => Ok(()),
        }
    }

    /// Drops what imports left that were killed. What another one is writing just now stays.
    fn sweep(&self) -> Result<(), StoreError> {
        let sql = "SELECT seq, id, imported_us FROM run WHERE id GLOB 'importing~*'";
        let mut query = self.store.db.prepare(sql)?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let left: Vec<(i64, String, i64)> = rows.collect::<Result<_, _>>()?;
        for (seq, id, at_us) in left {
            if at_us < self.now_us - STALE_US || has_died(&id) {
                self.delete_run(seq)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, parcel: Parcel) -> Result<(), StoreError> {
        match parcel.0 {
            Ready::Step(step, text, chain) => self.step(step, text, chain),
            Ready::Call(call, blob) => self.call(call, blob),
            Ready::End(ended) => self.end(*ended),
            Ready::Plain(item) => self.plain(item),
            Ready::Broken(error) => Err(error),
        }
    }

    fn plain(&mut self, item: Item) -> Result<(), StoreError> {
        match item {
            Item::Begin(head) => self.begin(head),
            // The packer turned these into parcels of their own.
            Item::Step(_) | Item::Call(_) | Item::End(_) => Ok(()),
            Item::Reward(reward) => self.reward(reward),
            Item::Label(label) => self.label(label),
            Item::Skip(skip) => {
                if self.counts.skipped.len() < MAX_SKIPS {
                    self.counts.skipped.push(skip);
                } else {
                    self.counts.more_skips += 1;
                }
                Ok(())
            }
            Item::NotUnderstood { what, count } => {
                *self.counts.not_understood.entry(what).or_default() += count;
                Ok(())
            }
        }
    }

    fn begin(&mut self, head: Box<Rollout>) -> Result<(), StoreError> {
        self.abandon()?;
        let known = self.known_like(&head)?;
        self.open = Some(OpenRun::new(head, known));
        Ok(())
    }

    fn step(&mut self, step: Box<Step>, text: PackedText, chain: Hash) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let size = text.size;
        let body = self.bodies.put(&self.store.db, text)?;
        open.step(step, body, size, chain);
        self.counts.steps += 1;
        self.since_commit.1 += 1;
        self.spill_if_full()?;
        self.commit_if_due()
    }

    fn call(&mut self, call: Box<Call>, blob: Vec<u8>) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        open.call(call, blob);
        self.counts.calls += 1;
        self.spill_if_full()
    }

    fn reward(&mut self, reward: Box<Reward>) -> Result<(), StoreError> {
        if let Some(open) = &mut self.open {
            open.reward(reward);
        }
        self.spill_if_full()
    }

    fn label(&mut self, label: Box<ForeignLabel>) -> Result<(), StoreError> {
        if let Some(open) = &mut self.open {
            open.label(label);
        }
        self.spill_if_full()
    }

    fn end(&mut self, ended: Ended) -> Result<(), StoreError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        self.counts.read += 1;
        open.facts.update(&ended.plain);
        match self.arrival(&mut open, &ended.head)? {
            Arrival::New => {
                let id = self.free_id(&open, &ended.head)?;
                self.seal(open.seq, &id, &mut open, &ended)?;
                self.counts.stored += 1;
            }
            Arrival::Duplicate => {
                open.seq.map_or(Ok(()), |seq| self.delete_run(seq))?;
                self.counts.steps -= u64::from(open.steps);
                self.counts.calls -= u64::from(open.calls);
                self.counts.duplicates += 1;
            }
            Arrival::Updated { seq, id } => {
                self.replace(seq, &open)?;
                self.seal(Some(seq), &id, &mut open, &ended)?;
                self.counts.updated += 1;
            }
            Arrival::Grown { seq, id, had } => {
                self.replace(seq, &open)?;
                self.seal(Some(seq), &id, &mut open, &ended)?;
                self.counts.steps -= u64::from(had);
                self.counts.grown += 1;
            }
        }
        self.commit_if_due()
    }

    fn spill_if_full(&mut self) -> Result<(), StoreError> {
        match self.open.take_if(|open| open.held.is_full()) {
            Some(mut open) => {
                self.spill(&mut open)?;
                self.open = Some(open);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn commit_if_due(&mut self) -> Result<(), StoreError> {
        let new_bytes = self.bodies.bytes_new.saturating_sub(self.since_commit.0);
        if new_bytes < COMMIT_BYTES && self.since_commit.1 < COMMIT_STEPS {
            return Ok(());
        }
        // A run of which a part was written says how far it got, so that the next import takes it up after a kill.
        if let Some(mut open) = self.open.take_if(|open| open.seq.is_some()) {
            self.spill(&mut open)?;
            self.open = Some(open);
        }
        self.store.db.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
        self.since_commit = (self.bodies.bytes_new, 0);
        Ok(())
    }
}

impl Intake<'_> {
    /// Takes an item that a packer made ready on another thread.
    pub fn put_parcel(&mut self, parcel: Parcel) -> ControlFlow<()> {
        if self.failed.is_some() {
            return ControlFlow::Break(());
        }
        match self.take(parcel) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Sink for Intake<'_> {
    fn put(&mut self, item: Item) -> ControlFlow<()> {
        let parcel = self.packer.pack(item);
        self.put_parcel(parcel)
    }
}

impl Drop for Intake<'_> {
    fn drop(&mut self) {
        if !self.store.db.is_autocommit() {
            // Not finished: keep what was committed before, drop the rest.
            self.bodies.forget();
            let _ = self.store.db.execute_batch("ROLLBACK");
            let _ = self.store.db.execute_batch(BULK_OFF);
        }
    }
}

/// A minted id: short, from content.
fn minted_id(chain: &Hash) -> String {
    chain
        .iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// An import that cannot begin, because another program writes, and one that ends: both leave the connection as it was.
    #[test]
    fn settings_for_bulk_do_not_outlive_an_import() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("w.db");
        let mut store = Store::create(&file).unwrap();
        store.db.busy_timeout(std::time::Duration::ZERO).unwrap();
        let settings = |store: &Store| {
            ["foreign_keys", "cache_size", "wal_autocheckpoint"].map(|name| {
                let ask = format!("PRAGMA {name}");
                let value: i64 = store.db.query_row(&ask, [], |row| row.get(0)).unwrap();
                value
            })
        };
        let before = settings(&store);
        let other = Connection::open(&file).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(store.intake(1), Err(StoreError::Busy)));
        assert_eq!(settings(&store), before);
        other.execute_batch("ROLLBACK").unwrap();
        drop(store.intake(1).unwrap());
        assert_eq!(settings(&store), before);
        store.intake(1).unwrap().finish().unwrap();
        assert_eq!(settings(&store), before);
    }
}
