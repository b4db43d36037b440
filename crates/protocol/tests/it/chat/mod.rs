//! The core's rules as dialogues, vectors and random input.

mod any_commands;
mod dialogues;
mod floods;
mod properties;
mod shared;
mod threads;
mod vectors;
