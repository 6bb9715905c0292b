//! Evidence, suggestions and comparisons on the sample logs and the fault suite, through the import door.

pub(crate) mod reading;
mod samples;
mod suite;
