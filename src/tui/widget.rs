//! Small things that every view draws with. They know inks and cells, no runs.

pub(crate) mod pen;
pub(crate) mod text;

pub(crate) use pen::{Pen, broken};
