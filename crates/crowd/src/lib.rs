//! The simulated users: event loops that own whole rooms, no locks between them, or two threads a user. Every message of every user is
//! accounted for (see [`klatch_record::CrowdResult`]).

mod account;
mod at_gate;
mod gate;
mod gather;
mod irc;
mod links;
mod mqtt;
mod nats;
mod options;
mod pace;
mod protocol;
mod redis;
mod rehearsal;
mod room_loop;
mod rooms;
mod schedule;
mod shared;
mod system;
mod tally;
mod timeline;
mod user;
mod user_threads;
mod watch;

pub use gather::{Inbox, Remote, remote_control, run};
pub use options::{CrowdError, Options, Threads};
pub use rehearsal::rehearse;
