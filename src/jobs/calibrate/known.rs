//! Calibrations that are known: those of this workspace, and those that the program carries for the documented models.

use super::{Calibration, suite};
use crate::domain::Binding;
use crate::jobs::JobError;
use crate::jobs::probe::binding_key;
use crate::store::Store;

const KIND: &str = "calibration";

/// Recorded by `triagent calibrate` on the documented models.
const RECORDED: &[&str] = &[
    include_str!("../../../assets/calibration/embedded-proxy.json"),
    include_str!("../../../assets/calibration/smollm2-135m-instruct-q4_1.json"),
];

/// Looks a model's calibration up, the workspace's own first. One made with another edition of the suite does not count.
pub fn calibration_of(
    store: Option<&Store>,
    binding: &Binding,
) -> Result<Option<Calibration>, JobError> {
    let key = binding_key(binding);
    let own = match store {
        Some(store) => store.result::<Calibration>(KIND, &key, "")?,
        None => None,
    };
    let edition = suite::edition();
    Ok(own
        .into_iter()
        .chain(recorded_calibrations())
        .find(|c| binding_key(&c.binding) == key && c.suite == edition))
}

/// The calibrations that the program carries.
pub fn recorded_calibrations() -> Vec<Calibration> {
    // The embedded files are read by a test, so nothing is lost here.
    RECORDED
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect()
}

/// Keeps a calibration.
pub(super) fn keep(
    store: &mut Store,
    calibration: &Calibration,
    now_us: i64,
) -> Result<(), JobError> {
    let key = binding_key(&calibration.binding);
    Ok(store.put_result(KIND, &key, "", now_us, calibration)?)
}
