//! The index of a results folder: what stands in each result, and the page that lists them.

mod entry;
mod heads;
mod history;
mod page;

pub use entry::{Entry, EntryKind};
pub use history::history_page;
pub use page::{IndexFilter, index};
