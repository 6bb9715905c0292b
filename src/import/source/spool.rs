//! A temporary file without a name: it is gone with the process, however that ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Written once, then read from any place by any number of readers.
pub(super) struct Spool(File);

impl Spool {
    pub(super) fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // A name may be taken by what another process left.
        const TRIES: u64 = 1_000;
        let mut result = Err(io::Error::from(io::ErrorKind::AlreadyExists));
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            result = Self::named(number);
            match &result {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                _ => break,
            }
        }
        result
    }

    fn named(number: u64) -> io::Result<Self> {
        let name = format!("triagent-{}-{number}.spool", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // FILE_FLAG_DELETE_ON_CLOSE
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, 0x0400_0000);
        let file = options.open(&path)?;
        #[cfg(unix)]
        std::fs::remove_file(&path)?;
        Ok(Self(file))
    }

    /// The file itself, at its start.
    pub(super) fn into_file(mut self) -> io::Result<File> {
        self.0.seek(SeekFrom::Start(0))?;
        Ok(self.0)
    }

    pub(super) fn reader(&self, at: u64) -> SpoolReader<'_> {
        SpoolReader { file: &self.0, at }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Has its own place in the file, so that readers do not disturb each other.
pub(super) struct SpoolReader<'s> {
    file: &'s File,
    at: u64,
}

impl Read for SpoolReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let n = std::os::unix::fs::FileExt::read_at(self.file, out, self.at)?;
        #[cfg(windows)]
        let n = std::os::windows::fs::FileExt::seek_read(self.file, out, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for SpoolReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        let before = "a place before the start of the file";
        self.at = target.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, before))?;
        Ok(self.at)
    }
}
