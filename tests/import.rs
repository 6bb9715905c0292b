//! Tests of import.

mod damage;
mod identity;
mod real;
mod samples;
mod seen;
