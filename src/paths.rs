//! Where things live: the workspace, the user's settings, the log file.
//!
//! Only names places; creates nothing but what `ensure_parent` is asked for.

use crate::store::{FILE, FOLDER};
use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};

/// Settings, both the user's and the workspace's.
pub const CONFIG_FILE: &str = "config.toml";

/// Returns the database that `--workspace` or `TRIAGENT_WORKSPACE` names: a file, or a folder that holds one.
pub fn named_workspace(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_path_buf();
    }
    if path.file_name().is_some_and(|name| name == FOLDER) {
        return path.join(FILE);
    }
    path.join(FOLDER).join(FILE)
}

/// Returns where a new workspace of `folder` goes.
pub fn new_workspace(folder: &Path) -> PathBuf {
    folder.join(FOLDER).join(FILE)
}

/// Returns the workspace's own settings file, which lies beside its database.
pub fn workspace_config(database: &Path) -> PathBuf {
    database.with_file_name(CONFIG_FILE)
}

/// Returns the workspace's own cleaning rules, which lie beside its database.
pub fn workspace_rules(database: &Path) -> PathBuf {
    database.with_file_name("redaction.toml")
}

/// Returns the user's settings file (`TRIAGENT_CONFIG`, else XDG); `None` without a home.
pub fn user_config() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TRIAGENT_CONFIG") {
        return Some(PathBuf::from(named));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("triagent").join(CONFIG_FILE))
}

/// Returns where crashes and failed jobs are written down; `None` without a home.
pub fn log_file() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    let folder = base.state_dir().unwrap_or_else(|| base.cache_dir());
    Some(folder.join("triagent").join("triagent.log"))
}

/// Returns the user's own folder, where there is one.
pub fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// Returns the login name: from the environment, else from the system's list of users.
pub fn login() -> Option<String> {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|name| !name.trim().is_empty())
        .or_else(login_of_process)
}

/// Containers often run without `USER`; the owner of our own process entry is who we are.
#[cfg(target_os = "linux")]
fn login_of_process() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let uid = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}

#[cfg(not(target_os = "linux"))]
fn login_of_process() -> Option<String> {
    None
}

/// Creates the folder that `file` lies in.
pub fn ensure_parent(file: &Path) -> std::io::Result<()> {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_means_the_workspace_inside_it() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join(FOLDER);
        std::fs::create_dir(&inner).unwrap();
        let expected = inner.join(FILE);
        assert_eq!(named_workspace(top.path()), expected);
        assert_eq!(named_workspace(&inner), expected);
        let file = top.path().join("my.db");
        assert_eq!(named_workspace(&file), file);
    }
}
