//! The rules of the repository: floors of the crates, and what builds and publishes Klatch.

mod architecture;
mod oldest_rust;
mod supply_chain;
mod tree;
