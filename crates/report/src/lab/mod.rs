//! Reports of studies of the lab.

mod costs;
mod groups;
mod read;
mod report;
mod summary;

pub(crate) use read::read_lab;
pub use report::lab_report;
pub use summary::lab_summary;
