//! Every model over real sockets, in this process and in one of its own.

mod client;
mod process;
mod serving;
