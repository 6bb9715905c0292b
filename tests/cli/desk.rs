//! A desk for the real binary: an empty folder, no settings but its own, and what came of each call.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Desk {
    folder: TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Every line of stdout as JSON.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}\n{}", self.err))
        };
        self.out.lines().map(parse).collect()
    }

    /// The one row.
    pub(crate) fn row(&self) -> Value {
        let rows = self.rows();
        assert_eq!(rows.len(), 1, "{}\n{}", self.out, self.err);
        rows.into_iter().next().unwrap()
    }

    /// Insists on success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.ended(0)
    }

    /// Insists on an exit code.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The command, with nothing of the machine's own settings.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let home = self.path("home");
        let mut command = Command::new(env!("CARGO_BIN_EXE_triagent"));
        for (name, _) in std::env::vars().filter(|(n, _)| n.starts_with("TRIAGENT_")) {
            command.env_remove(name);
        }
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        use std::io::Write;
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        ran(child.wait_with_output().unwrap())
    }
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The logs that other projects wrote, where this machine has them.
pub(crate) fn real_logs() -> Option<PathBuf> {
    let folder = std::env::var_os("TRIAGENT_REAL_LOGS")
        .map_or_else(|| repository("../shared/real-logs"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no real logs; TRIAGENT_REAL_LOGS names their folder");
    None
}
