//! Records as something to read.

mod comparison;
mod number;
mod progress;
mod summary;

pub use comparison::{calibration, comparison};
pub use progress::Progress;
pub use summary::{crowd, headline, one_line, role_and_number, trials, warnings};
