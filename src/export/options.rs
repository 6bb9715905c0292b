//! What the user can choose: the consumer, the shape, the split, and what counts as enough.

use super::target::Target;
use crate::domain::step::words;

/// Who will read the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// TRL `SFTTrainer`.
    TrlSft,
    /// TRL `DPOTrainer`.
    TrlDpo,
    /// TRL `KTOTrainer`.
    TrlKto,
    /// TRL `GRPOTrainer`: tasks, never recorded groups.
    TrlGrpo,
    /// OpenAI-shaped supervised examples.
    OpenaiSft,
    /// OpenAI-shaped preferences.
    OpenaiDpo,
    /// LLaMA-Factory sharegpt.
    LlamafactorySft,
    /// LLaMA-Factory sharegpt ranking.
    LlamafactoryDpo,
    /// verl `RLHFDataset`.
    VerlRl,
    /// verl `MultiTurnSFTDataset`.
    VerlSft,
    /// Agent Lightning 1.0 rollout inputs.
    AgentLightning,
    /// ATIF, one file a run.
    Atif,
    /// Everything, one JSON object a line.
    Jsonl,
    /// Everything, as flat tables.
    Parquet,
}

words!(Format {
    TrlSft => "trl-sft", TrlDpo => "trl-dpo", TrlKto => "trl-kto", TrlGrpo => "trl-grpo",
    OpenaiSft => "openai-sft", OpenaiDpo => "openai-dpo",
    LlamafactorySft => "llamafactory-sft", LlamafactoryDpo => "llamafactory-dpo",
    VerlRl => "verl-rl", VerlSft => "verl-sft", AgentLightning => "agent-lightning",
    Atif => "atif", Jsonl => "jsonl", Parquet => "parquet",
});

/// What a format teaches, which decides the gates that it must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Supervised fine-tuning.
    Sft,
    /// Preference between two candidates.
    Dpo,
    /// Good and bad marks.
    Kto,
    /// Tasks for reinforcement learning.
    Rl,
    /// Nothing: a copy for other tools.
    Copy,
}

words!(Method { Sft => "SFT", Dpo => "DPO", Kto => "KTO", Rl => "RL", Copy => "copy" });

impl Format {
    /// What it teaches.
    pub fn method(self) -> Method {
        match self {
            Self::TrlSft | Self::OpenaiSft | Self::LlamafactorySft | Self::VerlSft => Method::Sft,
            Self::TrlDpo | Self::OpenaiDpo | Self::LlamafactoryDpo => Method::Dpo,
            Self::TrlKto => Method::Kto,
            Self::TrlGrpo | Self::VerlRl | Self::AgentLightning => Method::Rl,
            Self::Atif | Self::Jsonl | Self::Parquet => Method::Copy,
        }
    }
}

/// How a supervised row looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shape {
    /// One decision a row; everything before it is masked by the trainer itself.
    #[default]
    PromptCompletion,
    /// A whole conversation a row; needs `assistant_only_loss=True` and generation marks in the template.
    Messages,
}

words!(Shape { PromptCompletion => "prompt-completion", Messages => "messages" });

/// Which attempts may enter (S-24).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Attempts {
    /// Only what the harness went on with.
    #[default]
    Adopted,
    /// Also attempts of which the log does not say.
    AdoptedOrUnknown,
}

words!(Attempts { Adopted => "adopted", AdoptedOrUnknown => "adopted-or-unknown" });

/// What a text-before-the-answer becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// It stays, as `reasoning_content`.
    #[default]
    Keep,
    /// It is left out of prompts and targets.
    Drop,
}

words!(Reasoning { Keep => "keep", Drop => "drop" });

/// What becomes of rows that hold a finding nobody has decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Undecided {
    /// They stay out, with the finding as the reason.
    #[default]
    LeaveOut,
    /// Secrets and personal data leave as placeholders; anything else stays out.
    Redact,
}

words!(Undecided { LeaveOut => "leave-out", Redact => "redact" });

/// What the set is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Training: a blocked set is not written at all.
    #[default]
    Training,
    /// A look: a blocked set is written, and says that it must not train.
    Draft,
}

words!(Purpose { Training => "training", Draft => "draft" });

/// What two rows must not share across a split (S-76).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// A task.
    Task,
    /// A document.
    Document,
    /// An environment scenario.
    Scenario,
}

words!(GroupBy { Task => "task", Document => "document", Scenario => "scenario" });

/// What becomes of near-duplicate tasks that fall on two sides of a split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NearDuplicates {
    /// The export stops until somebody decides.
    #[default]
    Block,
    /// They count as one group.
    Join,
}

words!(NearDuplicates { Block => "block", Join => "join" });

/// How rows are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitOptions {
    /// What stays together.
    pub by: GroupBy,
    /// Chooses the groups.
    pub seed: u64,
    /// Percent of the groups that are held out for validation.
    pub validation: u8,
    /// Percent of the groups that are held out for the test.
    pub test: u8,
    /// What becomes of near-duplicates.
    pub near_duplicates: NearDuplicates,
}

impl Default for SplitOptions {
    fn default() -> Self {
        Self {
            by: GroupBy::Task,
            seed: 0,
            validation: 10,
            test: 0,
            near_duplicates: NearDuplicates::Block,
        }
    }
}

/// Numbers that decide, all of them ours to choose and all written into the manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Tokens of prompt and target together; TRL cuts at 1024 unless told otherwise. `None` = no limit.
    pub tokens: Option<u32>,
    /// Selected median length below this share of all successes' median = shortest-only (S-37).
    pub shortest_share: f64,
    /// Least clarifications in a supervised set (S-38).
    pub clarifications: usize,
    /// One skeleton may cover this share of the rows.
    pub template_share: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tokens: None,
            shortest_share: 0.8,
            clarifications: 1,
            template_share: 0.2,
        }
    }
}

/// Everything that the user can choose.
#[derive(Clone)]
pub struct Options<'a> {
    /// Who will read the file.
    pub format: Format,
    /// How a supervised row looks.
    pub shape: Shape,
    /// How rows are held out; `None` = one file, nothing held out.
    pub split: Option<SplitOptions>,
    /// Which attempts may enter.
    pub attempts: Attempts,
    /// What a text-before-the-answer becomes.
    pub reasoning: Reasoning,
    /// What becomes of rows that hold a finding nobody has decided.
    pub undecided: Undecided,
    /// What the set is for.
    pub purpose: Purpose,
    /// Numbers that decide.
    pub limits: Limits,
    /// The model that will be trained, where its folder is at hand.
    pub target: Option<Target<'a>>,
}

impl Options<'_> {
    /// The defaults for a format.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            shape: Shape::default(),
            split: None,
            attempts: Attempts::default(),
            reasoning: Reasoning::default(),
            undecided: Undecided::default(),
            purpose: Purpose::default(),
            limits: Limits::default(),
            target: None,
        }
    }
}
