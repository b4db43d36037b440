//! The page that shows a run while it is being made: its state as JSON, and the HTML that draws it.

mod metrics;
mod page;
mod state;
mod talk;
mod timeline;

pub use page::watch_page;
pub use state::LiveState;
pub use talk::{Talk, TalkRooms};
