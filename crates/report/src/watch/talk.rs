//! Where a person can talk to the crowd.

use serde::Serialize;

/// Where the page can join the rooms of the server under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Talk {
    /// In the rooms of these servers.
    Rooms(Vec<TalkRooms>),
    /// Nowhere, for this reason.
    Nowhere(String),
}

/// Rooms that one server has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TalkRooms {
    /// Addresses of WebSockets that carry IRC; the page takes the first that it can open.
    pub urls: Vec<String>,
    /// Number of the first room.
    pub first: u32,
    /// Number of rooms, from the first on.
    pub count: u32,
}
