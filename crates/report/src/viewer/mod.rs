//! Shows a run to browsers on this machine while it is made, and lets people talk in its rooms. A run never waits for a viewer.

mod announcement;
mod error;
mod gateway;
mod loopback;
mod show;
mod stream;
mod timed_writer;
mod visits;

pub use announcement::announced;
pub use error::ViewerError;
pub use loopback::{Answer, Loopback, Request};
pub use show::Viewer;
pub use visits::{ClientOf, VisitPage};
