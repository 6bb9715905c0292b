//! triagent: find out why an agent failed and which layer to fix.
//!
//! The rooms in reading order; arrows between them go one way only (see ARCHITECTURE.md).

pub mod advise;
pub mod change;
pub mod clean;
pub mod cli;
pub mod config;
pub mod domain;
pub mod error;
pub mod export;
pub mod fuzzy;
pub mod guide;
pub mod import;
pub mod jobs;
pub mod log;
pub mod paths;
pub mod report;
pub mod reward;
pub mod sandbox;
pub mod score;
pub mod stats;
pub mod store;
pub mod text;
pub mod triage;
pub mod tui;
