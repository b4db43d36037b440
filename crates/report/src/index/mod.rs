//! The index of a results folder: what stands in each result, and the page that lists them.

mod entry;
mod heads;
mod page;

pub use entry::{Entry, Kind};
pub use page::{Filter, index};
