//! Shows a run to browsers on this machine while it is made, and lets people talk in its rooms. A run never waits for a viewer.

mod announcement;
mod error;
mod gateway;
mod loopback;
mod stream;
mod timed_writer;
mod viewer;

pub use announcement::announced;
pub use error::ViewerError;
pub use gateway::Upstream;
pub use loopback::{Answer, Loopback, Request};
pub use viewer::Viewer;
