//! A model behind an OpenAI-compatible completions server that echoes prompt log-probs.
//!
//! The very tokens of the local tokenizer are sent; where a server takes only text, its own tokens are
//! counted and compared. Nothing is sent anywhere unless the user names the server. One that is gone is left alone: what
//! follows would wait for nothing.

mod answer;
mod echo;

use super::engine::RowScore;
use super::error::ScoreError;
use super::prompt::Plan;
use super::runner::{Run, Work};
use super::source::ApiKey;
use crate::domain::Progress;
use answer::Answer;
use echo::Accepts;
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

/// Prompts in one request.
const BATCH: usize = 8;
/// Tries of one request: a server that restarts needs some seconds.
const TRIES: u32 = 5;
/// Wait before the second try; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// All waits of one job together, whoever asks for them; then it stops, and goes on when somebody starts it again.
const MAX_WAITED: Duration = Duration::from_secs(60);
/// Scoring a long prompt on a busy server takes minutes.
const ANSWER_WAIT: Duration = Duration::from_secs(900);
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// Bytes of one answer: a million tokens with their log-probs are under 100 MB.
const MAX_ANSWER: u64 = 256 << 20;
/// Bytes that each token sent may come back with: some 200 are usual.
const TOKEN_BYTES: u64 = 4 << 10;
/// Bytes that an answer may have beside its tokens.
const FRAME_BYTES: u64 = 1 << 20;
/// Bytes of a refusal that are read.
const MAX_REFUSAL: u64 = 64 << 10;

/// A connection to one model of one server.
#[derive(Debug)]
pub(super) struct Client {
    agent: ureq::Agent,
    url: String,
    name: String,
    key: Option<ApiKey>,
    accepts: Accepts,
    work: Work,
    /// Waited so far.
    waited: Duration,
    /// Why the server is not asked any more.
    gone: Option<ScoreError>,
}

/// Why one try failed.
enum Failed {
    /// Nobody is there, or nobody has time: it may come back, after so long if the server said.
    Down(String, Option<Duration>),
    /// This request failed; it may work again, after so long if the server said.
    Later(String, Option<Duration>),
    /// An answer that cannot be read: asked once more, in case it was only damaged.
    Unreadable(String),
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
            waited: Duration::ZERO,
            gone: None,
        })
    }

    fn wrong(&self, why: impl Into<String>) -> ScoreError {
        ScoreError::Server {
            url: self.url.clone(),
            why: why.into(),
        }
    }

    fn gone(&self, why: impl Into<String>) -> ScoreError {
        ScoreError::ServerGone {
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
            match self.ask(&json!(prompts), tokens_of(plans), progress) {
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
                .ask(&json!(plan.text), tokens_of(&[plan]), progress)
                .map_err(|f| self.error(f))?;
            out.extend(self.read_all(&[plan], &answer)?);
        }
        Ok(out)
    }

    fn error(&self, failed: Failed) -> ScoreError {
        match failed {
            Failed::Down(why, _) => self.gone(format!("{why}; gave up after {TRIES} tries")),
            Failed::Later(why, _) => self.wrong(format!("{why}; gave up after {TRIES} tries")),
            Failed::Unreadable(why) => self.wrong(format!("{why}; asking again did not help")),
            Failed::Refused(status, why) => self.wrong(format!("HTTP {status}: {why}")),
            Failed::Broken(error) => error,
        }
    }

    /// Tries, waits and tries again.
    fn ask(&mut self, prompt: &Value, tokens: u64, progress: &Progress) -> Result<Answer, Failed> {
        let body = json!({
            "model": self.name, "prompt": prompt, "echo": true, "logprobs": 1,
            // One token is generated and thrown away: to some servers zero means endless.
            "max_tokens": 1, "temperature": 0,
        });
        let limit = MAX_ANSWER.min(FRAME_BYTES + tokens * TOKEN_BYTES);
        let mut wait = FIRST_WAIT;
        let mut was_unreadable = false;
        for last in (0..TRIES).map(|n| n + 1 == TRIES) {
            if progress.is_cancelled() {
                return Err(Failed::Broken(ScoreError::Cancelled));
            }
            match self.try_once(&body, limit) {
                Err(Failed::Down(why, asked) | Failed::Later(why, asked)) if !last => {
                    self.pause(asked.unwrap_or(wait), &why, progress)?;
                    wait *= 2;
                }
                Err(Failed::Unreadable(_)) if !last && !was_unreadable => was_unreadable = true,
                other => return other,
            }
        }
        Err(Failed::Later("no answer".to_owned(), None))
    }

    fn try_once(&self, body: &Value, limit: u64) -> Result<Answer, Failed> {
        let mut request = self.agent.post(format!("{}/completions", self.url));
        if let Some(ApiKey(key)) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send_json(body).map_err(unreached)?;
        let status = response.status().as_u16();
        let header = response
            .headers()
            .get("retry-after")
            .and_then(|v| v.to_str().ok());
        let asked = header.and_then(|v| v.parse().ok()).map(Duration::from_secs);
        let body = response.body_mut();
        if status == 200 {
            let bytes = body.with_config().limit(limit).read_to_vec();
            let bytes = bytes.map_err(|e| half_read(e, asked))?;
            return serde_json::from_slice(&bytes)
                .map_err(|e| Failed::Unreadable(format!("its answer cannot be read: {e}")));
        }
        let mut bytes = Vec::new();
        // What can be read of a refusal is enough.
        let _ = body.as_reader().take(MAX_REFUSAL).read_to_end(&mut bytes);
        let why = said(&bytes);
        match status {
            // llama-cpp-python says so of a prompt that is no text.
            500 if why.contains("validation error") => Err(Failed::Refused(422, why)),
            429 | 502 | 503 => Err(Failed::Down(format!("HTTP {status}: {why}"), asked)),
            408 | 409 | 425 | 500 | 504 => {
                Err(Failed::Later(format!("HTTP {status}: {why}"), asked))
            }
            _ => Err(Failed::Refused(status, why)),
        }
    }

    /// Waits, but not past somebody's wish to stop, and not longer than one job may.
    fn pause(&mut self, wait: Duration, why: &str, progress: &Progress) -> Result<(), Failed> {
        const SLICE: Duration = Duration::from_millis(50);
        if self.waited.saturating_add(wait) > MAX_WAITED {
            let (wait, most) = (wait.as_secs(), MAX_WAITED.as_secs());
            return Err(Failed::Broken(self.gone(format!(
                "{why}; it would be another wait of {wait} s, and one job waits {most} s in all"
            ))));
        }
        self.waited += wait;
        let start = Instant::now();
        while start.elapsed() < wait && !progress.is_cancelled() {
            std::thread::sleep(SLICE.min(wait));
        }
        Ok(())
    }

    fn read_all(&self, plans: &[&Plan], answer: &Answer) -> Result<Vec<Vec<RowScore>>, ScoreError> {
        let choices = &answer.choices.0;
        if choices.len() != plans.len() {
            return Err(self.wrong(format!(
                "{} answers to {} prompts",
                choices.len(),
                plans.len()
            )));
        }
        let of = |i: usize| choices.iter().find(|c| c.index == Some(i as u64));
        // One number for all prompts; it says something only where there is one.
        let counted = answer.usage.as_ref().and_then(|u| u.prompt_tokens);
        let counted = counted.filter(|_| plans.len() == 1);
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
            let scores = match &self.gone {
                Some(gone) => Err(gone.clone()),
                None => self.batch(plans, progress),
            };
            match scores {
                Ok(scores) => {
                    self.work.computed += tokens_of(plans);
                    out.extend(scores.into_iter().map(Ok));
                }
                Err(error) => {
                    if matches!(error, ScoreError::ServerGone { .. }) {
                        self.gone = Some(error.clone());
                    }
                    out.extend(plans.iter().map(|_| Err(error.clone())));
                }
            }
        }
        out
    }

    fn work(&self) -> Work {
        self.work
    }
}

fn tokens_of(plans: &[&Plan]) -> u64 {
    plans.iter().map(|p| p.ids.len() as u64).sum()
}

/// No answer has begun.
fn unreached(error: ureq::Error) -> Failed {
    match error {
        // It is there, and took its time or more room than any header needs: the next try would too.
        ureq::Error::LargeResponseHeader(..) => Failed::Unreadable(error.to_string()),
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            Failed::Down(error.to_string(), None)
        }
        ureq::Error::Timeout(_) => Failed::Unreadable(error.to_string()),
        error => Failed::Down(error.to_string(), None),
    }
}

/// An answer that is cut short is no answer; one that is too long or too slow is none the next time either.
fn half_read(error: ureq::Error, asked: Option<Duration>) -> Failed {
    match error {
        ureq::Error::BodyExceedsLimit(_) | ureq::Error::Timeout(_) => {
            Failed::Unreadable(format!("its answer cannot be read: {error}"))
        }
        error => Failed::Later(error.to_string(), asked),
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
