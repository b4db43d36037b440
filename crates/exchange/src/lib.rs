//! The server side of the workloads in which each request has one reply. Plain data and functions: no socket, no clock.

mod echo;

pub use echo::Echo;
