//! The index of a results folder: what stands in each result, and the page that lists them.

mod browser;
mod entry;
mod heads;
mod history;
mod page;

pub use browser::{BrowseError, Browser};
pub use entry::{Entry, EntryKind};
#[cfg(test)]
pub(crate) use history::history_page;
pub use page::{IndexFilter, index};
