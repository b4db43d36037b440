//! Who has which nick.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::{User, lock};
use crate::names::fold;

pub(crate) struct Nicks<O> {
    table: Mutex<Table<O>>,
}

struct Table<O> {
    /// Folded nick → its user; `None` while the one who took it is not registered.
    holders: HashMap<Vec<u8>, Option<Arc<User<O>>>>,
    registered: usize,
}

impl<O> Default for Nicks<O> {
    fn default() -> Self {
        Nicks { table: Mutex::new(Table { holders: HashMap::new(), registered: 0 }) }
    }
}

impl<O> Nicks<O> {
    /// Takes `new` instead of `old` (empty: none) for a session, with its user if it is registered. `false`: `new` is
    /// somebody else's, and nothing has changed.
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

    /// Gives a nick that was taken before its now registered user.
    pub(crate) fn register(&self, nick: &[u8], user: Arc<User<O>>) {
        let mut table = lock(&self.table);
        table.holders.insert(fold(nick), Some(user));
        table.registered += 1;
    }

    /// Gives a nick back.
    pub(crate) fn release(&self, nick: &[u8]) {
        let mut table = lock(&self.table);
        if let Some(Some(_)) = table.holders.remove(&fold(nick)) {
            table.registered -= 1;
        }
    }

    /// The registered user of this nick.
    pub(crate) fn find(&self, nick: &[u8]) -> Option<Arc<User<O>>> {
        lock(&self.table).holders.get(&fold(nick))?.clone()
    }

    /// How many users are registered.
    pub(crate) fn registered(&self) -> usize {
        lock(&self.table).registered
    }
}
