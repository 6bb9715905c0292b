//! What a verb is given: output, settings, the workspace, the reviewer, the time. The edge asks the clock here.

use super::Global;
use super::output::Out;
use crate::config::{self, Config};
use crate::error::{Explain, Failure, Result};
use crate::paths;
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
            None => Ok(paths::find_workspace(&current_folder()?)),
        }
    }

    /// The settings that hold here.
    pub(crate) fn config(&self) -> Result<Config> {
        let database = self.existing_workspace()?;
        Ok(config::load(&config::files(database.as_deref()))?)
    }
}

fn current_folder() -> Result<PathBuf> {
    std::env::current_dir()
        .doing("while asking for the current folder")
        .map_err(|f: Failure| f.hint("the folder may have been removed; cd to another one"))
}
