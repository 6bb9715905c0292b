//! The toy case of SCIENCE part 3 through the job: plan, cells, report, suggestion; stops, refusals, sources.

use super::hand::ByHand;
use std::path::{Path, PathBuf};
use triagent::domain::{Candidate, ChatMessage, Choice, Criterion, Decision, Layer, Progress};
use triagent::domain::{Role, RunId, StepRef};
use triagent::jobs::{
    self, ImportOptions, JobError, PairWords, ProbeError, ProbeOptions, SideName,
};
use triagent::store::{Act, Store};
use triagent::triage::{Register, Variant, WrittenTexts};

/// A run whose document stands in the index and was not retrieved (`sample-logs/EXPECTED.json`).
const RUN: &str = "teach-index-05";

struct Desk {
    store: Store,
    register: Register,
    _folder: tempfile::TempDir,
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("w.db")).unwrap();
    jobs::import_documents(&mut store, &here("sample-logs/documents.jsonl")).unwrap();
    jobs::import_tasks(&mut store, &here("sample-logs/tasks.jsonl")).unwrap();
    let runs = ["teaching", "layers"].map(|f| here(&format!("sample-logs/runs/{f}")));
    jobs::import(
        &mut store,
        &runs,
        &ImportOptions::default(),
        1,
        &Progress::default(),
        &mut |_| {},
    )
    .unwrap();
    Desk {
        register: jobs::register(&store).unwrap(),
        store,
        _folder: folder,
    }
}

impl Desk {
    /// The margins of the toy case; what is no document, hint or wrapper is a placebo.
    fn toy(&self, evidence: f64, oracle: f64) -> impl FnMut(&str, &[ChatMessage]) -> f64 + use<> {
        let steps = self.store.steps(&RunId::from(RUN)).unwrap();
        let context = triagent::domain::chat::context_before(&steps, 4);
        let tools = self.store.rollout(&RunId::from(RUN)).unwrap().tools;
        let bare = super::hand::said(&triagent::triage::Context {
            messages: context,
            tools,
        });
        let task = self.store.task(&"trip-05".into()).unwrap().unwrap();
        let document = self
            .register
            .version(
                &task.requires[0].doc_id,
                task.requires[0].version.as_deref().unwrap(),
            )
            .unwrap()
            .text
            .clone();
        move |said, _| {
            if said.contains("Hint:") {
                oracle
            } else if said.contains(&document) {
                evidence
            } else if said.len() < bare.len() + 45 {
                -3.2
            } else {
                -3.0
            }
        }
    }

    fn probe(&mut self, evidence: f64, oracle: f64, options: &ProbeOptions) -> jobs::Probe {
        let mut model = ByHand::new(self.toy(evidence, oracle));
        self.ask(&mut model, RUN, options).unwrap()
    }

    fn ask(
        &mut self,
        model: &mut dyn jobs::ProbeModel,
        run: &str,
        options: &ProbeOptions,
    ) -> Result<jobs::Probe, JobError> {
        jobs::probe(
            &mut self.store,
            model,
            &RunId::from(run),
            &self.register,
            options,
            7,
            &Progress::default(),
        )
    }

    fn suggestion(&self) -> triagent::triage::Suggestion {
        jobs::suggest_run(&self.store, &RunId::from(RUN), &self.register).unwrap()
    }
}

fn heeded() -> ProbeOptions {
    ProbeOptions {
        heed: true,
        ..ProbeOptions::default()
    }
}

fn refusal(desk: &mut Desk, run: &str, options: &ProbeOptions) -> String {
    let mut model = ByHand::new(|_: &str, _: &[ChatMessage]| -1.0);
    let error = desk.ask(&mut model, run, options).unwrap_err();
    assert_eq!(model.asked, 0, "scored before it was refused");
    error.to_string()
}

#[test]
fn the_toy_case_confirms_the_index() {
    // SCIENCE part 3: m(x_R) = −3.2, m(x_E) = +1.1, placebo −3.0, oracle +4.0 → ē = 4.1 ≥ τ = 1.0, flip, index.
    let mut desk = desk();
    let probe = desk.probe(1.1, 4.0, &heeded());
    let e = probe.report.effect(Variant::Evidence).unwrap();
    // f32 log-probs, so not to the last digit.
    assert!((e.effect - 4.1).abs() < 1e-5, "{}", e.effect);
    assert!(e.shift && e.flip && !e.fragile, "{e:?}");
    assert!((probe.report.tau - 1.0).abs() < 1e-12);
    assert_eq!((e.cells, e.placebo_rank), (12, Some((1, 36))));
    assert_eq!(e.author, "register");
    assert!(e.diff.starts_with("+ ["), "{}", e.diff);
    let said = desk.suggestion();
    assert_eq!((said.layer, said.row), (Layer::Index, Some(3)));
    assert_eq!(
        serde_json::to_value(said.strength).unwrap(),
        "confirmed",
        "{}",
        said.reason
    );
    assert!(said.probe.is_some());
}

#[test]
fn a_document_that_would_not_have_mattered_leaves_the_row_undetermined() {
    // m(x_E) = −2.8 → ē = 0.2 → row 9; oracle −3.0 → gate fails → undetermined.
    let mut desk = desk();
    desk.probe(-2.8, 4.0, &heeded());
    let said = desk.suggestion();
    assert_eq!((said.layer, said.row), (Layer::Undetermined, Some(9)));
    let mut desk = self::desk();
    desk.probe(1.1, -3.0, &heeded());
    let said = desk.suggestion();
    assert_eq!((said.layer, said.row), (Layer::Undetermined, Some(10)));
    assert!(said.reason.contains("positive control"), "{}", said.reason);
}

#[test]
fn a_model_that_was_not_shown_to_win_is_shown_and_not_heeded() {
    let mut desk = desk();
    let probe = desk.probe(-2.8, 4.0, &ProbeOptions::default());
    assert!(!probe.trust.heeded);
    assert!(
        probe.trust.why.contains("not calibrated"),
        "{}",
        probe.trust.why
    );
    let said = desk.suggestion();
    // The rules' word stands; the probe lies beside it.
    assert_eq!((said.layer, said.row), (Layer::Index, Some(3)));
    assert!(said.probe.is_some() && said.reason.contains("not heeded"));
}

#[test]
fn a_quick_look_gives_no_verdict() {
    let mut desk = desk();
    let probe = desk.probe(
        -2.8,
        4.0,
        &ProbeOptions {
            quick: true,
            ..heeded()
        },
    );
    assert!(probe.report.screen_only);
    let rank = probe.report.effect(Variant::Evidence).unwrap().placebo_rank;
    assert_eq!(rank, Some((1, 3)));
    assert_eq!(desk.suggestion().layer, Layer::Index);
}

#[test]
fn the_plan_is_on_the_disk_before_the_first_score() {
    let mut desk = desk();
    let mut model = ByHand::new(|_: &str, _: &[ChatMessage]| -1.0);
    model.stops_after = 0;
    let stopped = desk.ask(&mut model, RUN, &heeded()).unwrap_err();
    assert!(matches!(stopped, JobError::Cancelled));
    let plans: Vec<(String, String, i64, serde_json::Value)> =
        desk.store.results("probe-plan", None).unwrap();
    assert_eq!(plans.len(), 1);
    assert_eq!(plans[0].0, format!("{RUN}:4"));
    let variants = &plans[0].3["plan"]["variants"];
    assert_eq!(variants[0]["author"], "register");
    assert!(variants[0]["diff"].as_str().unwrap().starts_with('+'));
    assert!(
        jobs::probes_of(&desk.store, &RunId::from(RUN))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_stopped_probe_goes_on_where_it_was() {
    let mut whole = desk();
    let full = whole.probe(1.1, 4.0, &heeded());
    let mut desk = desk();
    let mut first = ByHand::new(desk.toy(1.1, 4.0));
    first.stops_after = 30;
    desk.ask(&mut first, RUN, &heeded()).unwrap_err();
    let mut second = ByHand::new(desk.toy(1.1, 4.0));
    let resumed = desk.ask(&mut second, RUN, &heeded()).unwrap();
    assert_eq!(
        first.asked + second.asked,
        usize::try_from(full.contexts.0).unwrap()
    );
    assert_eq!(resumed.contexts.1, 30);
    assert_eq!(resumed.report, full.report);
    assert_eq!(resumed.plan, full.plan);
    // Another model does not read the first one's cells; another plan is counted.
    assert_eq!((resumed.plans, full.plans), (1, 1));
    let other = ProbeOptions {
        corrected: Some((
            ChatMessage::text(Role::Assistant, "Ask first."),
            "ann".into(),
        )),
        ..heeded()
    };
    let again = desk.probe(1.1, 4.0, &other);
    assert_eq!((again.plans, again.contexts.1), (2, 0));
    assert_eq!(again.corrected_by, "ann");
}

#[test]
fn what_is_missing_is_named_before_anything_is_scored() {
    let mut desk = desk();
    let say = |text: &str| Some((ChatMessage::text(Role::Assistant, text), "ann".to_owned()));
    let options = ProbeOptions::default();
    assert!(refusal(&mut desk, "teach-pass-condition", &options).contains("passed"));
    let user = ProbeOptions {
        step: Some(1),
        ..ProbeOptions::default()
    };
    assert!(refusal(&mut desk, RUN, &user).contains("no decision of the model"));
    let call = ProbeOptions {
        step: Some(2),
        ..ProbeOptions::default()
    };
    assert!(refusal(&mut desk, RUN, &call).contains("--corrected"));
    let recorded = desk.store.steps(&RunId::from(RUN)).unwrap()[4].text.clone();
    let same = ProbeOptions {
        corrected: say(&recorded),
        ..ProbeOptions::default()
    };
    assert!(refusal(&mut desk, RUN, &same).contains("says the same"));
    let answer = "The allowance on that day is forty euros for each full working day abroad.";
    let leak = ProbeOptions {
        corrected: say(answer),
        written: WrittenTexts {
            author: "ann".into(),
            document: Some(answer.to_owned()),
            ..WrittenTexts::default()
        },
        ..ProbeOptions::default()
    };
    assert!(refusal(&mut desk, RUN, &leak).contains("write the evidence, not the answer"));
    desk.store
        .put_tasks(&[{
            let mut task = desk.store.task(&"trip-05".into()).unwrap().unwrap();
            task.expected = serde_json::Value::Null;
            task
        }])
        .unwrap();
    assert!(refusal(&mut desk, RUN, &options).contains("nothing says what"));
}

#[test]
fn a_prompt_that_does_not_fit_is_refused_before_any_other_work() {
    let mut desk = desk();
    let mut model = ByHand::new(desk.toy(1.1, 4.0));
    model.window = 200;
    let error = desk.ask(&mut model, RUN, &heeded()).unwrap_err();
    let JobError::Probe(ProbeError::TooLong { tokens, window }) = error else {
        panic!("{error}");
    };
    assert!(tokens > 200 && window == 200);
    // The longest context told it; nothing else was computed.
    assert_eq!(model.asked, 1);
}

#[test]
fn a_side_that_a_person_wrote_is_the_corrected_action() {
    let mut desk = desk();
    let at = StepRef {
        run: RunId::from(RUN),
        step: 4,
    };
    let written = ChatMessage::text(
        Role::Assistant,
        "Let me look for the current version first.",
    );
    let words = PairWords {
        choice: Choice::A,
        criteria: vec![Criterion::CitationValid],
        reason: "it cites what holds".into(),
        evidence: None,
        standard: None,
        author: "ann".into(),
        shown: None,
    };
    let (pair, _) = jobs::build_pair(
        &desk.store,
        &SideName::Written(Box::new(written.clone())),
        &SideName::At(at),
        words,
    )
    .unwrap();
    assert!(matches!(pair.a, Candidate::Human { .. }));
    let act = Act {
        reviewer: "ann",
        now_us: 5,
        codebook: "1",
    };
    desk.store
        .decide(act, &Decision::Pair(Box::new(pair)))
        .unwrap();
    let probe = desk.probe(1.1, 4.0, &ProbeOptions::default());
    assert_eq!(probe.corrected, [written]);
    assert_eq!(probe.corrected_by, "pair of ann");
}
