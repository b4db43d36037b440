//! The public data of a registered user.

use std::sync::{Mutex, MutexGuard};

use super::lock;
use crate::chat::names::fold;

pub(crate) struct User<O> {
    pub(crate) name: Vec<u8>,
    pub(crate) host: Vec<u8>,
    pub(crate) real_name: Vec<u8>,
    pub(crate) outbox: O,
    pub(crate) profile: Mutex<Profile>,
    /// Names of the rooms that it is in, as these spell them. So a WHOIS need not search all rooms.
    pub(crate) rooms: Mutex<Vec<Vec<u8>>>,
}

/// The part of a user that commands change after registration.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) nick: Vec<u8>,
    /// The reason given with AWAY; empty while the user is present.
    pub(crate) away: Vec<u8>,
}

impl<O> User<O> {
    pub(crate) fn profile(&self) -> MutexGuard<'_, Profile> {
        lock(&self.profile)
    }

    /// Notes that the user has joined or left a room.
    pub(crate) fn set_in_room(&self, room: &[u8], is_in: bool) {
        let mut rooms = lock(&self.rooms);
        if is_in {
            rooms.push(room.to_vec());
        } else {
            rooms.retain(|name| name != room);
        }
    }

    /// Names of the rooms that the user is in, sorted by their folded names.
    pub(crate) fn room_names(&self) -> Vec<Vec<u8>> {
        let mut names = lock(&self.rooms).clone();
        names.sort_by_cached_key(|name| fold(name));
        names
    }

    /// Whether the user is in the room of this name.
    pub(crate) fn is_in(&self, room: &[u8]) -> bool {
        lock(&self.rooms).iter().any(|name| name == room)
    }

    pub(crate) fn nick(&self) -> Vec<u8> {
        self.profile().nick.clone()
    }
}
