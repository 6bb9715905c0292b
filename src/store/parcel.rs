//! Items made ready away from the writer: hashing, packing and serialising cost more than writing, so parsers do it.

use super::StoreError;
use super::bodies::{self, Hash};
use crate::domain::{Call, Item, Step};
use std::collections::HashSet;

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
    Step(Box<Step>, PackedText),
    Call(Box<Call>, Vec<u8>),
    Plain(Item),
    Broken(StoreError),
}

/// Makes items ready. One packer serves one unit, whose parcels the writer takes in order.
#[derive(Debug, Default)]
pub struct Packer {
    seen: HashSet<Hash>,
}

impl Packer {
    /// Makes one item ready.
    pub fn pack(&mut self, item: Item) -> Parcel {
        Parcel(match item {
            Item::Step(mut step) => {
                let text = std::mem::take(&mut step.text);
                let packed = self.text(&text);
                Ready::Step(step, packed)
            }
            Item::Call(call) => match bodies::pack_json(&call) {
                Ok(blob) => Ready::Call(call, blob),
                Err(error) => Ready::Broken(error),
            },
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
