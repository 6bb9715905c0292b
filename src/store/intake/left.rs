//! Names of runs that are not all here: they say which process writes them, so that what a killed one left can be told from what
//! another one is writing.

/// A run whose name is taken, or has none yet, waits under `importing~BOOT-PROCESS~PLACE`.
pub(super) const WAITING: &str = "importing~";

/// The name of a run that this process writes.
pub(super) fn waiting(place: i64) -> String {
    let boot = boot().unwrap_or_default();
    format!("{WAITING}{boot}-{}~{place}", std::process::id())
}

/// The process that wrote the run is gone. Only for processes of this machine since it was started: a workspace on a shared
/// disk may be written from another one.
pub(super) fn has_died(id: &str) -> bool {
    let writer = id
        .strip_prefix(WAITING)
        .and_then(|rest| rest.split_once('~'));
    let Some((of_boot, process)) = writer.and_then(|(writer, _)| writer.split_once('-')) else {
        return false;
    };
    let is_ours = boot().is_some_and(|boot| boot == of_boot) && process.parse::<u32>().is_ok();
    is_ours && !std::path::Path::new("/proc").join(process).exists()
}

/// What names this start of this machine, where the system says so.
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let boot: String = id.chars().take(8).collect();
    boot.chars().all(|c| c.is_ascii_hexdigit()).then_some(boot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dead_writer_of_this_machine_is_dead() {
        let own = waiting(3);
        assert!(own.starts_with(WAITING) && !has_died(&own), "{own}");
        // Names of before, of another machine, and what a log may say.
        for other in [
            "importing~3",
            "importing~00000000-1~3",
            "importing~",
            "importing~-x~1",
            "run",
        ] {
            assert!(!has_died(other), "{other}");
        }
        let Some(boot) = boot() else { return };
        // No system gives out this number.
        assert!(has_died(&format!("importing~{boot}-4294967295~3")));
    }
}
