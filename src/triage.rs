//! Labels, pairs, queues, agreement, evidence status, differences: facts in, conclusions out. No clock, no disk.

mod agreement;
mod calibration;
mod card;
mod claims;
mod day;
mod diff;
mod evidence;
mod fault;
mod filter;
mod pairing;
mod probe;
mod queue;
mod standard;
mod suggest;
mod taxonomy;
mod variants;
mod view;

pub use agreement::{
    AgreementReport, Alpha, AlphaMetric, BiasReport, Disagreement, Pace, PairTrace, Ratings,
    Retest, Statistic, SwapCheck, Table, TimedLabel, ac1, agreement_report, alpha, cohen, fleiss,
    pabak, pace, pair_bias, retest, swap_check, table_alpha,
};
pub use calibration::{
    ClassQuality, ConfusionCount, Gain, Judged, OutsideLabel, PeopleReport, Quality, Reliability,
    ReliabilityBin, RowRecord, agentrx_layers, compare_with_people, macro_f1_gain, quality,
    reliability, row_record,
};
pub use card::{Card, CardFacts, Section, card};
pub use claims::{ClaimHint, lint_claims};
pub use diff::{
    ComparedLayer, DiffRow, Divergence, LayerDifference, LayerState, RowKind, RunDiff, WordChange,
    WordSide, align, diff_runs, weights_note, word_diff,
};
pub use evidence::{
    Evidence, EvidenceFacts, Place, Register, SeenVersion, SpanFound, evidence_status,
};
pub use fault::{Fault, tool_fault};
pub use filter::{
    Completion, FilterChoice, FilterError, complete_filter, parse_filter, print_filter,
};
pub use pairing::{
    Comparable, NotComparable, PairFacts, PairProblem, PairSuggestion, check_pair,
    compare_decisions, decision_hashes, first_differing_decision, is_blocked, suggest_pairings,
};
pub use probe::{
    Cell, CellScore, GateFacts, Placement, ProbeGate, ProbeMatrix, ProbeReport, ProbeSettings,
    Variant, VariantEffect, VariantScores, evaluate_probe,
};
pub use queue::{Done, Purpose, Queue, QueueItem, QueuePlan, draw_queue, is_reshown, left_side};
pub use standard::{DEFAULT_STANDARD, Standard, StandardVerdict};
pub use suggest::{
    Strength, SuggestFacts, Suggestion, SuggestionTable, machine_agreement, suggest,
    suggestion_table,
};
pub use taxonomy::{Cause, Check, LayerEntry, Question, Taxonomy, TaxonomyError};
pub use variants::{
    Context, Edit, EditError, LEAK_WORDS, PlaceboText, PlanError, PlanFacts, PlannedCell,
    PlannedVariant, ProbePlan, TextEdit, ToolEdit, WrittenTexts, apply_edit, leaked_words,
    pick_placebos, plan_probe,
};
pub use view::RunView;
