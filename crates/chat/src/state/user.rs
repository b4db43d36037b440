//! The public data of a registered user.

use std::sync::{Mutex, MutexGuard};

use super::lock;

pub(crate) struct User<O> {
    pub(crate) id: u64,
    pub(crate) name: Vec<u8>,
    pub(crate) host: Vec<u8>,
    pub(crate) real_name: Vec<u8>,
    pub(crate) outbox: O,
    pub(crate) profile: Mutex<Profile>,
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

    pub(crate) fn nick(&self) -> Vec<u8> {
        self.profile().nick.clone()
    }
}
