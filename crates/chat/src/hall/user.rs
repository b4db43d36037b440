//! What others may know about a registered user.

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

/// What a user changes.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) nick: Vec<u8>,
    /// Why the user is away; empty: is not.
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
