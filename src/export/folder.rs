//! The folder that a set is written into: files grow in a hidden place beside it and appear all at once, the
//! manifest last. A folder without a manifest is no export; a file that we did not write is never overwritten.

use super::error::Error;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
const PARTIAL: &str = ".triagent-partial";

/// A file of the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Path inside the folder, with `/`.
    pub name: String,
    /// Rows, where it has rows.
    pub rows: u64,
    /// Length.
    pub bytes: u64,
    /// SHA-256 of the whole file, in hex.
    pub sha256: String,
}

/// Counts and hashes what passes through.
pub(crate) struct Hashing<W> {
    inner: W,
    sha: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(data)?;
        self.sha.update(&data[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A file under way.
pub(crate) type Sheet = BufWriter<Hashing<File>>;

struct Open {
    sheet: Sheet,
    rows: u64,
}

/// The folder under way.
pub(crate) struct Folder {
    out: PathBuf,
    partial: PathBuf,
    open: BTreeMap<String, Open>,
    closed: Vec<FileRecord>,
    ours: Vec<String>,
}

impl Folder {
    /// Starts a set in `out`.
    pub(crate) fn create(out: &Path) -> Result<Self, Error> {
        let partial = out.join(PARTIAL);
        let ours = previous_files(out);
        fs::create_dir_all(out).map_err(|e| Error::io(out, e))?;
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(|e| Error::io(&partial, e))?;
        }
        fs::create_dir(&partial).map_err(|e| Error::io(&partial, e))?;
        let (out, open, closed) = (out.to_owned(), BTreeMap::new(), Vec::new());
        Ok(Self {
            out,
            partial,
            open,
            closed,
            ours,
        })
    }

    /// Writes one row as one line.
    pub(crate) fn line<T: Serialize>(&mut self, name: &str, row: &T) -> Result<(), Error> {
        let path = self.partial.join(name);
        let open = self.file(name)?;
        serde_json::to_writer(&mut open.sheet, row).map_err(|e| Error::io(&path, e.into()))?;
        open.rows += 1;
        open.sheet.write_all(b"\n").map_err(|e| Error::io(&path, e))
    }

    /// Writes a whole file.
    pub(crate) fn whole(&mut self, name: &str, bytes: &[u8], rows: u64) -> Result<(), Error> {
        let path = self.partial.join(name);
        let open = self.file(name)?;
        open.rows += rows;
        open.sheet
            .write_all(bytes)
            .map_err(|e| Error::io(&path, e))?;
        self.close(name)
    }

    /// A place for a file that never becomes part of the set.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.partial.join(format!("scratch-{name}"))
    }

    /// Hands out a new file that something else fills; `give_back` closes it.
    pub(crate) fn lend(&self, name: &str) -> Result<Sheet, Error> {
        let path = self.partial.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
        }
        let file = File::create(&path).map_err(|e| Error::io(&path, e))?;
        let (sha, bytes) = (Sha256::new(), 0);
        Ok(BufWriter::with_capacity(
            1 << 18,
            Hashing {
                inner: file,
                sha,
                bytes,
            },
        ))
    }

    /// Closes a lent file.
    pub(crate) fn give_back(&mut self, name: &str, sheet: Sheet, rows: u64) -> Result<(), Error> {
        let path = self.partial.join(name);
        let hashing = sheet
            .into_inner()
            .map_err(|e| Error::io(&path, e.into_error()))?;
        hashing.inner.sync_all().map_err(|e| Error::io(&path, e))?;
        let (name, bytes) = (name.to_owned(), hashing.bytes);
        let sha256 = hex(&hashing.sha.finalize());
        self.closed.push(FileRecord {
            name,
            rows,
            bytes,
            sha256,
        });
        Ok(())
    }

    /// Closes all files and says what they are.
    pub(crate) fn close_all(&mut self) -> Result<Vec<FileRecord>, Error> {
        let names: Vec<String> = self.open.keys().cloned().collect();
        for name in names {
            self.close(&name)?;
        }
        self.closed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(self.closed.clone())
    }

    /// Puts the files in their places, the manifest last, and removes what the set before left behind.
    pub(crate) fn publish(mut self) -> Result<(), Error> {
        self.close_all()?;
        let mut names: Vec<String> = self.closed.iter().map(|f| f.name.clone()).collect();
        names.sort_by_key(|name| (name == MANIFEST, name.clone()));
        for name in &names {
            let known = name == MANIFEST || self.ours.contains(name);
            if self.out.join(name).exists() && !known {
                return Err(Error::InTheWay(self.out.join(name)));
            }
        }
        // An old manifest must not vouch for new files, should we die half way.
        let _ = fs::remove_file(self.out.join(MANIFEST));
        for old in self.ours.iter().filter(|old| !names.contains(old)) {
            let _ = fs::remove_file(self.out.join(old));
        }
        for name in &names {
            let to = self.out.join(name);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(|e| Error::io(parent, e))?;
            }
            fs::rename(self.partial.join(name), &to).map_err(|e| Error::io(&to, e))?;
        }
        Ok(())
    }

    fn file(&mut self, name: &str) -> Result<&mut Open, Error> {
        if !self.open.contains_key(name) {
            let sheet = self.lend(name)?;
            self.open.insert(name.to_owned(), Open { sheet, rows: 0 });
        }
        self.open
            .get_mut(name)
            .ok_or_else(|| Error::InTheWay(self.partial.join(name)))
    }

    fn close(&mut self, name: &str) -> Result<(), Error> {
        match self.open.remove(name) {
            Some(open) => self.give_back(name, open.sheet, open.rows),
            None => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing half written stays behind; a failure to tidy up is not worth hiding the real one.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

/// Files that an earlier export of ours left in the folder.
fn previous_files(out: &Path) -> Vec<String> {
    #[derive(Deserialize)]
    struct Old {
        triagent: String,
        files: Vec<FileRecord>,
    }
    let read = fs::read(out.join(MANIFEST)).ok();
    let old = read.and_then(|bytes| serde_json::from_slice::<Old>(&bytes).ok());
    let Some(old) = old.filter(|o| !o.triagent.is_empty()) else {
        return Vec::new();
    };
    let plain = |name: &String| {
        Path::new(name)
            .components()
            .all(|c| matches!(c, Component::Normal(_)))
    };
    let mut names: Vec<String> = old
        .files
        .into_iter()
        .map(|f| f.name)
        .filter(plain)
        .collect();
    names.push(super::card::CARD.to_owned());
    names
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
