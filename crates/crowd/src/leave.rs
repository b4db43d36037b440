//! The end of an event loop: good-bye, and what never came.

use klatch_record::{Fault, FaultKind};

use crate::room_loop::{RoomLoop, State};
use crate::wire::{Seat, Wire};

/// How long a server may take to close the connections of users who have quit.
const LEAVE_NS: u64 = 2_000_000_000;

impl<W: Wire> RoomLoop<W> {
    /// Says good-bye and listens until every connection is closed: what comes too often shows only now.
    pub(crate) fn leave(&mut self) {
        self.state = State::Leaving;
        for who in 0..self.users.len() {
            let user = &mut self.users[who];
            user.wire.bye(&mut user.out);
            self.flush(who);
            let user = &self.users[who];
            if let Some(stream) = user.stream.as_ref().filter(|_| user.out.is_empty()) {
                // Not every protocol has a word for good-bye. A connection that is gone needs none.
                let _ = stream.shutdown(std::net::Shutdown::Write);
            }
        }
        let deadline_ns = self.shared.now_ns() + LEAVE_NS;
        while self.users.iter().any(|user| user.stream.is_some()) {
            let left_ns = deadline_ns.saturating_sub(self.shared.now_ns());
            self.timers.clear();
            if left_ns == 0 || self.turn(Some(left_ns)).is_err() {
                break;
            }
        }
    }

    /// Notes what never came.
    pub(crate) fn settle(&mut self) {
        if self.complete() {
            return;
        }
        for room in self.users.chunks(self.workload.users as usize) {
            let said: Vec<u32> = room.iter().map(|user| user.pace.sent).collect();
            for user in room {
                let Seat { room, user: speaker, .. } = user.seat;
                user.account.lost(room, &said).into_iter().for_each(|fault| self.tally.fault(fault));
                let unsaid = u64::from(self.workload.count - user.pace.sent);
                if unsaid > 0 {
                    let (speaker, sequence) = (Some(speaker), Some(user.pace.sent));
                    let kind = FaultKind::Unsaid;
                    self.tally.fault(Fault {
                        kind,
                        room,
                        user: None,
                        speaker,
                        sequence,
                        count: unsaid,
                        detail: None,
                    });
                }
            }
        }
    }
}
