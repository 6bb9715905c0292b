//! Rendering: from a step to a document with inks. It knows no screen size and no theme.

mod heat;
mod json;
mod markdown;
mod step;

pub(crate) use heat::heat;
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use step::{Dress, head_of, message, step};
