//! The platforms that Klatch measures: finds them, builds and starts them, waits until they are ready, and stops them.

mod arguments;
mod block_files;
mod capacity;
mod catalog;
mod command;
mod database;
mod java;
mod large_pages;
mod launch;
mod needs;
mod own_programs;
mod process;
mod program;
mod reader;
mod ready;
mod resolve;
mod resolved_knobs;
mod server;
mod setting;
mod sources;
mod sysctl;
mod web_files;
mod workloads;

pub use capacity::{CapacityError, Side, check_capacity};
pub use catalog::{CatalogError, Entry, Pages, schema};
pub use database::{DatabaseEntry, DatabaseError, RunningDatabase, databases};
pub use java::{Java, JavaError};
pub use launch::{Launch, process_knobs};
pub use needs::Needs;
pub use own_programs::{OwnError, klatch_jar, klatch_program};
pub use process::{Line, Process, ProcessError, Processes};
pub use program::{InstalledProgram, installed_program};
pub use reader::ReaderProgram;
pub use resolve::{
    PlatformError, PlatformListing, PlatformRequest, ResolvedPlatform, crowd_knobs, list, resolve,
};
pub use resolved_knobs::ResolvedKnobs;
pub use server::{Server, ServerError};
pub use setting::{KnobError, Setting};
pub use sysctl::{StaleSysctl, SysctlError, Sysctls, restore_stale_sysctls};
pub use workloads::InWorkload;
