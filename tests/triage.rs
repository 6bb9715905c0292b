//! Evidence, suggestions and comparisons on the sample logs and the fault suite, through the import door.

mod people;
pub(crate) mod reading;
mod samples;
mod suite;
