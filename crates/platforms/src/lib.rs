//! The platforms that Klatch measures: finds them, builds and starts them, waits until they are ready, and stops them.

mod archive;
mod argument_files;
mod arguments;
mod block_files;
mod capacity;
mod carried;
mod catalog;
mod certificate;
mod command;
mod configuration_file;
mod database;
mod database_access;
mod elsewhere;
mod extends;
mod http2;
mod java;
mod java_in_force;
mod jcmd;
mod large_pages;
mod launch;
mod listing;
mod needs;
mod needs_java;
mod own_programs;
mod platform_error;
mod process;
mod program;
mod reader;
mod ready;
mod resolve;
mod resolved_knobs;
mod secrets;
mod server;
mod setting;
mod sources;
mod sysctl;
mod training;
mod transports;
mod variables;
mod volanomark;
mod volanomark_crowd;
mod web_files;
mod workloads;

pub use capacity::{CapacityError, Shortage, Side, check_capacity};
#[cfg(feature = "schema")]
pub use catalog::schema;
pub use catalog::{CatalogError, Entry, Pages};
pub use certificate::CertificateError;
pub use database::{DatabaseEntry, DatabaseError, RunningDatabase, databases};
pub use database_access::DatabaseAccess;
pub use java::{Java, JavaError};
pub use launch::{Launch, process_knobs};
pub use needs::Needs;
pub use own_programs::{OwnError, klatch_jar, klatch_program};
pub use platform_error::PlatformError;
pub use process::{Line, Process, ProcessError, Processes, describe_status};
pub use program::{InstalledProgram, ProgramError, installed_program};
pub use reader::ReaderProgram;
pub use resolve::{
    PlatformListing, PlatformRequest, ResolvedPlatform, check_name, is_knob, java_crowd_knobs, list, names,
    resolve, runs_on_java, threads_crowd_knobs,
};
pub use resolved_knobs::ResolvedKnobs;
pub use secrets::Environment;
pub use server::{Server, ServerError, free_port, wait_until_accepting};
pub use setting::{KnobError, Setting};
pub use sysctl::{StaleSysctl, SysctlError, Sysctls, restore_stale_sysctls};
pub use transports::{InTransport, TRANSPORT_KNOB};
pub use variables::runtime_variables;
pub use volanomark::{add_volanomark_yield, volanomark_test};
pub use volanomark_crowd::VolanoMarkCrowd;
pub use web_files::write_site;
pub use workloads::InWorkload;
