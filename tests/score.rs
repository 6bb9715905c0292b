//! Tests of score.

#[path = "score/families.rs"]
mod families;
#[path = "score/models.rs"]
mod models;
#[path = "score/trl.rs"]
mod trl;
