//! A stage on a copy of the demo's workspace.

use std::path::PathBuf;
use std::sync::OnceLock;
use triagent::domain::Progress;
use triagent::jobs::demo_workspace;
use triagent::store::Store;
use triagent::tui::Stage;

/// Imports the sample logs once for all tests.
fn template() -> &'static PathBuf {
    static TEMPLATE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = demo_workspace(folder.path(), 1, &Progress::default()).unwrap();
        // What is in the write-ahead log belongs to the copy too.
        drop(Store::open(&file).unwrap());
        (folder, file)
    });
    path
}

/// A workspace that a test may write to.
pub(crate) fn workspace() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("workspace.db");
    let from = template();
    std::fs::copy(from, &file).unwrap();
    for tail in ["-wal", "-shm"] {
        let side = PathBuf::from(format!("{}{tail}", from.display()));
        if side.exists() {
            std::fs::copy(&side, format!("{}{tail}", file.display())).unwrap();
        }
    }
    (folder, file)
}

/// A play: the stage and the folder that lives as long.
pub(crate) struct Play {
    pub(crate) stage: Stage,
    pub(crate) file: PathBuf,
    _folder: tempfile::TempDir,
}

pub(crate) fn play(columns: u16, rows: u16) -> Play {
    prepared(columns, rows, |_| {})
}

/// A play on a workspace in which something was done before.
pub(crate) fn prepared(columns: u16, rows: u16, work: impl FnOnce(&mut Store)) -> Play {
    let (folder, file) = workspace();
    let mut store = Store::open(&file).unwrap();
    work(&mut store);
    Play {
        stage: Stage::new(Some(store), columns, rows).unwrap(),
        file,
        _folder: folder,
    }
}

impl Play {
    /// Presses keys and returns the screen.
    pub(crate) fn keys(&mut self, keys: &str) -> String {
        self.stage.keys(keys).screen()
    }

    /// Filters the board.
    pub(crate) fn filter(&mut self, filter: &str) -> &mut Self {
        self.stage.keys("f").text(filter).keys("<enter>");
        self
    }

    /// The one row of the screen that holds `words`.
    pub(crate) fn row(&self, words: &str) -> String {
        let screen = self.stage.screen();
        let found = screen.lines().find(|line| line.contains(words));
        found
            .unwrap_or_else(|| panic!("{words} is not on\n{screen}"))
            .to_owned()
    }
}

pub(crate) fn assert_shows(screen: &str, words: &[&str]) {
    for word in words {
        assert!(screen.contains(word), "{word:?} is not on\n{screen}");
    }
}
