//! The workloads in which each request has one reply, for servers and crowds. Plain data and functions: no socket, no clock.

mod echo;
pub mod web;

pub use echo::Echo;
