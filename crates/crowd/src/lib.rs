//! The simulated users, driven by event loops that own whole rooms and share no lock, or by two threads a user. Every message
//! of every user is accounted for (see [`klatch_record::CrowdResult`]).

mod account;
mod connections;
mod gate;
mod gate_client;
mod irc;
mod mqtt;
mod nats;
mod options;
mod pace;
mod pauses;
mod protocol;
mod redis;
mod room_loop;
mod rooms;
mod runner;
mod schedule;
mod shared;
mod simulation;
mod stats;
mod supervisor;
mod system;
mod timeline;
mod user;
mod user_threads;

pub use options::{CrowdError, Options, Threads};
pub use runner::{ControlReceiver, ControlSender, control_channel, run};
pub use simulation::simulate_room;
