//! The trait behind which every format stands, what an importer is given, and the list of all of them.

pub(crate) mod agent_lightning;
pub(crate) mod agent_lightning_legacy;
pub(crate) mod agentdojo;
pub(crate) mod art;
pub(crate) mod atif;
pub(crate) mod beside;
pub(crate) mod claude_code;
pub(crate) mod cline;
pub(crate) mod codex;
pub(crate) mod gemini_cli;
pub(crate) mod harbor;
pub(crate) mod inspect;
pub(crate) mod langfuse;
pub(crate) mod langsmith;
pub(crate) mod mast;
pub(crate) mod mini_swe_agent;
pub(crate) mod mlflow;
pub(crate) mod nemo_gym;
pub(crate) mod openai_chat;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod otel;
pub(crate) mod pi;
pub(crate) mod request_log;
pub(crate) mod sharegpt;
pub(crate) mod swe_agent;
pub(crate) mod tau2;
pub(crate) mod tau_bench;
pub(crate) mod trl;
pub(crate) mod verifiers;
pub(crate) mod verl;
pub(crate) mod who_and_when;

use super::detect::Sniff;
use super::out::{Halt, Out};
use super::run::Run;
use super::source::Source;
use super::unit::Unit;
use crate::domain::{Call, Rollout, SourceSpan};

/// One log format. Adding one means: a file here, a line in `ALL`, counts in `tests/import/expected.json`.
pub(crate) trait Importer: Sync {
    /// Its name, as `--format` takes it and as `Rollout::format` keeps it.
    fn name(&self) -> &'static str;
    /// What people call it, in one line.
    fn title(&self) -> &'static str;
    /// What in the content says that this is it; `None` = it is not.
    fn recognise(&self, sniff: &Sniff) -> Option<String>;
    /// Sends everything on. It stops early only if nothing behind can be read.
    fn read(&self, input: &Input<'_>, out: &mut Out<'_>) -> Result<(), Halt>;
}

/// What an importer is given.
pub(crate) struct Input<'i> {
    pub(crate) unit: &'i Unit,
    pub(crate) source: &'i Source,
    pub(crate) sniff: &'i Sniff,
}

impl Input<'_> {
    /// A head with this id.
    pub(crate) fn head(&self, id: impl Into<String>, format: &dyn Importer) -> Rollout {
        Rollout::new(id, format.name(), &self.unit.name)
    }

    /// A head whose id had to be made.
    pub(crate) fn minted(&self, id: String, format: &dyn Importer) -> Rollout {
        let mut head = self.head(id, format);
        head.id_minted = true;
        head
    }
}

/// The call of an answer of which the format tells no more than that it is one.
pub(crate) fn answered(run: &Run<'_, '_>, source: SourceSpan) -> Call {
    Call {
        model: run.head.model.clone(),
        source,
        ..Call::default()
    }
}

/// All formats in the order in which detection asks them: the most particular marks first.
pub(crate) static ALL: &[&dyn Importer] = &[
    &atif::Atif,
    &harbor::Harbor,
    &openhands::OpenHands,
    &swe_agent::SweAgent,
    &mini_swe_agent::MiniSweAgent,
    &agentdojo::AgentDojo,
    &who_and_when::WhoAndWhen,
    &mast::Mast,
    &nemo_gym::NemoGym,
    &verifiers::Verifiers,
    &trl::Trl,
    &verl::Verl,
    &art::Art,
    &beside::BesideRuns,
    &tau2::Tau2,
    &tau_bench::TauBench,
    &agent_lightning::AgentLightning,
    &codex::Codex,
    &claude_code::ClaudeCode,
    &cline::Cline,
    &gemini_cli::GeminiCli,
    &opencode::OpenCode,
    &pi::Pi,
    &inspect::Inspect,
    &agent_lightning_legacy::AgentLightningLegacy,
    &langfuse::Langfuse,
    &langsmith::LangSmith,
    &mlflow::MlFlow,
    &otel::Otel,
    &sharegpt::ShareGpt,
    &request_log::RequestLog,
    &openai_chat::OpenAiChat,
];
