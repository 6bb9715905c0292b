//! A stub server with faults: what is asked, what is read, what is tried again and what is not.

use crate::score::models::fixtures;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use triagent::domain::{ChatMessage, Progress, Role};
use triagent::jobs::{self, ImportOptions, JobError, ScoreOptions};
use triagent::score::{ActionScore, ApiKey, ModelSource, Options, Request, ScoreError, Scorer};
use triagent::store::Store;

/// Tries of one request, as the manual says.
const TRIES: usize = 5;

type Change = fn(&mut Vec<Value>);

/// One answer of the stub.
enum Answer {
    /// Echoes log-probs: token number × −0.001, none for the first, one token more at the end.
    Echo,
    Status(u16, &'static str),
    /// Promises more bytes than it sends.
    CutShort,
    Body(Value),
    Text(String),
    /// An echo whose list of log-probs was changed.
    Changed(Change),
    /// Says 503 and asks for a wait of so many seconds.
    Wait(u64),
}

/// Serves these answers in order and hands on what was asked.
fn stub(answers: Vec<Answer>) -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (send, asked) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let body = read_request(&mut stream);
            // Told first: whoever has the answer counts what was asked.
            send.send(body.clone()).unwrap();
            write_answer(&mut stream, &answer, &body);
        }
    });
    (url, asked)
}

fn read_request(stream: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|l| {
            l.to_lowercase()
                .strip_prefix("content-length: ")
                .map(str::to_owned)
        });
        if body.len() >= length.and_then(|l| l.parse().ok()).unwrap_or(usize::MAX) {
            let mut body: Value = serde_json::from_str(body).unwrap();
            let key = head
                .lines()
                .find(|l| l.to_lowercase().starts_with("authorization"));
            body["authorization"] = json!(key);
            return body;
        }
    }
}

fn write_answer(stream: &mut TcpStream, answer: &Answer, asked: &Value) {
    let (status, body, promised) = match answer {
        Answer::Echo => (200, echo(asked).to_string(), 0),
        Answer::Status(status, body) => (*status, (*body).to_owned(), 0),
        Answer::CutShort => (200, "{\"choices\": [".to_owned(), 500),
        Answer::Body(body) => (200, body.to_string(), 0),
        Answer::Text(text) => (200, text.clone(), 0),
        Answer::Changed(change) => {
            let mut answer = echo(asked);
            let list = answer["choices"][0]["logprobs"]["token_logprobs"].as_array_mut();
            change(list.unwrap());
            (200, answer.to_string(), 0)
        }
        Answer::Wait(_) => (503, "{\"message\": \"busy\"}".to_owned(), 0),
    };
    let wait = match answer {
        Answer::Wait(seconds) => *seconds,
        _ => 0,
    };
    let length = body.len() + promised;
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nretry-after: {wait}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // Who has read enough hangs up.
    let _ = stream.write_all(body.as_bytes());
}

fn echo(asked: &Value) -> Value {
    let prompts = match &asked["prompt"] {
        Value::String(text) => vec![text.bytes().map(u32::from).collect()],
        list => serde_json::from_value::<Vec<Vec<u32>>>(list.clone()).unwrap(),
    };
    // Backwards, to see that the index is read.
    let choice = |(index, ids): (usize, &Vec<u32>)| {
        let mut logps: Vec<Value> = ids
            .iter()
            .map(|id| json!(-0.001 * f64::from(*id)))
            .collect();
        logps[0] = Value::Null;
        logps.push(json!(-9.0));
        // As vLLM names them on request; the last one is the generated one.
        let mut tokens: Vec<String> = ids.iter().map(|id| format!("token_id:{id}")).collect();
        tokens.push("x".to_owned());
        json!({"index": index, "logprobs": {"token_logprobs": logps, "tokens": tokens}})
    };
    json!({"choices": prompts.iter().enumerate().rev().map(choice).collect::<Vec<_>>()})
}

fn open(url: &str) -> Scorer {
    let options = Options {
        tokenizer: Some(fixtures().join("tokenizer")),
        api_key: Some(ApiKey("secret".to_owned())),
        ..Options::default()
    };
    let source = ModelSource::parse(Some(&format!("{url}#m"))).unwrap();
    Scorer::open(&source, &options).unwrap()
}

fn score(scorer: &mut Scorer, actions: &[&str]) -> Vec<Result<ActionScore, ScoreError>> {
    let context = [ChatMessage::text(Role::User, "refund days?")];
    let actions: Vec<_> = actions
        .iter()
        .map(|a| ChatMessage::text(Role::Assistant, *a))
        .collect();
    let request = Request {
        context: &context,
        tools: &[],
        actions: &actions,
        now_us: None,
    };
    scorer.score(&request, &Progress::default())
}

/// The stub's log-probs say which token they belong to.
fn is_echo(score: &Result<ActionScore, ScoreError>) -> bool {
    let score = score.as_ref().unwrap();
    let fits = |t: &triagent::score::TokenScore| (t.logp + 0.001 * t.id as f32).abs() < 1e-6;
    !score.per_token.is_empty() && score.per_token.iter().all(fits)
}

fn refusal(answers: Vec<Answer>) -> (String, usize) {
    let (url, asked) = stub(answers);
    let error = score(&mut open(&url), &["thirty days"])
        .remove(0)
        .unwrap_err()
        .to_string();
    (error, asked.try_iter().count())
}

#[test]
fn tokens_are_sent_in_a_batch_and_read_by_index() {
    let (url, asked) = stub(vec![Answer::Echo]);
    let mut scorer = open(&url);
    let scores = score(&mut scorer, &["thirty days", "I cannot find it"]);
    assert!(scores.iter().all(is_echo));
    let asked = asked.recv().unwrap();
    let prompts: Vec<Vec<u32>> = serde_json::from_value(asked["prompt"].clone()).unwrap();
    for (prompt, score) in prompts.iter().zip(&scores) {
        let own: Vec<u32> = score
            .as_ref()
            .unwrap()
            .per_token
            .iter()
            .map(|t| t.id)
            .collect();
        assert!(prompt.ends_with(&own));
    }
    assert_eq!(
        (&asked["model"], &asked["echo"], &asked["max_tokens"]),
        (&json!("m"), &json!(true), &json!(1))
    );
    assert_eq!(asked["authorization"], "authorization: Bearer secret");
    let binding = scorer.binding();
    assert_eq!(binding.weights, format!("m at {url}"));
    assert_eq!(binding.dtype, "server");
    assert!(
        !format!(
            "{:?}",
            Options {
                api_key: Some(ApiKey("secret".to_owned())),
                ..Options::default()
            }
        )
        .contains("secret")
    );
}

#[test]
fn faults_that_pass_are_tried_again() {
    let (url, asked) = stub(vec![
        Answer::Status(503, "starting"),
        Answer::CutShort,
        Answer::Status(429, "busy"),
        Answer::Status(200, "no JSON"),
        Answer::Echo,
    ]);
    assert!(is_echo(&score(&mut open(&url), &["thirty days"])[0]));
    assert_eq!(asked.iter().count(), 5);
}

#[test]
fn a_server_that_stays_down_is_given_up_and_named() {
    let down = || Answer::Status(503, "{\"error\": {\"message\": \"down\"}}");
    let (error, asked) = refusal((0..TRIES).map(|_| down()).collect());
    assert!(
        error.contains("http://127.0.0.1:") && error.contains("HTTP 503: down"),
        "{error}"
    );
    assert!(error.contains("5 tries"), "{error}");
    assert_eq!(asked, TRIES);
}

#[test]
fn a_refusal_is_not_tried_again() {
    let (error, asked) = refusal(vec![Answer::Status(401, "{\"detail\": \"who are you\"}")]);
    assert!(error.contains("HTTP 401: who are you"), "{error}");
    assert_eq!(asked, 1);
}

#[test]
fn answers_that_cannot_be_trusted_are_refused() {
    let many = vec![json!(-1.0); 200];
    let logprobs = |logps: Vec<Value>, tokens: usize| json!({"choices": [{"index": 0, "logprobs": {"token_logprobs": logps, "tokens": vec!["x"; tokens]}}]});
    for (answer, names) in [
        (json!({"choices": []}), "0 answers to 1 prompts"),
        (
            json!({"choices": [{"index": 4, "logprobs": {}}]}),
            "no answer with index 0",
        ),
        (json!({"choices": [{"index": 0}]}), "echo with logprobs"),
        (
            logprobs(vec![json!(-1.0); 3], 3),
            "log-probs of 3 tokens for a prompt of",
        ),
        (
            logprobs(vec![json!(-1.0); 5000], 5000),
            "log-probs of 5000 tokens for a prompt of",
        ),
    ] {
        let (error, _) = refusal(vec![Answer::Body(answer)]);
        assert!(error.contains(names), "{error:?} does not name {names:?}");
    }
    let changes: [(Change, &str); 4] = [
        (|list| list.fill(Value::Null), "has no log-prob"),
        (
            |list| list[1] = json!(5.0),
            "above 0: these are no log-probs",
        ),
        (|list| list[1] = json!(-1e39), "which no model gives"),
        (|list| list[0] = json!(-0.5), "its successor's place"),
    ];
    for (change, names) in changes {
        let (error, _) = refusal(vec![Answer::Changed(change)]);
        assert!(error.contains(names), "{error:?} does not name {names:?}");
    }
    let (error, _) = refusal(vec![
        Answer::Status(400, "no"),
        Answer::Body(logprobs(many, 200)),
    ]);
    assert!(error.contains("200 tokens of a prompt that has"), "{error}");
}

#[test]
fn a_server_that_takes_no_tokens_is_given_text_and_its_tokens_are_counted() {
    for refused in [
        Answer::Status(422, "str type expected"),
        // llama-cpp-python's.
        Answer::Status(
            500,
            "{\"error\": {\"message\": \"3 validation errors: string_type\"}}",
        ),
    ] {
        let (url, asked) = stub(vec![
            refused,
            Answer::Body(json!({"choices": [{"index": 0, "logprobs": {"token_logprobs": []}}]})),
        ]);
        let error = score(&mut open(&url), &["thirty days"])
            .remove(0)
            .unwrap_err();
        assert!(error.to_string().contains("it makes 0 tokens"), "{error}");
        let prompts: Vec<Value> = asked.iter().map(|a| a["prompt"].clone()).collect();
        let text = prompts[1].as_str().unwrap();
        assert!(
            text.contains("refund days?") && text.contains("thirty days"),
            "{text}"
        );
    }
}

#[test]
fn what_is_missing_is_named() {
    let server = |url: &str| ModelSource::parse(Some(url)).unwrap();
    let error = Scorer::open(&server("http://127.0.0.1:9/v1#m"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("tokenizer"), "{error}");
    let options = Options {
        tokenizer: Some(fixtures().join("tokenizer")),
        ..Options::default()
    };
    let error = Scorer::open(&server("https://host/v1#m"), &options).unwrap_err();
    assert!(error.to_string().contains("tunnel"), "{error}");
    assert!(ModelSource::parse(Some("http://host/v1")).is_err());
}

/// The same bytes would come again: one more try, for an answer that was damaged on its way.
#[test]
fn an_answer_that_cannot_be_read_is_asked_for_twice() {
    let nan = "{\"choices\": [{\"index\": 0, \"logprobs\": {\"token_logprobs\": [NaN]}}]}";
    let empties = format!("{{\"choices\": [{}[]]}}", "[],".repeat(100_000));
    let long = format!("{{\"choices\": [{}]}}", " ".repeat(4 << 20));
    for (text, names) in [
        (nan.to_owned(), "expected value"),
        ("[".repeat(100_000), "cannot be read"),
        (empties, "a list of at most 64"),
        (long, "cannot be read"),
    ] {
        let answers = (0..TRIES).map(|_| Answer::Text(text.clone())).collect();
        let (error, asked) = refusal(answers);
        assert!(error.contains(names), "{error:?} does not name {names:?}");
        assert_eq!(asked, 2, "{error}");
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_waited() {
    for seconds in [61, 99_999_999_999, u64::MAX] {
        let (error, asked) = refusal(vec![Answer::Wait(seconds)]);
        let said = format!("busy; it would be another wait of {seconds} s, and one job waits 60 s");
        assert!(error.contains(&said), "{error}");
        assert_eq!(asked, 1);
    }
}

/// A workspace of some runs of one decision.
fn workspace(folder: &std::path::Path, runs: usize) -> Store {
    let row = |n: usize| {
        let messages = json!([{"role": "user", "content": "refund days?"}, {"role": "assistant", "content": "thirty"}]);
        json!({"id": format!("r{n}"), "messages": messages}).to_string()
    };
    let log = folder.join("log.jsonl");
    std::fs::write(&log, (0..runs).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    let mut store = Store::create(&folder.join("w.db")).unwrap();
    let (options, progress) = (ImportOptions::default(), Progress::default());
    let totals = jobs::import(&mut store, &[log], &options, 1, &progress, &mut |_| {});
    assert_eq!(totals.unwrap().stored, runs as u64);
    store
}

#[test]
fn a_job_stops_when_its_server_is_gone_and_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = workspace(folder.path(), 4);
    let mut job = |answers: Vec<Answer>| {
        let (url, asked) = stub(answers);
        let (options, progress) = (ScoreOptions::default(), Progress::default());
        let done = jobs::score(
            &mut store,
            &mut open(&url),
            &options,
            2,
            &progress,
            &mut |_| {},
        );
        (done, asked.try_iter().count())
    };
    let down = (0..TRIES).map(|_| Answer::Status(503, "down"));
    let (done, asked) = job([Answer::Echo].into_iter().chain(down).collect());
    let error = done.unwrap_err();
    assert!(
        matches!(
            error,
            JobError::ServerGone {
                left: 3,
                total: 4,
                ..
            }
        ),
        "{error:?}"
    );
    let said = error.to_string();
    for words in [
        "http://127.0.0.1:",
        "HTTP 503: down",
        "3 of 4 runs",
        "goes on from there",
    ] {
        assert!(said.contains(words), "{said}");
    }
    // One run, and the tries of the second; nothing for the other two.
    assert_eq!(asked, 1 + TRIES);
    let (done, _) = job((0..4).map(|_| Answer::Echo).collect());
    assert_eq!(done.unwrap().scored, 4);
}
