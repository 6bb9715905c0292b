//! Tests of import.

mod beside;
mod damage;
mod database;
mod follow;
mod identity;
mod json;
mod outcome;
mod property;
mod raw;
mod real;
mod samples;
pub(crate) mod seen;
mod sessions;
mod size;
mod text;
mod tools;
