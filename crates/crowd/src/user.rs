//! One user of a room: its connection, its account and its pace.

use std::ops::Range;

use klatch_record::ChatWorkload;

use crate::account::Account;
use crate::link::Link;
use crate::pace::Pace;
use crate::protocol::{Protocol, UserId};

pub(crate) struct User<P> {
    pub(crate) id: UserId,
    pub(crate) protocol: P,
    pub(crate) account: Account,
    pub(crate) pace: Pace,
    pub(crate) link: Link,
    /// Pacing `rate`: when the user could send again after the server did not read, after a reconnect, or after a pause, ns; 0 before,
    /// and [`HELD`] meanwhile.
    pub(crate) free_ns: u64,
}

/// In place of a time: the user cannot send.
pub(crate) const HELD: u64 = u64::MAX;

impl<P: Protocol> User<P> {
    /// The users of the rooms `range`, counted from the first of the workload.
    pub(crate) fn all(
        workload: &ChatWorkload,
        seed: u64,
        terms: &P::Terms,
        range: Range<u32>,
    ) -> Vec<User<P>> {
        let mut all = Vec::with_capacity(range.len() * workload.users as usize);
        for room in range {
            for user in 0..workload.users {
                let room = workload.start + room;
                let pace = Pace::new(workload, seed, room, user);
                all.push(User::new(UserId { room, user, users: workload.users }, terms, pace));
            }
        }
        all
    }

    fn new(id: UserId, terms: &P::Terms, pace: Pace) -> User<P> {
        User {
            id,
            protocol: P::new(id, terms),
            account: Account::new(id.user, id.users),
            pace,
            link: Link::default(),
            free_ns: 0,
        }
    }
}
