//! Pairs: opening them, deciding, giving the reason, going on.

use super::say;
use crate::domain::{Choice, Criterion, StepRef};
use crate::jobs::SideName;
use crate::jobs::desk::{Ask, PairPage, PairWrite};
use crate::triage::PairProblem;
use crate::tui::action::Action;
use crate::tui::app::overlay::{Menu, MenuItem, MenuKind, Overlay, Prompt, PromptKind};
use crate::tui::app::pair::{Column, Names, PairView};
use crate::tui::app::says::Tone;
use crate::tui::app::{App, Screen};

/// Criteria with their letters and what they claim (S-42).
const CRITERIA: [(char, Criterion, &str); 4] = [
    ('c', Criterion::CitationValid, "its citation is valid"),
    (
        'k',
        Criterion::ConditionsComplete,
        "its conditions are complete",
    ),
    (
        's',
        Criterion::OnlySmoother,
        "it only reads better; not enough by itself",
    ),
    (
        'o',
        Criterion::Other,
        "something else; the reason says what",
    ),
];

/// Decides a pair, or makes one.
pub(super) fn act(app: &mut App, action: Action) {
    match action {
        Action::MakePair => make(app),
        Action::PreferLeft => prefer(app, Column::Left),
        Action::PreferRight => prefer(app, Column::Right),
        Action::Tie => choose(app, Choice::Tie),
        Action::BothBad => choose(app, Choice::BothBad),
        Action::NotComparable => choose(app, Choice::NotComparable),
        Action::EditSide => edit(app),
        _ => {}
    }
}

/// Opens a list of pairs at a place.
pub(super) fn open(app: &mut App, list: Vec<Names>, place: usize) {
    if matches!(app.screens.last(), Some(Screen::Pair(_))) {
        app.screens.pop();
    }
    let mut view = PairView::new(list, place);
    view.revealed = !app.set.mask_secrets;
    view.pace.touch(app.now.ms);
    app.screens.push(Screen::Pair(Box::new(view)));
    ask(app);
}

/// Asks for the pair that is seen.
pub(super) fn ask(app: &mut App) {
    let reviewer = app.set.reviewer.clone();
    let Some(Names { a, b, again }) = app.pair_mut().and_then(|view| view.names().cloned()) else {
        return;
    };
    app.ask(Ask::Pair {
        a,
        b,
        reviewer,
        again,
    });
}

/// Takes the page of a pair.
pub(super) fn take(app: &mut App, page: Box<PairPage>) {
    let Some(view) = app.pair_mut() else { return };
    let comparable = page.is_comparable;
    let decided = page.decided.is_some();
    view.take(page);
    if !comparable && !decided {
        let text =
            "these two answer different requests; only \u{201c}not comparable\u{201d} can be saved";
        say(app, Tone::Info, text);
    }
}

/// Two marked runs, or the decision under the cursor with one that the reviewer writes.
fn make(app: &mut App) {
    let marked: Vec<SideName> = app
        .board
        .marks
        .iter()
        .filter_map(|seq| app.board.row(*seq))
        .map(|row| SideName::Run(row.id.clone()))
        .collect();
    match (marked.as_slice(), app.run()) {
        ([a, b], _) => {
            let names = Names {
                a: a.clone(),
                b: b.clone(),
                again: false,
            };
            open(app, vec![names], 0);
        }
        (_, Some(view)) => {
            let at = StepRef {
                run: view.run.clone(),
                step: view.at.step,
            };
            let reviewer = app.set.reviewer.clone();
            app.ask(Ask::Decision { at, reviewer });
        }
        _ => say(
            app,
            Tone::Info,
            "mark two runs with x, or open one and go to a decision",
        ),
    }
}

fn prefer(app: &mut App, column: Column) {
    let choice = app.pair_mut().and_then(|view| view.preferring(column));
    if let Some(choice) = choice {
        choose(app, choice);
    }
}

fn choose(app: &mut App, choice: Choice) {
    let Some(view) = app.pair_mut() else { return };
    if view.page.is_none() {
        return;
    }
    // A reason for another verdict is no reason for this one.
    if view.choice != Some(choice) {
        view.reason.clear();
    }
    view.choice = Some(choice);
    view.criteria.clear();
    if choice.preferred().is_some() {
        open_criteria(app);
    } else {
        open_reason(app);
    }
}

fn open_criteria(app: &mut App) {
    let Some(view) = app.pair_mut() else { return };
    let is_left = view.choice == view.preferring(Column::Left);
    let side = if is_left { "left" } else { "right" };
    let items = CRITERIA
        .iter()
        .map(|(key, criterion, about)| MenuItem {
            key: *key,
            label: criterion.word().replace('-', " "),
            about: (*about).to_owned(),
            ticked: Some(view.criteria.contains(criterion)),
        })
        .collect();
    app.overlay = Some(Overlay::Menu(Menu {
        title: format!("why is {side} better? tick what holds, ⏎ goes on"),
        kind: MenuKind::Criteria,
        items,
        is_strip: true,
        selected: 0,
    }));
}

/// A letter among the criteria: ticks or unticks it.
pub(super) fn tick(app: &mut App, at: usize) {
    let criterion = CRITERIA[at].1;
    if let Some(view) = app.pair_mut() {
        if view.criteria.contains(&criterion) {
            view.criteria.retain(|c| *c != criterion);
        } else {
            view.criteria.push(criterion);
        }
    }
    open_criteria(app);
}

/// The criteria are ticked; a preference needs at least one.
pub(super) fn criteria_done(app: &mut App) {
    if app.pair_mut().is_some_and(|view| view.criteria.is_empty()) {
        say(
            app,
            Tone::Info,
            "tick at least one: c citation, k conditions, s smoother, o other",
        );
        return open_criteria(app);
    }
    open_reason(app);
}

fn open_reason(app: &mut App) {
    let Some(view) = app.pair_mut() else { return };
    let kind = PromptKind::Reason(question(view));
    let prompt = Prompt::new(kind, &view.reason);
    app.overlay = Some(Overlay::Prompt(prompt));
}

/// Asks why, naming the verdict as the screen shows it.
fn question(view: &PairView) -> &'static str {
    match view.choice {
        Some(Choice::Tie) => "why a tie? somebody else must be able to check it",
        Some(Choice::BothBad) => "why are both bad? somebody else must be able to check it",
        Some(Choice::NotComparable) => "why not comparable? somebody else must be able to check it",
        choice if choice == view.preferring(Column::Left) => {
            "why is left better? somebody else must be able to check it"
        }
        _ => "why is right better? somebody else must be able to check it",
    }
}

/// Esc leaves a decision half made: it is not saved, and its words come back with the same verdict.
pub(super) fn given_up(app: &mut App, typed: Option<&str>) {
    let Some(view) = app.pair_mut() else { return };
    if let Some(typed) = typed {
        typed.trim().clone_into(&mut view.reason);
    }
    let back = if view.reason.is_empty() {
        ""
    } else {
        "; the same verdict brings your words back"
    };
    say(app, Tone::Info, format!("not saved{back}"));
}

/// The reason is typed. Criteria about evidence ask for the words that prove it.
pub(super) fn reason_done(app: &mut App, reason: String, mut prompt: Prompt) {
    if reason.is_empty() {
        let problem = PairProblem::NoReason.to_string();
        prompt.error = Some(problem);
        app.overlay = Some(Overlay::Prompt(prompt));
        return;
    }
    let Some(view) = app.pair_mut() else { return };
    view.reason = reason;
    let proves = [Criterion::CitationValid, Criterion::ConditionsComplete];
    if proves.iter().any(|c| view.criteria.contains(c)) {
        app.overlay = Some(Overlay::Prompt(Prompt::new(PromptKind::PairEvidence, "")));
    } else {
        save(app, None);
    }
}

/// Writes the pair down; the answer says whether it could be.
pub(super) fn save(app: &mut App, evidence: Option<String>) {
    let (reviewer, codebook) = (app.set.reviewer.clone(), app.book.version.clone());
    let now_us = app.now.us;
    let Some(view) = app.pair_mut() else { return };
    let (Some(page), Some(choice)) = (&view.page, view.choice) else {
        return;
    };
    let write = PairWrite {
        a: a_side(page, 0, &view.list[view.place].a),
        b: a_side(page, 1, &view.list[view.place].b),
        choice,
        criteria: view.criteria.clone(),
        reason: view.reason.clone(),
        evidence,
        shown: (page.left, page.seed),
        active_ms: view.pace.active_ms(),
        reviewer,
        now_us,
        codebook,
    };
    // From now on it is decided, and shown as such.
    let place = view.place;
    if let Some(names) = view.list.get_mut(place) {
        names.again = false;
    }
    app.ask(Ask::SavePair(Box::new(write)));
}

/// The decision itself, so that a pair named by two runs is saved as what was seen.
fn a_side(page: &PairPage, at: usize, named: &SideName) -> SideName {
    match named {
        SideName::Written(_) => named.clone(),
        SideName::Run(_) | SideName::At(_) => SideName::At(page.sides[at].candidate.at().clone()),
    }
}

/// The pair was not saved: says why, and asks again.
pub(super) fn refused(app: &mut App, problems: &[PairProblem]) {
    let blocking: Vec<String> = problems
        .iter()
        .filter(|p| p.blocks())
        .map(|p| p.to_string().replace('\n', "; "))
        .collect();
    say(
        app,
        Tone::Error,
        format!("not saved: {}", blocking.join("; ")),
    );
    let about_criteria = problems
        .iter()
        .any(|p| matches!(p, PairProblem::OnlySmoother | PairProblem::NoCriterion));
    if about_criteria {
        open_criteria(app);
    }
}

/// Rewrites the candidate of the column that the cursor is in.
fn edit(app: &mut App) {
    let Some(view) = app.pair_mut() else { return };
    let Some(side) = view.side(view.column) else {
        return;
    };
    let at = side.candidate.at().clone();
    let message = side.message.clone();
    super::note::open_side(app, at, &message, None);
}

/// The reviewer wrote a side: it stands against the decision that it was written for.
pub(super) fn written(app: &mut App, at: StepRef, message: crate::domain::ChatMessage) {
    let names = Names {
        a: SideName::At(at),
        b: SideName::Written(Box::new(message)),
        again: false,
    };
    open(app, vec![names], 0);
}

/// Moves in a pair.
pub(super) fn moved(app: &mut App, action: Action, count: usize) {
    let rows = crate::tui::geometry::pair(app.size, app.pair()).rows();
    let Some(view) = app.pair_mut() else { return };
    match action {
        Action::Left => view.column = Column::Left,
        Action::Right => view.column = Column::Right,
        Action::NextPane | Action::PreviousPane => {
            view.column = match view.column {
                Column::Left => Column::Right,
                Column::Right => Column::Left,
            };
        }
        Action::Open if view.is_decided() => neighbour(app, 1),
        Action::Open => view.request_open = !view.request_open,
        _ => {
            if let Some(duo) = view.duo.as_mut() {
                duo.top = super::moves::landed(duo.top, duo.lines(), rows, action, count);
            }
        }
    }
}

/// Goes to another pair of the list.
pub(super) fn neighbour(app: &mut App, by: isize) {
    let Some(view) = app.pair_mut() else { return };
    let place = view
        .place
        .checked_add_signed(by)
        .filter(|p| *p < view.list.len());
    match place {
        Some(place) => {
            let list = std::mem::take(&mut view.list);
            open(app, list, place);
        }
        None if view.is_decided() => super::go::back(app),
        None => say(app, Tone::Info, "that was the end of the list"),
    }
}

/// Jumps to a difference.
pub(super) fn jump(app: &mut App, forward: bool) {
    let Some(duo) = app.pair_mut().and_then(|view| view.duo.as_mut()) else {
        return;
    };
    if !duo.jump(forward) {
        say(app, Tone::Info, "no further difference");
    }
}
