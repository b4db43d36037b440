//! The workloads in which each request has one reply, for servers and crowds, and the contents of files. Plain data and functions:
//! no socket, no clock.

#[cfg(test)]
mod altered;
pub mod audited;
mod echo;
pub mod files;
pub mod orders;
mod random;
pub mod trade;
pub mod web;

pub use echo::Echo;
