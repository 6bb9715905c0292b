//! Accepting a change or rolling it back, always with a reason.

use super::{decide as saved, say};
use crate::domain::{ChangeState, Decision};
use crate::tui::app::App;
use crate::tui::app::overlay::{Overlay, Prompt, PromptKind};
use crate::tui::app::says::Tone;
use crate::tui::app::sheet::{Entry, Target};

/// Asks why, unless the change under the cursor cannot be accepted.
pub(super) fn ask(app: &mut App, state: ChangeState) {
    let row = app.sheet_mut().and_then(|s| s.row());
    let Some(Target::Change(entry)) = row.map(|row| row.target.clone()) else {
        return say(app, Tone::Info, "no change here");
    };
    if let Some(missing) = entry
        .missing
        .as_ref()
        .filter(|_| state == ChangeState::Accepted)
    {
        let text = format!("{} cannot be accepted yet: {missing}", entry.change);
        return say(app, Tone::Info, text);
    }
    let kind = PromptKind::ChangeReason(entry, state);
    app.overlay = Some(Overlay::Prompt(Prompt::new(kind, "")));
}

/// The reason was typed.
pub(super) fn done(app: &mut App, entry: Entry, state: ChangeState, reason: String) {
    if reason.is_empty() {
        return say(
            app,
            Tone::Info,
            "nothing decided: a decision on a change needs a reason",
        );
    }
    let decision = Decision::ChangeState {
        change: entry.change,
        entry: entry.entry,
        state,
        reason,
    };
    saved::decide(app, vec![decision]);
}
