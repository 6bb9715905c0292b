//! Marks on a verdict: the decisive step, steps that contributed, quotations. Before there is a label they are kept
//! beside the decisions, and undo takes back the newest of them.

use super::{label, say};
use crate::domain::{Checklist, Pin, Verdict};
use crate::jobs::desk::{Ask, RunPage};
use crate::tui::app::App;
use crate::tui::app::run::RunView;
use crate::tui::app::says::Tone;

/// Longest quotation that is pinned: evidence is a sentence, not a log.
const MAX_QUOTE_BYTES: usize = 2_000;

/// Marks the step under the cursor as the first wrong decision, or takes the mark off.
pub(super) fn decisive(app: &mut App) {
    let Some(view) = app.run() else { return };
    let step = view.at.step;
    let same = view.verdict.decisive_step == Some(step);
    change(app, |verdict| {
        verdict.decisive_step = if same { None } else { Some(step) };
    });
    if same {
        return marked(app, "no step is marked as decisive", None);
    }
    let doubt = app.run().and_then(doubt);
    let text = format!("step {step} is the first wrong decision");
    marked(app, &text, doubt);
}

/// Marks the step under the cursor as one that contributed, or takes the mark off.
pub(super) fn contributing(app: &mut App) {
    let Some(view) = app.run() else { return };
    let mut steps = view.contributing();
    let step = view.at.step;
    let added = steps.insert(step);
    if !added {
        steps.remove(&step);
    }
    change(app, |verdict| {
        verdict.contributing = steps.into_iter().collect();
    });
    let word = if added { "is" } else { "is no longer" };
    let text = format!("step {step} {word} marked as contributing");
    marked(app, &text, None);
}

/// Quotes the selected lines as evidence.
pub(super) fn pin(app: &mut App) {
    let Some(view) = app.run_mut() else { return };
    let Some((step, quote)) = quoted(view) else {
        return say(
            app,
            Tone::Info,
            "go to a line of text first: Tab, then j and k",
        );
    };
    view.select = None;
    let shown = crate::text::one_line(&quote, 40);
    change(app, |verdict| verdict.pins.push(Pin { step, quote }));
    marked(app, &format!("quoted as evidence: {shown}"), None);
}

/// The selected lines of the step under the cursor, or its current line.
fn quoted(view: &RunView) -> Option<(u32, String)> {
    let body = view.body(view.at.step)?;
    let (from, until) = view.selected();
    let first = if from.step == view.at.step {
        from.line
    } else {
        1
    };
    let lines: Vec<&str> = (first.max(1)..=until.line)
        .filter(|line| *line <= body.lines())
        .map(|line| body.doc().slice(body.line(line - 1)))
        .collect();
    let quote = lines.join("\n");
    let (quote, _) = crate::text::capped(quote.trim(), MAX_QUOTE_BYTES);
    (!quote.is_empty()).then(|| (view.at.step, quote.to_owned()))
}

/// Changes the verdict; without a label the change is kept, and undo reaches it.
pub(super) fn change(app: &mut App, change: impl FnOnce(&mut Verdict)) {
    let Some(view) = app.run_mut() else { return };
    let before = view.verdict.clone();
    change(&mut view.verdict);
    if view.saved.is_none() {
        view.unsaved.before.push(before);
        view.unsaved.after.clear();
        keep(app);
    }
}

/// Says what was marked, and writes it where there is a label.
fn marked(app: &mut App, text: &str, doubt: Option<String>) {
    if app.run().is_some_and(|view| view.saved.is_some()) {
        return label::save(app);
    }
    match doubt {
        Some(doubt) => say(app, Tone::Warn, format!("{text}, but {doubt}")),
        None => say(
            app,
            Tone::Done,
            format!("{text}: kept; it is saved with your label"),
        ),
    }
}

/// Why the step under the cursor can hardly be the wrong decision that it is marked as.
pub(super) fn doubt(view: &RunView) -> Option<String> {
    use crate::domain::Owner;
    let step = view.at.step;
    let owner = view.head(step)?.owner;
    let is_decision = matches!(owner, Owner::Model | Owner::Unknown);
    (view.verdict.decisive_step == Some(step) && !is_decision).then(|| {
        format!("the model did not write this step ({owner}); }} goes to its next decision, d takes the mark off")
    })
}

/// Something was marked.
pub(super) fn has_any(verdict: &Verdict) -> bool {
    verdict.decisive_step.is_some()
        || !verdict.contributing.is_empty()
        || !verdict.pins.is_empty()
        || verdict.checklist != Checklist::default()
}

/// Keeps the marks beside the decisions, or forgets them where there are none.
pub(super) fn keep(app: &mut App) {
    let Some(view) = app.run_mut() else { return };
    let has_any = has_any(&view.verdict);
    view.unsaved.is_kept = has_any;
    let text = match has_any {
        true => serde_json::to_string(&view.verdict).unwrap_or_default(),
        false => String::new(),
    };
    write(app, text);
}

/// The label has taken them.
pub(super) fn saved(app: &mut App) {
    let Some(view) = app.run_mut() else { return };
    let kept = std::mem::take(&mut view.unsaved).is_kept;
    if kept {
        write(app, String::new());
    }
}

fn write(app: &mut App, text: String) {
    let Some(view) = app.run() else { return };
    let ask = Ask::KeepDraft {
        reviewer: app.set.reviewer.clone(),
        subject: RunPage::marks_draft(&view.run),
        text,
        now_us: app.now.us,
    };
    app.ask(ask);
}

/// Takes up marks that were kept.
pub(super) fn restore(view: &mut RunView, marks: &Verdict) {
    if has_any(&view.verdict) {
        return;
    }
    let verdict = &mut view.verdict;
    verdict.decisive_step = marks.decisive_step;
    verdict.checklist = marks.checklist;
    verdict.contributing.clone_from(&marks.contributing);
    verdict.pins.clone_from(&marks.pins);
    view.unsaved.is_kept = true;
}

/// Takes the newest mark back that no label has taken; says whether there was one.
pub(super) fn undo(app: &mut App) -> bool {
    turn(app, "undone", |view| view.unsaved.before.pop())
}

/// Makes it again.
pub(super) fn redo(app: &mut App) -> bool {
    turn(app, "redone", |view| view.unsaved.after.pop())
}

fn turn(app: &mut App, verb: &str, pop: impl FnOnce(&mut RunView) -> Option<Verdict>) -> bool {
    let Some(view) = app.run_mut().filter(|view| view.saved.is_none()) else {
        return false;
    };
    let Some(mut other) = pop(view) else {
        return false;
    };
    // What was typed has its own draft.
    other.note.clone_from(&view.verdict.note);
    let was = std::mem::replace(&mut view.verdict, other);
    let text = format!(
        "{verb}: {}; the run has no label",
        difference(&was, &view.verdict)
    );
    if verb == "undone" {
        view.unsaved.after.push(was);
    } else {
        view.unsaved.before.push(was);
    }
    keep(app);
    say(app, Tone::Done, text);
    true
}

/// What one verdict has other than the one that stands instead, in a few words.
pub(super) fn difference(was: &Verdict, stands: &Verdict) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut part = |differs: bool, words: String| {
        if differs {
            parts.push(words);
        }
    };
    let step = match (was.decisive_step, stands.decisive_step) {
        (Some(step), None) => format!("decisive step {step}"),
        (_, Some(step)) => format!("the first wrong decision is step {step} again"),
        (None, None) => String::new(),
    };
    part(was.decisive_step != stands.decisive_step, step);
    let cause = match (&was.cause, &stands.cause) {
        (_, Some(cause)) => format!("the sub-cause is {cause} again"),
        (Some(cause), None) => format!("sub-cause {cause}"),
        (None, None) => String::new(),
    };
    part(was.cause != stands.cause, cause);
    part(
        was.contributing != stands.contributing,
        "contributing step".to_owned(),
    );
    part(was.pins != stands.pins, "quotation".to_owned());
    part(was.checklist != stands.checklist, "ticks".to_owned());
    part(was.note != stands.note, "note".to_owned());
    match parts.as_slice() {
        [] => "the same label once more".to_owned(),
        parts => parts.join(", "),
    }
}
