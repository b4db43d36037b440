//! The table of nicks that are in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::{User, lock};
use crate::chat::names::fold;

pub(crate) struct Nicks<O> {
    table: Mutex<Table<O>>,
}

struct Table<O> {
    /// Folded nick → its user; `None` until the session that claimed the nick is registered.
    holders: HashMap<Vec<u8>, Option<Arc<User<O>>>>,
    registered: usize,
}

impl<O> Default for Nicks<O> {
    fn default() -> Self {
        Nicks { table: Mutex::new(Table { holders: HashMap::new(), registered: 0 }) }
    }
}

impl<O> Nicks<O> {
    /// Replaces the nick `old` (empty if there is none yet) of a session by `new`. `user` is set once the session is
    /// registered. Returns `false` and changes nothing if another session has `new`.
    pub(crate) fn change(&self, old: &[u8], new: &[u8], user: Option<&Arc<User<O>>>) -> bool {
        let (old, folded) = (fold(old), fold(new));
        let holders = &mut lock(&self.table).holders;
        if old != folded && holders.contains_key(&folded) {
            return false;
        }
        holders.remove(&old);
        holders.insert(folded, user.cloned());
        if let Some(user) = user {
            user.profile().nick = new.to_vec();
        }
        true
    }

    /// Links a claimed nick to its user, who has just registered.
    pub(crate) fn register(&self, nick: &[u8], user: Arc<User<O>>) {
        let mut table = lock(&self.table);
        table.holders.insert(fold(nick), Some(user));
        table.registered += 1;
    }

    /// Frees a nick, and with it the registration of its user.
    pub(crate) fn release(&self, nick: &[u8]) {
        let mut table = lock(&self.table);
        if let Some(Some(_)) = table.holders.remove(&fold(nick)) {
            table.registered -= 1;
        }
    }

    /// Returns `None` also while the session with this nick is unregistered.
    pub(crate) fn find(&self, nick: &[u8]) -> Option<Arc<User<O>>> {
        lock(&self.table).holders.get(&fold(nick))?.clone()
    }

    pub(crate) fn registered(&self) -> usize {
        lock(&self.table).registered
    }
}
