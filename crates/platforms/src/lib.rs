//! Finds, starts, awaits and stops whatever is measured.

mod catalog;
mod choose;
mod java;
mod process;
mod programs;
mod ready;
mod server;

pub use catalog::{Entry, catalog};
pub use choose::{Chosen, PlatformError, choose};
pub use java::{Java, JavaError};
pub use process::{Line, Process, ProcessError, Processes};
pub use programs::{ProgramError, crowd_jar, klatch_itself};
pub use ready::Ready;
pub use server::{Server, ServerError};
