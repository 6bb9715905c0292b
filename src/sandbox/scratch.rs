//! The one folder that a grader may write to. It is empty when the grader starts and gone when it has answered.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names tried before we give up.
const TRIES: u32 = 100;

static NEXT: AtomicU64 = AtomicU64::new(0);

pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn create() -> io::Result<Self> {
        let root = std::env::temp_dir();
        let mut builder = DirBuilder::new();
        // Nobody else on this machine may read a case, which can hold anything.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("triagent-grader-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other(format!(
            "no free name for a scratch folder in {}",
            root.display()
        )))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A scratch folder left in the system's temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
