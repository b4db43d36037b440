//! Shows a run to browsers on this machine while it is made, and lets people talk in its rooms. A run never waits for a viewer.

mod announcement;
mod gateway;
mod loopback;
mod stream;
mod viewer;

pub use announcement::announced;
pub use gateway::Upstream;
pub use loopback::Loopback;
pub use viewer::{Viewer, ViewerError};
