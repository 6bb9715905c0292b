//! Parsers beside one writer: units are read ahead side by side and handed over one after the other, in order.

use super::super::{JobError, THREAD_PREFIX};
use super::ImportOptions;
use super::work::Work;
use crate::domain::{Item, Progress, Sink};
use crate::import::{self, FileReport};
use crate::store::{Packer, Parcel};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Items are handed over in batches of about so many bytes: big enough to be cheap, small enough to be bounded.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that one parser may be ahead of the writer.
const BATCHES_AHEAD: usize = 8;
/// Units that wait for a parser or, parsed, for the writer. Without them a parser would stand still while the writer ends a unit,
/// and most units are small.
const UNITS_AHEAD: usize = 8;
/// More parsers than this only wait for the one writer.
const MAX_PARSERS: usize = 8;

/// What a parser hands over.
pub(super) enum Message {
    Items(Vec<Parcel>),
    /// The report, and how many runs were read to their end.
    Done(Box<FileReport>, u64),
}

/// Runs `write` for every unit, in order, while parsers read ahead.
pub(super) fn read_side_by_side(
    work: &[Work],
    options: &ImportOptions,
    progress: &Progress,
    mut write: impl FnMut(&Work, &Receiver<Message>) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let parsers = parsers(options.threads).min(work.len().max(1));
    let ahead = parsers + UNITS_AHEAD;
    let (hand_out, take) = bounded::<(&Work, Sender<Message>)>(ahead);
    std::thread::scope(|scope| {
        // Owned in here: parsers end when nothing more can be handed out, and the scope waits for them.
        let hand_out = hand_out;
        for n in 0..parsers {
            let take = take.clone();
            let name = format!("{THREAD_PREFIX}parser-{n}");
            let run = move || parse_all(&take, options.format.as_deref(), progress);
            let started = std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, run);
            started.map_err(|e| JobError::Died(format!("no thread to parse on: {e}")))?;
        }
        drop(take);
        let mut waiting = work.iter();
        let mut under_way = VecDeque::new();
        loop {
            while under_way.len() < ahead && !progress.is_cancelled() {
                let Some(job) = waiting.next() else { break };
                let (send, batches) = bounded(BATCHES_AHEAD);
                hand_out
                    .send((job, send))
                    .map_err(|_| JobError::Died("all parsers ended".to_owned()))?;
                under_way.push_back((job, batches));
            }
            let Some((job, batches)) = under_way.pop_front() else {
                return Ok(());
            };
            write(job, &batches)?;
        }
    })
}

fn parsers(asked: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = if asked == 0 {
        // One core is the writer's.
        cores.saturating_sub(1)
    } else {
        asked
    };
    wanted.clamp(1, MAX_PARSERS)
}

fn parse_all(take: &Receiver<(&Work, Sender<Message>)>, format: Option<&str>, progress: &Progress) {
    for (job, send) in take {
        let mut sink = Batches {
            send,
            items: Vec::new(),
            runs: 0,
            packer: Packer::default(),
            bytes: 0,
        };
        let report = import::read(&job.unit, format, &mut sink, progress);
        if sink.flush().is_continue() {
            // The writer is gone if this fails, and then nobody needs the report.
            let _ = sink.send.send(Message::Done(Box::new(report), sink.runs));
        }
    }
}

/// Hands items over in batches.
struct Batches {
    send: Sender<Message>,
    items: Vec<Parcel>,
    runs: u64,
    packer: Packer,
    bytes: usize,
}

impl Batches {
    fn flush(&mut self) -> ControlFlow<()> {
        self.bytes = 0;
        let items = std::mem::take(&mut self.items);
        if items.is_empty() || self.send.send(Message::Items(items)).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}

impl Sink for Batches {
    fn put(&mut self, item: Item) -> ControlFlow<()> {
        self.bytes += weight(&item);
        self.runs += u64::from(matches!(item, Item::End(_)));
        self.items.push(self.packer.pack(item));
        if self.bytes < BATCH_BYTES {
            return ControlFlow::Continue(());
        }
        self.flush()
    }
}

/// About how many bytes an item holds in memory.
fn weight(item: &Item) -> usize {
    const HEAD: usize = 256;
    HEAD + match item {
        Item::Step(step) => step.text.len(),
        Item::Call(call) => {
            let ids = |list: &Option<Vec<u32>>| list.as_ref().map_or(0, |l| l.len() * 4);
            ids(&call.prompt_token_ids)
                + ids(&call.completion_token_ids)
                + call.logprobs.as_ref().map_or(0, |l| l.len() * 8)
        }
        Item::Begin(_)
        | Item::Reward(_)
        | Item::Label(_)
        | Item::End(_)
        | Item::Skip(_)
        | Item::NotUnderstood { .. } => 0,
    }
}
