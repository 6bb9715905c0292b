//! Detection: looks at content, not at names, and says why.

use super::unit::Unit;

/// What a unit is taken for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// Name of the format; `None` = nobody recognised it.
    pub format: Option<String>,
    /// What in the content says so, or what was found instead.
    pub reason: String,
}

pub(crate) fn unknown(_unit: &Unit) -> Detection {
    Detection {
        format: None,
        reason: "no format recognises this content; hint: name one with --format".to_owned(),
    }
}
