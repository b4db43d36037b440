//! Finds, starts, awaits and stops whatever is measured.

mod catalog;
mod choose;
mod command;
mod java;
mod knobs;
mod large_pages;
mod launch;
mod needs;
mod own;
mod process;
mod program;
mod ready;
mod server;
mod sources;
mod sysctl;
mod tuned;

pub use catalog::{CatalogError, Entry, schema};
pub use choose::{Chosen, Listed, PlatformError, Wish, choose, crowd_knobs, list};
pub use java::{Java, JavaError};
pub use knobs::{KnobError, Setting};
pub use large_pages::Pages;
pub use launch::{Launch, process_knobs};
pub use needs::{NeedError, Needs, Side, refuse};
pub use own::{OwnError, klatch_itself, klatch_jar};
pub use process::{Line, Process, ProcessError, Processes};
pub use program::Found;
pub use server::{Server, ServerError};
pub use sysctl::{Leftover, SysctlError, Sysctls, put_back_leftovers};
pub use tuned::Tuned;
