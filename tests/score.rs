//! Tests of score.

#[path = "score/drift.rs"]
mod drift;
#[path = "score/families.rs"]
mod families;
#[path = "score/fast.rs"]
mod fast;
#[path = "score/gguf.rs"]
mod gguf;
#[path = "score/hostile.rs"]
mod hostile;
#[path = "score/models.rs"]
pub(crate) mod models;
#[path = "score/real_server.rs"]
mod real_server;
#[path = "score/server.rs"]
mod server;
#[path = "score/sharing.rs"]
mod sharing;
#[path = "score/smollm2.rs"]
mod smollm2;
#[path = "score/templates.rs"]
mod templates;
#[path = "score/trl.rs"]
mod trl;
