//! What a verb is given: output, settings, the workspace, the reviewer, the time. The edge asks the clock here.

use super::Global;
use super::output::Out;
use crate::config::{self, Config};
use crate::domain::{Filter, Progress};
use crate::error::{Explain, Failure, Result};
use crate::store::{Act, Store, StoreError};
use crate::triage::{Taxonomy, parse_filter};
use crate::{jobs, paths, text};
use std::path::PathBuf;

/// Everything outside a verb's own arguments.
pub(crate) struct Env<'a> {
    pub(crate) out: &'a mut Out,
    pub(crate) global: Global,
}

impl<'a> Env<'a> {
    pub(crate) fn new(global: Global, out: &'a mut Out) -> Self {
        Self { out, global }
    }

    /// The workspace file that exists, if any.
    pub(crate) fn existing_workspace(&self) -> Result<Option<PathBuf>> {
        match &self.global.workspace {
            Some(named) => Ok(Some(paths::named_workspace(named))),
            None => Ok(Store::locate(&current_folder()?)),
        }
    }

    /// Opens the workspace to read; `--read-only` decides whether it could be written.
    pub(crate) fn store(&self) -> Result<Store> {
        let Some(path) = self.existing_workspace()? else {
            return Err(
                Failure::user("no workspace here or in a folder above").hint(
                    "`triagent import PATH` makes one in this folder; `triagent demo` shows one",
                ),
            );
        };
        let opened = if self.global.read_only {
            Store::open_read_only(&path)
        } else {
            // What cannot be written can still be read; a verb that writes says so itself.
            match Store::open(&path) {
                Err(first @ (StoreError::ReadOnly | StoreError::Sql(_))) => {
                    Store::open_read_only(&path).map_err(|_| first)
                }
                other => other,
            }
        };
        Ok(opened?)
    }

    /// Opens the workspace, or makes one in the current folder.
    pub(crate) fn create_store(&self) -> Result<Store> {
        if self.global.read_only {
            return self.store();
        }
        let path = match self.existing_workspace()? {
            Some(path) => path,
            None => paths::new_workspace(&current_folder()?),
        };
        Ok(Store::create(&path)?)
    }

    /// The settings that hold here.
    pub(crate) fn config(&self) -> Result<Config> {
        let database = self.existing_workspace()?;
        Ok(config::load(&config::files(database.as_deref()))?)
    }

    /// Who decides: the flag or `TRIAGENT_REVIEWER`, the settings, the login name.
    pub(crate) fn reviewer(&self) -> Result<String> {
        let named = self.global.reviewer.clone();
        // An empty variable counts as none; an empty flag is a script whose own variable is empty.
        let is_blank = |name: &str| name.trim().is_empty();
        let variable = std::env::var("TRIAGENT_REVIEWER");
        if named.as_deref().is_some_and(is_blank) && !variable.is_ok_and(|name| is_blank(&name)) {
            return Err(Failure::usage("the reviewer's name is empty")
                .hint("--reviewer NAME, or leave it out and your login name counts"));
        }
        let configured = self.config()?.reviewer;
        named
            .into_iter()
            .chain([configured])
            .chain(paths::login())
            .map(|name| name.trim().to_owned())
            .find(|name| !name.is_empty())
            .ok_or_else(|| {
                Failure::user("nobody is named as the reviewer")
                    .hint("--reviewer NAME, TRIAGENT_REVIEWER, or `reviewer` in the settings")
            })
    }

    /// Microseconds UTC.
    pub(crate) fn now_us(&self) -> i64 {
        jiff::Timestamp::now().as_microsecond()
    }

    /// Bytes that nobody can guess: the random parts of several time-ordered ids.
    pub(crate) fn random_key(&self) -> [u8; 32] {
        crate::jobs::random_key()
    }

    /// The codebook in force.
    pub(crate) fn codebook(&self) -> Taxonomy {
        Taxonomy::embedded()
    }

    /// Lets `decide` write a decision as this reviewer, now.
    pub(crate) fn act<T>(&self, decide: impl FnOnce(Act<'_>) -> T) -> Result<T> {
        let reviewer = self.reviewer()?;
        let codebook = self.codebook().version;
        Ok(decide(Act {
            reviewer: &reviewer,
            now_us: self.now_us(),
            codebook: &codebook,
        }))
    }

    /// Reads a filter; `labelled:me` means this reviewer.
    pub(crate) fn filter(&self, text: Option<&str>) -> Result<Filter> {
        let Some(text) = text else {
            return Ok(Filter::default());
        };
        // Only a filter that says "me" needs to know who that is.
        let me = self.reviewer().ok();
        parse_filter(text, me.as_deref()).map_err(|e| {
            let mut failure = Failure::from(e);
            failure.kind = crate::error::Kind::Usage;
            failure
        })
    }

    /// Runs `work` and draws how far it is, where somebody watches.
    pub(crate) fn watch<T: Send>(
        &mut self,
        what: &str,
        work: impl FnOnce(&Progress) -> T + Send,
    ) -> Result<T> {
        let progress = Progress::default();
        let started = std::time::Instant::now();
        let out = &*self.out;
        let ended = if out.is_watched() {
            let draw = |p: &Progress| out.progress(&progress_line(what, p, started.elapsed()));
            let ended = jobs::watched(&progress, || work(&progress), draw);
            out.progress("");
            ended
        } else {
            Ok(work(&progress))
        };
        ended.map_err(Failure::bug)
    }
}

/// `import 41 % · 12 s, 17 s left`: nothing in the first two seconds, numbers only where they are known.
fn progress_line(what: &str, progress: &Progress, elapsed: std::time::Duration) -> String {
    let (done, total) = progress.seen();
    let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    if ms < 300 {
        return String::new();
    }
    if total == 0 || done == 0 {
        return format!("{what} … {}", text::duration(ms));
    }
    let share = (done as f64 / total as f64).min(1.0);
    let left = (ms as f64 * (1.0 - share) / share).round();
    let line = format!("{what} {} · {}", text::per_cent(share), text::duration(ms));
    if ms < 2_000 {
        return line;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time that only people read"
    )]
    let left = left as u64;
    format!("{line}, {} left", text::duration(left))
}

pub(crate) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir()
        .doing("while asking for the current folder")
        .hint("the folder may have been removed; cd to another one")
}
