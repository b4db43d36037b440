//! Records as something to read.

mod comparison;
mod number;
mod observations;
mod progress;
mod study;
mod summary;

pub use comparison::{calibration, comparison};
pub use number::duration;
pub use progress::Progress;
pub use study::study;
pub use summary::{crowd, headline, one_line, role_and_number, trials, warnings};
