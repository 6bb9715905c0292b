//! Tests of import.

mod damage;
mod identity;
mod real;
mod samples;
pub(crate) mod seen;
