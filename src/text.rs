//! Text as people see it: width, wrapping, folding for search, and hostile text made harmless.
//!
//! The one permitted toolbox of the house. It knows nothing about runs, terminals or colours.

mod cut;
mod fold;
mod nearest;
mod number;
mod plain;
mod visible;
mod width;
mod words;
mod wrap;

pub use cut::{capped, one_line};
pub use fold::{fold, is_cjk, space_cjk};
pub use nearest::nearest;
pub use number::{bytes, duration, grouped, per_cent, plural};
pub use plain::Plain;
pub use visible::{TAB_COLUMNS, visible, visible_line, without_colours};
pub use width::{fit, fit_middle, fit_start, graphemes, pad, pad_left, width};
pub use words::words;
pub use wrap::{MIN_COLUMNS, Wrap, wrap};
