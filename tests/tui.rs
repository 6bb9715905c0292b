//! The screen, keys in and text out, through the real update loop on the sample logs. No terminal, no clock.

mod board;
mod hints;
mod house;
mod kept;
mod label;
mod names;
mod newcomer;
mod pair;
mod read;
mod sheets;
mod sizes;
pub(crate) mod stage;
