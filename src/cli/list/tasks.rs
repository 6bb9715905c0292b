//! Rows of the task list.

use super::close;
use crate::cli::env::Env;
use crate::cli::output::{Cell, Table};
use crate::domain::Task;
use crate::error::Result;
use crate::store::Store;
use crate::text;

/// Columns of a prompt that a row shows.
const PROMPT_COLUMNS: usize = 60;

pub(super) fn tasks(store: &Store, limit: usize, env: &mut Env) -> Result<()> {
    let tasks = all(store)?;
    if env.out.is_json() {
        return tasks
            .iter()
            .take(limit)
            .try_for_each(|task| env.out.row(task));
    }
    let mut table = Table::new(&["task", "family", "scenario", "date", "requires", "prompt"]);
    for task in tasks.iter().take(limit) {
        let requires: Vec<String> = task
            .requires
            .iter()
            .map(|r| match &r.version {
                Some(version) => format!("{} {version}", r.doc_id),
                None => r.doc_id.clone(),
            })
            .collect();
        table.push(vec![
            Cell::new(&task.task_id),
            Cell::maybe(task.family.as_ref()),
            Cell::maybe(task.scenario.as_ref()),
            Cell::maybe(task.date.as_ref()),
            Cell::new(requires.join(", ")),
            Cell::new(text::one_line(
                task.prompt.as_deref().unwrap_or(""),
                PROMPT_COLUMNS,
            )),
        ]);
    }
    if !table.is_empty() {
        env.out.table(&table)?;
    }
    let empty = "no task list yet; `triagent tasks import FILE` reads one";
    close(tasks.len().min(limit), tasks.len(), "tasks", empty, env)
}

fn all(store: &Store) -> Result<Vec<Task>> {
    let mut tasks: Vec<Task> = Vec::new();
    loop {
        let page = store.tasks(tasks.last().map(|t| &t.task_id), 500)?;
        if page.is_empty() {
            return Ok(tasks);
        }
        tasks.extend(page);
    }
}
