//! Copying: the terminal puts it on the clipboard (OSC 52), also over ssh.

use super::say;
use crate::jobs::desk::Ask;
use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::app::says::Tone;
use crate::tui::available::seen_row;
use crate::tui::effect::Effect;

/// Most that is put on a clipboard: terminals refuse or truncate more.
const MAX_COPY_BYTES: usize = 74_000;

/// Copies.
pub(super) fn act(app: &mut App, action: Action) {
    let Some(row) = seen_row(app) else { return };
    let (run, source) = (row.id.clone(), row.source.clone());
    let step = app.run().map(|view| view.at.step);
    match (action, step) {
        (Action::CopyId, Some(step)) => copy(app, format!("{run}:{step}"), "the step's name"),
        (Action::CopyId, None) => copy(app, run.0, "the run's name"),
        (Action::CopyPath, _) => copy(app, source, "the log's path"),
        (Action::CopyText, Some(step)) => {
            let text = app
                .run()
                .and_then(|view| view.body(step))
                .map(|body| body.text().to_owned());
            copy(app, text.unwrap_or_default(), "the step's text");
        }
        (Action::CopyJson, Some(step)) => app.ask(Ask::StepJson { run, step }),
        (Action::CopyCard, _) => {
            app.copy_card = true;
            app.ask(Ask::Card(run));
        }
        _ => say(app, Tone::Info, "open the run first"),
    }
}

/// Puts text on the clipboard and says so.
pub(super) fn copy(app: &mut App, text: String, what: &str) {
    if text.len() > MAX_COPY_BYTES {
        let size = crate::text::bytes(text.len() as u64);
        let hint = "`triagent show RUN --json` prints it";
        return say(
            app,
            Tone::Error,
            format!("{what} is too long to copy ({size}); {hint}"),
        );
    }
    app.want(Effect::Copy(text));
    say(app, Tone::Done, format!("copied {what}"));
}
