//! What other people's graders and annotators wrote into a trace: always a label of its own source; a reward too,
//! where its name says that it judges whether the task was solved.

use super::out::Halt;
use super::run::Run;
use crate::domain::{ForeignLabel, Outcome, Reward};
use serde_json::Value;

/// One score or annotation.
#[derive(Debug, Default, Clone)]
pub(crate) struct Score {
    /// Who says so, such as `langfuse:EVAL`.
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) reason: String,
    /// The whole record.
    pub(crate) detail: Value,
}

/// Names that judge the result. `toxicity` and the like judge something else.
const JUDGEMENTS: &[&str] = &[
    "correct",
    "correctness",
    "success",
    "successful",
    "passed",
    "pass",
    "resolved",
    "solved",
    "reward",
    "accuracy",
    "is_correct",
    "task_success",
    "task_completed",
];

/// Sends scores on. Returns nothing; the head's outcome follows a judgement.
pub(crate) fn tell(run: &mut Run<'_, '_>, scores: Vec<Score>) -> Result<(), Halt> {
    for score in scores {
        if JUDGEMENTS.contains(&score.name.to_lowercase().as_str())
            && let Some(value) = number(&score.value)
        {
            let mut reward = Reward::result(&score.name, value);
            reward.detail = score.detail.clone();
            run.head.outcome = super::format::openai_chat::by_result(value);
            if run.head.outcome != Outcome::Unknown {
                run.head.outcome_source = Some(format!("file:score:{}", score.name));
            }
            run.reward(reward)?;
        }
        run.label(ForeignLabel {
            source: score.source,
            step: None,
            category: score.name,
            reason: score.reason,
            detail: score.detail,
        })?;
    }
    Ok(())
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    }
}
