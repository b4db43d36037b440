//! The papers' results beside Klatch's own, as one table. The files in `research/papers/` hold all rows; this module adds no number to them.

mod check;
mod data;
mod numbers;
mod ratio;
mod table;

pub use check::paper_faults;
pub use data::{Paper, PapersError, shipped_papers};
pub use table::papers_table;
