//! Items made ready away from the writer: hashing, packing and serialising cost more than writing, so parsers do it.

use super::StoreError;
use super::blobs;
use super::bodies::{self, Already, Hash};
use super::intake::link;
use crate::domain::{Call, Item, Rollout, Step};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// Texts remembered as packed before, about 15 MB at the most; forgetting packs one again.
const SEEN_MAX: usize = 200_000;

/// A text hashed and packed.
#[derive(Debug)]
pub(super) struct PackedText {
    pub(super) hash: Hash,
    pub(super) size: usize,
    /// Nothing when this packer handed the text over before: the writer has it.
    pub(super) data: Option<(bool, Vec<u8>)>,
}

/// An item ready to be written.
#[derive(Debug)]
pub struct Parcel(pub(super) Ready);

#[derive(Debug)]
pub(super) enum Ready {
    /// With the hash of all steps up to it.
    Step(Box<Step>, PackedText, Hash),
    Call(Box<Call>, Vec<u8>),
    End(Box<Ended>),
    Plain(Item),
    Broken(StoreError),
}

/// A run's last head.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) head: Rollout,
    /// As it is stored. A name that the store mints stands in the row alone.
    pub(super) blob: Vec<u8>,
    /// The head without what depends on where the file lies: what is compared to see whether a known run has news.
    pub(super) plain: Vec<u8>,
}

/// Makes items ready. One packer serves one unit, whose parcels the writer takes in order.
#[derive(Debug, Default)]
pub struct Packer {
    seen: HashSet<Hash, BuildHasherDefault<Already>>,
    /// Of the steps of the run under way.
    chain: Hash,
}

impl Packer {
    /// Makes one item ready.
    pub fn pack(&mut self, item: Item) -> Parcel {
        Parcel(match item {
            Item::Step(mut step) => {
                let text = std::mem::take(&mut step.text);
                let packed = self.text(&text);
                self.chain = link(&self.chain, &step, &packed.hash);
                Ready::Step(step, packed, self.chain)
            }
            Item::End(head) => match ended(*head) {
                Ok(ended) => Ready::End(Box::new(ended)),
                Err(error) => Ready::Broken(error),
            },
            Item::Call(call) => match blobs::pack(&call) {
                Ok(blob) => Ready::Call(call, blob),
                Err(error) => Ready::Broken(error),
            },
            Item::Begin(head) => {
                self.chain = [0; 16];
                Ready::Plain(Item::Begin(head))
            }
            other => Ready::Plain(other),
        })
    }

    fn text(&mut self, text: &str) -> PackedText {
        let hash = bodies::address(text.as_bytes());
        if self.seen.len() >= SEEN_MAX {
            self.seen.clear();
        }
        let data = self
            .seen
            .insert(hash)
            .then(|| bodies::pack(text.as_bytes()));
        PackedText {
            hash,
            size: text.len(),
            data,
        }
    }
}

fn ended(mut head: Rollout) -> Result<Ended, StoreError> {
    let (source, span) = (
        std::mem::take(&mut head.source),
        std::mem::take(&mut head.span),
    );
    let plain = serde_json::to_vec(&head).unwrap_or_default();
    (head.source, head.span) = (source, span);
    head.id_minted |= head.id.0.is_empty();
    let blob = blobs::pack(&head)?;
    Ok(Ended { head, blob, plain })
}
