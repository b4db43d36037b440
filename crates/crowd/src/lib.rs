//! The simulated users, driven by event loops that own whole parties and share no lock, or by two threads a user. Every
//! message of every user is accounted for (see [`klatch_record::CrowdResult`]).

mod account;
mod connections;
mod control;
mod event_loop;
mod exchanges;
mod gate;
mod gate_client;
mod irc;
mod line;
mod line_speed;
mod lines;
mod link;
mod mqtt;
mod nats;
mod options;
mod pace;
mod parties;
mod pauses;
mod payloads;
mod post_log;
mod postgres;
mod protocol;
mod read_error;
mod readers;
mod redis;
mod requests;
mod rooms;
mod runner;
mod schedule;
mod shared;
mod simulation;
mod site;
mod stats;
mod supervisor;
mod system;
mod timeline;
mod user_threads;
mod worker;

pub use control::{ControlReceiver, ControlSender, control_channel};
pub use options::{CrowdError, Options, Threads};
pub use read_error::ReadError;
pub use readers::{ReadModel, Reading, read_files};
pub use runner::run;
pub use simulation::simulate_room;
