//! A model behind an OpenAI-compatible completions server that echoes prompt log-probs.
//!
//! The very tokens of the local tokenizer are sent; where a server takes only text, its own tokens are
//! counted and compared. Nothing is sent anywhere unless the user names the server.

mod echo;

use super::engine::RowScore;
use super::error::ScoreError;
use super::prompt::Plan;
use super::runner::{Run, Work};
use super::source::ApiKey;
use crate::domain::Progress;
use echo::Accepts;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Prompts in one request.
const BATCH: usize = 8;
/// Tries of one request: a server that restarts needs some seconds.
const TRIES: u32 = 5;
/// Wait before the second try; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Scoring a long prompt on a busy server takes minutes.
const ANSWER_WAIT: Duration = Duration::from_secs(900);
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// Bytes of one answer: a million tokens with their log-probs are under 100 MB.
const MAX_ANSWER: u64 = 256 << 20;

/// A connection to one model of one server.
#[derive(Debug)]
pub(super) struct Client {
    agent: ureq::Agent,
    url: String,
    name: String,
    key: Option<ApiKey>,
    accepts: Accepts,
    work: Work,
}

/// Why one try failed.
enum Failed {
    /// It may work again, after so long if the server said.
    Later(String, Option<Duration>),
    /// The server understood and refused.
    Refused(u16, String),
    Broken(ScoreError),
}

impl Client {
    pub(super) fn new(url: &str, name: &str, key: Option<ApiKey>) -> Result<Self, ScoreError> {
        if !url.starts_with("http://") {
            return Err(ScoreError::Server {
                url: url.to_owned(),
                why: "only http:// is spoken here; hint: reach it through a tunnel (ssh -L)"
                    .to_owned(),
            });
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // The user named this server; a proxy from the environment is somebody else.
            .proxy(None)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_WAIT))
            .timeout_global(Some(ANSWER_WAIT))
            .build();
        Ok(Self {
            agent: config.new_agent(),
            url: url.to_owned(),
            name: name.to_owned(),
            key,
            accepts: Accepts::Tokens,
            work: Work::default(),
        })
    }

    fn wrong(&self, why: impl Into<String>) -> ScoreError {
        ScoreError::Server {
            url: self.url.clone(),
            why: why.into(),
        }
    }

    /// Scores a batch; a server that takes no tokens is asked again with text, one prompt at a time.
    fn batch(
        &mut self,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Result<Vec<Vec<RowScore>>, ScoreError> {
        if self.accepts == Accepts::Tokens {
            let prompts: Vec<&[u32]> = plans.iter().map(|p| p.ids.as_slice()).collect();
            match self.ask(&json!(prompts), progress) {
                Ok(answer) => return self.read_all(plans, &answer),
                Err(Failed::Refused(400 | 404 | 415 | 422, why)) if self.work.computed == 0 => {
                    // Nothing has worked yet: perhaps it does not know token numbers.
                    self.accepts = Accepts::Text;
                    return self.as_text(plans, progress).map_err(|error| match error {
                        ScoreError::Server { url, why: later } if later.contains("HTTP") => {
                            ScoreError::Server {
                                url,
                                why: format!("{later} (and with tokens: {why})"),
                            }
                        }
                        other => other,
                    });
                }
                Err(failed) => return Err(self.error(failed)),
            }
        }
        self.as_text(plans, progress)
    }

    fn as_text(
        &mut self,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Result<Vec<Vec<RowScore>>, ScoreError> {
        let mut out = Vec::new();
        for plan in plans {
            let answer = self
                .ask(&json!(plan.text), progress)
                .map_err(|f| self.error(f))?;
            out.extend(self.read_all(&[plan], &answer)?);
        }
        Ok(out)
    }

    fn error(&self, failed: Failed) -> ScoreError {
        match failed {
            Failed::Later(why, _) => self.wrong(format!("{why}; gave up after {TRIES} tries")),
            Failed::Refused(status, why) => self.wrong(format!("HTTP {status}: {why}")),
            Failed::Broken(error) => error,
        }
    }

    /// Tries, waits and tries again.
    fn ask(&self, prompt: &Value, progress: &Progress) -> Result<Value, Failed> {
        let body = json!({
            "model": self.name, "prompt": prompt, "echo": true, "logprobs": 1,
            // One token is generated and thrown away: to some servers zero means endless.
            "max_tokens": 1, "temperature": 0,
        });
        let mut wait = FIRST_WAIT;
        for last in (0..TRIES).map(|n| n + 1 == TRIES) {
            if progress.is_cancelled() {
                return Err(Failed::Broken(ScoreError::Cancelled));
            }
            match self.try_once(&body) {
                Err(Failed::Later(_, asked)) if !last => {
                    pause(asked.unwrap_or(wait).min(LONGEST_WAIT), progress);
                    wait *= 2;
                }
                other => return other,
            }
        }
        Err(Failed::Later("no answer".to_owned(), None))
    }

    fn try_once(&self, body: &Value) -> Result<Value, Failed> {
        let mut request = self.agent.post(format!("{}/completions", self.url));
        if let Some(ApiKey(key)) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let later = |e: &ureq::Error| Failed::Later(e.to_string(), None);
        let mut response = request.send_json(body).map_err(|e| later(&e))?;
        let status = response.status().as_u16();
        let header = response
            .headers()
            .get("retry-after")
            .and_then(|v| v.to_str().ok());
        let asked = header.and_then(|v| v.parse().ok()).map(Duration::from_secs);
        let bytes = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER)
            .read_to_vec();
        let bytes = bytes.map_err(|e| Failed::Later(e.to_string(), asked))?;
        if status == 200 {
            // An answer that is cut short is no answer.
            return serde_json::from_slice(&bytes)
                .map_err(|e| Failed::Later(format!("no JSON: {e}"), asked));
        }
        let why = said(&bytes);
        match status {
            // llama-cpp-python says so of a prompt that is no text.
            500 if why.contains("validation error") => Err(Failed::Refused(422, why)),
            408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 => {
                Err(Failed::Later(format!("HTTP {status}: {why}"), asked))
            }
            _ => Err(Failed::Refused(status, why)),
        }
    }

    fn read_all(&self, plans: &[&Plan], answer: &Value) -> Result<Vec<Vec<RowScore>>, ScoreError> {
        let choices = answer["choices"].as_array().map_or(&[][..], Vec::as_slice);
        if choices.len() != plans.len() {
            return Err(self.wrong(format!(
                "{} answers to {} prompts",
                choices.len(),
                plans.len()
            )));
        }
        let of = |i: usize| {
            choices
                .iter()
                .find(|c| c["index"].as_u64() == Some(i as u64))
        };
        // One number for all prompts; it says something only where there is one.
        let counted = answer["usage"]["prompt_tokens"]
            .as_u64()
            .filter(|_| plans.len() == 1);
        let read = |(i, plan): (usize, &&Plan)| {
            let choice = of(i).ok_or_else(|| self.wrong(format!("no answer with index {i}")))?;
            echo::read(plan, choice, self.accepts, counted).map_err(|why| self.wrong(why))
        };
        plans.iter().enumerate().map(read).collect()
    }
}

impl Run for Client {
    fn run(
        &mut self,
        plans: &[&Plan],
        progress: &Progress,
    ) -> Vec<Result<Vec<RowScore>, ScoreError>> {
        let mut out = Vec::new();
        for plans in plans.chunks(BATCH) {
            match self.batch(plans, progress) {
                Ok(scores) => {
                    self.work.computed += plans.iter().map(|p| p.ids.len() as u64).sum::<u64>();
                    out.extend(scores.into_iter().map(Ok));
                }
                Err(error) => out.extend(plans.iter().map(|_| Err(error.clone()))),
            }
        }
        out
    }

    fn work(&self) -> Work {
        self.work
    }
}

/// Waits, but not past somebody's wish to stop.
fn pause(wait: Duration, progress: &Progress) {
    const SLICE: Duration = Duration::from_millis(50);
    let start = Instant::now();
    while start.elapsed() < wait && !progress.is_cancelled() {
        std::thread::sleep(SLICE.min(wait));
    }
}

/// What a server says about its refusal, in one line of bounded length.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let json: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let message = [
        &json["error"]["message"],
        &json["message"],
        &json["detail"],
        &json["error"],
    ];
    let message = message.into_iter().find_map(Value::as_str).unwrap_or(&text);
    message
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(300)
        .collect()
}
