//! Sharing changes nothing: chunk size, company, order and what was scored before leave every bit alone.

use crate::score::fast::precisions;
use crate::score::models::{folder, open};
use proptest::prelude::*;
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::score::{ActionScore, Options, Precision, Request, ScoreError, Scorer};

const FAMILIES: [(&str, &str); 3] = [
    ("llama", "llama"),
    ("qwen2-window", "qwen2"),
    ("gemma3", "gemma3"),
];

fn scorer(family: (&str, &str), chunk: usize) -> Scorer {
    scorer_in(Precision::F32, family, chunk)
}

fn scorer_in(precision: Precision, family: (&str, &str), chunk: usize) -> Scorer {
    let dir = folder(family.0, family.1);
    open(
        dir.path(),
        &Options {
            chunk,
            precision,
            ..Options::default()
        },
    )
}

fn score(
    scorer: &mut Scorer,
    context: &[ChatMessage],
    actions: &[ChatMessage],
) -> Vec<ActionScore> {
    let request = Request {
        context,
        tools: &[],
        actions,
        now_us: None,
    };
    let scores = scorer.score(&request, &Progress::default());
    scores.into_iter().map(Result::unwrap).collect()
}

/// What must not change by a bit.
fn bits(score: &ActionScore) -> Vec<(u32, u32, u32, u32)> {
    let of = |t: &triagent::score::TokenScore| {
        (
            t.id,
            t.logp.to_bits(),
            t.entropy.unwrap().to_bits(),
            t.rank.unwrap(),
        )
    };
    score.per_token.iter().map(of).collect()
}

fn text(role: Role, words: &str) -> ChatMessage {
    ChatMessage::text(role, words)
}

/// Words that the small tokenizer knows, so that prefixes meet and part in odd places.
fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["policy", "refund", "days", "日", "x", "index"]),
        1..most,
    )
    .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_company_and_order_change_no_bit(
        family in prop::sample::select(FAMILIES.to_vec()),
        precision in prop::sample::select(precisions()),
        system in words(40),
        user in words(30),
        actions in prop::collection::vec(words(20), 2..5),
        chunk in prop::sample::select(vec![1_usize, 7, 33, 64]),
    ) {
        let context = [text(Role::System, &system), text(Role::User, &user)];
        let actions: Vec<_> = actions.iter().map(|a| text(Role::Assistant, a)).collect();
        let scorer = |chunk| scorer_in(precision, family, chunk);
        let mut plain = scorer(512);
        // One by one, each time with the others' keys and values already there or not.
        let alone: Vec<_> =
            actions.iter().map(|a| bits(&score(&mut plain, &context, std::slice::from_ref(a))[0])).collect();
        let together: Vec<_> = score(&mut plain, &context, &actions).iter().map(bits).collect();
        prop_assert_eq!(&alone, &together);
        let mut chunked = scorer(chunk);
        let small: Vec<_> = score(&mut chunked, &context, &actions).iter().map(bits).collect();
        prop_assert_eq!(&alone, &small);
        let reversed: Vec<_> = actions.iter().rev().cloned().collect();
        let mut back: Vec<_> =
            score(&mut scorer(chunk), &context, &reversed).iter().map(bits).collect();
        back.reverse();
        prop_assert_eq!(&alone, &back);
    }

    /// A context that is cut short, changed in the middle and restored scores as on the first day.
    #[test]
    fn cut_and_rescored_contexts_change_no_bit(
        family in prop::sample::select(FAMILIES.to_vec()),
        first in words(30),
        other in words(30),
        last in words(20),
        action in words(10),
    ) {
        let actions = [text(Role::Assistant, &action)];
        let context = |middle: &str| [text(Role::System, &first), text(Role::User, middle), text(Role::User, &last)];
        let mut warm = scorer(family, 64);
        let before = bits(&score(&mut warm, &context(&first), &actions)[0]);
        let changed = bits(&score(&mut warm, &context(&other), &actions)[0]);
        let short = bits(&score(&mut warm, &context(&first)[..2], &actions)[0]);
        let again = bits(&score(&mut warm, &context(&first), &actions)[0]);
        prop_assert_eq!(&before, &again);
        let fresh = |context: &[ChatMessage]| bits(&score(&mut scorer(family, 64), context, &actions)[0]);
        prop_assert_eq!(changed, fresh(&context(&other)));
        prop_assert_eq!(short, fresh(&context(&first)[..2]));
    }
}

/// What the run did next is the context of its next decision: only new tokens are computed.
#[test]
fn the_next_step_of_a_run_reuses_the_last_one() {
    let mut scorer = scorer(FAMILIES[0], 64);
    let mut context = vec![
        text(Role::System, "You are an agent."),
        text(Role::User, "refund days?"),
    ];
    let first = text(Role::Assistant, "policy index");
    score(&mut scorer, &context, std::slice::from_ref(&first));
    assert_eq!(scorer.work().reused, 0);
    let before = scorer.work().computed;
    context.extend([first, text(Role::User, "and now?")]);
    let next = score(&mut scorer, &context, &[text(Role::Assistant, "days")]);
    // All tokens of the first request but its last, which nothing followed.
    assert_eq!(scorer.work().reused, before);
    let last = u64::from(next[0].prompt_tokens) + next[0].per_token.len() as u64 - 1;
    assert_eq!(scorer.work().computed - before, last - before);
}

#[test]
fn a_cancelled_request_says_so_and_the_next_one_works() {
    let mut scorer = scorer(FAMILIES[0], 8);
    let (context, actions) = ([text(Role::User, "hi")], [text(Role::Assistant, "hello")]);
    let request = Request {
        context: &context,
        tools: &[],
        actions: &actions,
        now_us: None,
    };
    let stop = Progress::default();
    stop.cancel();
    assert_eq!(scorer.score(&request, &stop), [Err(ScoreError::Cancelled)]);
    assert!(scorer.score(&request, &Progress::default())[0].is_ok());
}

#[test]
fn a_conversation_past_the_window_is_scored_whole_and_says_so() {
    // Trainers compute past the window too, so the sums can be compared; they mean little, and the warning says it.
    let mut scorer = scorer(FAMILIES[0], 512);
    let context = [text(Role::User, &"days ".repeat(600))];
    let request = Request {
        context: &context,
        tools: &[],
        actions: &[text(Role::Assistant, "x")],
        now_us: None,
    };
    let score = scorer
        .score(&request, &Progress::default())
        .remove(0)
        .unwrap();
    assert!(score.prompt_tokens > 600, "{}", score.prompt_tokens);
    let warning = score.warnings.join("\n");
    assert!(warning.contains("past the 512"), "{warning}");
}

#[test]
fn a_memory_limit_that_is_too_small_is_refused_before_the_work() {
    let dir = folder("llama", "llama");
    let source = triagent::score::ModelSource::Folder(dir.path().to_owned());
    let options = Options {
        max_memory_mib: 1,
        chunk: 4096,
        ..Options::default()
    };
    let error = Scorer::open(&source, &options).unwrap_err();
    assert!(
        matches!(error, ScoreError::Memory { limit_mib: 1, .. }),
        "{error}"
    );
}

/// The embedded proxy knows its limit: it refuses with the length and a hint at `--model`.
#[test]
fn the_embedded_model_refuses_what_is_too_long_for_it() {
    let source = triagent::score::ModelSource::Embedded;
    let mut scorer = Scorer::open(&source, &Options::default()).unwrap();
    assert!(scorer.binding().is_proxy);
    let actions = [text(Role::Assistant, "x")];
    let long = [text(Role::User, &"days ".repeat(5000))];
    let request = Request {
        context: &long,
        tools: &[],
        actions: &actions,
        now_us: None,
    };
    let error = scorer
        .score(&request, &Progress::default())
        .remove(0)
        .unwrap_err();
    assert!(
        matches!(error, ScoreError::TooLong { tokens: 5000.., .. }),
        "{error}"
    );
    assert!(error.to_string().contains("--model"), "{error}");
}
