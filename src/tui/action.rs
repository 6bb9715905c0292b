//! The table of everything that a key can do: name, short word, where it applies, one-line doc.
//!
//! Footer, `?`, the `:` palette, the pop-up of next keys, the README's key table and the check of a user's keys
//! all come out of it. Default keys stand in `assets/keys.toml`; what an action does stands in `update`.

use super::place::Places;

/// What an action belongs to, in the order in which help shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Group {
    Label,
    Pair,
    Decide,
    Read,
    Move,
    Find,
    Go,
    Copy,
    Work,
    Program,
}

impl Group {
    /// Its heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Label => "Label a run",
            Self::Pair => "Compare two candidates",
            Self::Decide => "Undo, mark, note",
            Self::Read => "Read",
            Self::Move => "Move",
            Self::Find => "Find and filter",
            Self::Go => "Go to",
            Self::Copy => "Copy",
            Self::Work => "Work in the background",
            Self::Program => "The program",
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Info {
    /// The action.
    pub(crate) action: Action,
    /// Its name in keys files and in the palette.
    pub(crate) name: &'static str,
    /// One or two words for the footer.
    pub(crate) short: &'static str,
    /// Heading in help.
    pub(crate) group: Group,
    /// Where it applies.
    pub(crate) places: Places,
    /// What it does, in one line.
    pub(crate) doc: &'static str,
}

macro_rules! actions {
    ($($variant:ident $name:literal $short:literal $group:ident $places:expr, $doc:literal;)+) => {
        /// Everything that a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Action { $(#[doc = $doc] $variant),+ }

        /// The table, in the order of help.
        pub(crate) const ACTIONS: &[Info] = &[$(
            Info {
                action: Action::$variant, name: $name, short: $short, group: Group::$group,
                places: $places, doc: $doc,
            }
        ),+];
    };
}

const ANY: Places = Places::ANY;
const BOARD: Places = Places::BOARD;
const RUN: Places = Places::RUN;
const PAIR: Places = Places::PAIR;
const COMPARE: Places = Places::COMPARE;
const SHEET: Places = Places::SHEET;
const RUNS: Places = BOARD.or(RUN);

actions! {
    LabelIndex "label-index" "index" Label RUN, "Label: index. The document was missing, stale, or no query could have found it.";
    LabelContext "label-context" "context" Label RUN, "Label: context. It was returned, then lost, cut, or stripped of date or condition.";
    LabelTool "label-tool" "tool" Label RUN, "Label: tool. The tool's text misled, or its result was wrong.";
    LabelModel "label-model" "model" Label RUN, "Label: model. With all that in view the action was still wrong; four ticks prove it.";
    LabelEnvironment "label-environment" "environment" Label RUN, "Label: environment. An outage, a permission, a changed world.";
    LabelGrader "label-grader" "grader" Label RUN, "Label: grader. The run was right and the grader was wrong.";
    LabelUndetermined "label-undetermined" "undetermined" Label RUN, "Label: undetermined. This log cannot tell.";
    LabelMarked "label-marked" "label…" Label BOARD, "Labels the marked runs, or the one under the cursor, as one undoable batch.";
    LabelAgain "label-again" "repeat" Label RUNS, "Gives this run the last label again, sub-cause included.";
    Cause "cause" "cause" Label RUN, "Picks the sub-cause of your label.";
    Ticks "ticks" "ticks" Label RUN, "Ticks what proves a model failure: document, version, date, tool text.";
    Decisive "decisive-step" "decisive" Label RUN, "Marks this step as the first wrong decision.";
    Contributing "contributing-step" "contributing" Label RUN, "Marks or unmarks this step as one that contributed.";
    Pin "pin" "quote" Label RUN, "Quotes the selected lines, or this line, as evidence.";
    Note "note" "note" Label RUNS, "Writes a note; half-written ones are kept.";
    Codebook "codebook" "codebook" Label RUNS, "Shows what each label means, with examples, and the four questions.";
    OutcomePass "outcome-pass" "passed" Label RUNS, "Says that the run passed.";
    OutcomeFail "outcome-fail" "failed" Label RUNS, "Says that the run failed.";

    PreferLeft "prefer-left" "left better" Pair PAIR, "The left candidate is better.";
    PreferRight "prefer-right" "right better" Pair PAIR, "The right candidate is better.";
    Tie "tie" "tie" Pair PAIR, "Both are equally good.";
    BothBad "both-bad" "both bad" Pair PAIR, "Neither is acceptable.";
    NotComparable "not-comparable" "not comparable" Pair PAIR, "They do not answer one request, or cannot be compared.";
    EditSide "edit-side" "edit" Pair PAIR, "Rewrites the candidate under the cursor; it is kept as written by a human.";
    MakePair "pair" "pair" Pair RUNS, "Pairs: two marked runs, or this decision with one that you write.";

    Undo "undo" "undo" Decide ANY, "Takes your last decision back, also one of an earlier session.";
    Redo "redo" "redo" Decide ANY, "Makes it again.";
    Mark "mark" "mark" Decide BOARD, "Marks or unmarks the run and moves on.";
    MarkRange "mark-range" "range" Decide RUNS, "Starts or ends a range.";
    FindingKeep "finding-keep" "keep" Decide SHEET, "Keeps this finding's words: they leave as they are.";
    FindingRedact "finding-redact" "redact" Decide SHEET, "Puts a typed placeholder in their place in every export.";
    FindingDrop "finding-drop" "drop" Decide SHEET, "Leaves the rows that hold it out of every export.";
    ChangeAccept "change-accept" "accept" Decide SHEET, "Accepts this change, with a reason; refused while something is missing.";
    ChangeRollBack "change-roll-back" "roll back" Decide SHEET, "Rolls this change back, with a reason.";
    Adjudicate "adjudicate" "settle" Decide RUN.or(SHEET), "Settles a run on which reviewers differ; their labels stay as they are.";
    FindingAlike "finding-alike" "alike" Decide SHEET, "Decides every open finding of this rule like this one, as one undoable batch.";
    MarkAll "mark-all" "mark all" Decide BOARD, "Marks every run of the filter, or none.";

    FoldToggle "fold" "fold" Read RUN, "Folds or unfolds this step.";
    FoldAll "fold-all" "fold all" Read RUN, "Folds every step.";
    UnfoldAll "unfold-all" "unfold all" Read RUN, "Unfolds every step.";
    WrapToggle "wrap" "wrap" Read RUN.or(COMPARE), "Wraps long lines, or lets them run on.";
    Rest "open-rest" "rest" Read RUN, "Opens the rest of a step too long to show at once.";
    Raw "raw" "raw" Read RUN, "Shows this step exactly as stored, or rendered again.";
    Source "source" "in the log" Read RUN, "Shows this step as it stands in the log file.";
    Reveal "reveal" "reveal" Read RUN.or(PAIR), "Shows secrets, or masks them again.";
    Heat "heat" "heat" Read RUN, "Shades the model's tokens by log-prob, once the run is scored.";
    Inspector "inspector" "inspector" Read RUN, "Shows evidence, rewards, calls and where the run comes from.";
    NextFailure "next-failure" "next failure" Read RUN, "Jumps to the next failed step.";
    PreviousFailure "previous-failure" "last failure" Read RUN, "Jumps to the failed step before.";
    NextTurn "next-turn" "next turn" Read RUN, "Jumps to the next decision of the model.";
    PreviousTurn "previous-turn" "last turn" Read RUN, "Jumps to the decision before.";
    NextDifference "next-difference" "next difference" Read COMPARE.or(PAIR), "Jumps to the next difference.";
    PreviousDifference "previous-difference" "last difference" Read COMPARE.or(PAIR), "Jumps to the difference before.";
    NextItem "next-item" "next" Read RUN.or(PAIR).or(COMPARE), "Goes to the next run or pair of the list; in a comparison, to the next beside the first.";
    PreviousItem "previous-item" "previous" Read RUN.or(PAIR).or(COMPARE), "Goes to the one before.";
    Card "card" "card" Read RUNS, "Makes one redacted page of the run, to paste into an issue.";

    Down "move-down" "down" Move ANY, "Moves down.";
    Up "move-up" "up" Move ANY, "Moves up.";
    Left "move-left" "left" Move ANY, "Moves left.";
    Right "move-right" "right" Move ANY, "Moves right.";
    HalfDown "half-page-down" "half page" Move ANY, "Moves down half a page; in a run, through the text.";
    HalfUp "half-page-up" "half page up" Move ANY, "Moves up half a page; in a run, through the text.";
    PageDown "page-down" "page" Move ANY, "Moves down a page.";
    PageUp "page-up" "page up" Move ANY, "Moves up a page.";
    First "first" "first" Move ANY, "Goes to the first row.";
    Last "last" "last" Move ANY, "Goes to the last row.";
    NextPane "next-pane" "pane" Move ANY, "Goes to the next pane.";
    PreviousPane "previous-pane" "pane back" Move ANY, "Goes to the pane before.";
    Open "open" "open" Move ANY, "Opens what is under the cursor.";
    Back "back" "back" Move ANY, "Closes this view; at the root, leaves the program.";

    Filter "filter" "filter" Find BOARD, "Filters the runs: layer:index outcome:fail text:\"…\" -labelled:me sort:-steps.";
    ClearFilter "clear-filter" "clear" Find BOARD, "Takes the filter off.";
    Search "search" "search" Find BOARD.or(RUN).or(SHEET), "Searches here; on the board, the text of all runs.";
    NextMatch "next-match" "next match" Find RUN.or(SHEET), "Goes to the next match.";
    PreviousMatch "previous-match" "match before" Find RUN.or(SHEET), "Goes to the match before.";
    Sort "sort" "sort" Find BOARD, "Sorts by a column; the same one again turns the order round.";
    Jump "jump" "jump" Find ANY, "Jumps to a run by a few letters of its name, task or family.";
    SaveQueue "save-queue" "save queue" Find BOARD, "Keeps this filter under a name.";
    Queues "queues" "queues" Find ANY, "Shows saved filters.";
    Refresh "refresh" "refresh" Find BOARD.or(SHEET), "Reads the workspace again.";

    GoBoard "go-board" "board" Go ANY, "Shows the runs.";
    GoQueue "go-queue" "queue" Go ANY, "Goes to the next run that you have not labelled.";
    GoPairs "go-pairs" "pairs" Go ANY, "Shows pairs to decide and decided ones.";
    GoCompare "go-compare" "compare" Go RUNS, "Lays the marked runs, or this one, side by side.";
    Probe "probe" "probe" Go RUN.or(SHEET), "Shows this run's probes; there, scores both actions in changed contexts.";
    GoRewards "go-rewards" "rewards" Go ANY, "Shows groups, rewards and advantages.";
    GoAdvice "go-advice" "advice" Go ANY, "Shows what to fix, per cohort, with every gate.";
    GoChanges "go-changes" "changes" Go ANY, "Shows the ledger of changes.";
    GoAgreement "go-agreement" "agreement" Go ANY, "Shows who agrees with whom.";
    GoExport "go-export" "export" Go ANY, "Writes a dataset.";
    GoFindings "go-findings" "findings" Go ANY, "Shows secrets, personal data and other findings, to decide.";
    GoJobs "go-jobs" "jobs" Go ANY, "Shows work in the background.";
    GoMessages "messages" "messages" Go ANY, "Shows everything that the status line said.";

    CopyId "copy-id" "id" Copy RUNS, "Copies the run's name, in a run with the step.";
    CopyText "copy-text" "text" Copy RUN, "Copies the step's text.";
    CopyJson "copy-json" "JSON" Copy RUNS, "Copies the step, or the run's head, as JSON.";
    CopyPath "copy-path" "path" Copy RUNS, "Copies the path of the log.";
    CopyCard "copy-card" "card" Copy RUNS, "Copies the run's card as Markdown.";

    Import "import" "import" Work ANY, "Reads logs: files, folders.";
    Score "score" "score" Work ANY, "Scores the marked runs, or this one, with the model.";
    RunExport "export" "write" Work SHEET, "Writes the dataset that this screen shows.";
    Check "check" "check" Work SHEET, "Looks for secrets, near-duplicates, tampering and false evidence.";
    Audit "audit" "audit" Work SHEET, "Shows a hack suite, made of your runs, to a grader, and tells what fools it.";
    CancelJob "cancel-job" "cancel" Work ANY, "Cancels the newest work in the background.";

    Help "help" "help" Program ANY, "Shows the keys of this place; typing narrows them.";
    Palette "palette" "all actions" Program ANY, "Finds any action by a few letters of its name.";
    ThemeNext "theme" "theme" Program ANY, "Switches to the next theme.";
    MouseToggle "mouse" "mouse" Program ANY, "Gives the mouse to the program, or back to the terminal.";
    ReadOnlyToggle "read-only" "read only" Program ANY, "Locks the workspace against decisions, or unlocks it.";
    Demo "demo" "demo" Program Places::WELCOME.or(BOARD), "Opens a workspace of sample logs, where there are no runs yet.";
    Escape "cancel" "cancel" Program ANY, "Closes the innermost transient thing; never leaves.";
    Redraw "redraw" "redraw" Program ANY, "Draws the screen anew.";
    Suspend "suspend" "suspend" Program ANY, "Stops the program; `fg` brings it back.";
    Quit "quit" "quit" Program ANY, "Leaves now.";
}

impl Action {
    /// Returns the action's line of the table.
    pub(crate) fn info(self) -> &'static Info {
        // The macro writes enum and table from one list, so the discriminant is the place in the table.
        &ACTIONS[self as usize]
    }

    /// Reads a name back.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        ACTIONS.iter().find(|i| i.name == name).map(|i| i.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_its_own_name_and_its_own_line() {
        let mut names: Vec<_> = ACTIONS.iter().map(|i| i.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ACTIONS.len());
        assert!(ACTIONS.iter().all(|i| i.action.info().name == i.name));
        assert!(
            ACTIONS
                .iter()
                .all(|i| i.doc.ends_with('.') && i.doc.len() < 96)
        );
    }
}
