//! Rooms and their members. A room exists from its first JOIN until its last member leaves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::{Outbox, User, lock};
use crate::chat::names::fold;

pub(crate) struct Room<O> {
    /// In the spelling of its first member.
    pub(crate) name: Vec<u8>,
    state: Mutex<RoomState<O>>,
}

struct RoomState<O> {
    /// Empty if no topic is set.
    topic: Vec<u8>,
    /// In the order of joining.
    members: Vec<Member<O>>,
}

/// Holds a second handle to the outbox, so that a fan-out need not follow the pointer to the user.
pub(crate) struct Member<O> {
    pub(crate) id: u64,
    pub(crate) outbox: O,
    pub(crate) user: Arc<User<O>>,
}

impl<O: Outbox> Room<O> {
    /// Fans one message out to all members except the sender `id`.
    pub(crate) fn deliver_to_others(&self, id: u64, line: &Arc<[u8]>) {
        for member in &lock(&self.state).members {
            if member.id != id {
                member.outbox.deliver(line);
            }
        }
    }

    /// Calls `visit` for each member except `id`, in the order of joining.
    pub(crate) fn for_each_other_member(&self, id: u64, visit: impl FnMut(&Member<O>)) {
        lock(&self.state).members.iter().filter(|member| member.id != id).for_each(visit);
    }

    /// Sets the topic and sends `line` to all members.
    pub(crate) fn set_topic(&self, topic: &[u8], line: &Arc<[u8]>) {
        let mut state = lock(&self.state);
        state.topic = topic.to_vec();
        state.members.iter().for_each(|member| member.outbox.send(line));
    }

    pub(crate) fn topic(&self) -> Vec<u8> {
        lock(&self.state).topic.clone()
    }

    pub(crate) fn users(&self) -> Vec<Arc<User<O>>> {
        lock(&self.state).members.iter().map(|member| Arc::clone(&member.user)).collect()
    }

    pub(crate) fn size(&self) -> usize {
        lock(&self.state).members.len()
    }
}

pub(crate) struct Rooms<O> {
    by_name: Mutex<HashMap<Vec<u8>, Arc<Room<O>>>>,
}

impl<O> Default for Rooms<O> {
    fn default() -> Self {
        Rooms { by_name: Mutex::new(HashMap::new()) }
    }
}

impl<O: Outbox> Rooms<O> {
    pub(crate) fn find(&self, name: &[u8]) -> Option<Arc<Room<O>>> {
        lock(&self.by_name).get(&fold(name)).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.by_name).len()
    }

    /// All rooms, sorted by their folded names.
    pub(crate) fn all(&self) -> Vec<Arc<Room<O>>> {
        let mut rooms: Vec<_> =
            lock(&self.by_name).iter().map(|(name, room)| (name.clone(), Arc::clone(room))).collect();
        rooms.sort_by(|(a, _), (b, _)| a.cmp(b));
        rooms.into_iter().map(|(_, room)| room).collect()
    }

    /// Adds a member, who must not be in the room yet. All members, the new one included, get the line that
    /// `announce` makes from the room's name.
    pub(crate) fn join(
        &self,
        name: &[u8],
        member: Member<O>,
        announce: impl FnOnce(&[u8]) -> Arc<[u8]>,
    ) -> Arc<Room<O>> {
        let mut rooms = lock(&self.by_name);
        let room = Arc::clone(rooms.entry(fold(name)).or_insert_with(|| {
            let state = RoomState { topic: Vec::new(), members: Vec::new() };
            Arc::new(Room { name: name.to_vec(), state: Mutex::new(state) })
        }));
        // Lock the room before releasing the map; otherwise its last member could leave and remove it in between.
        let mut state = lock(&room.state);
        drop(rooms);
        state.members.push(member);
        let line = announce(&room.name);
        state.members.iter().for_each(|member| member.outbox.send(&line));
        drop(state);
        room
    }

    /// Removes a member and calls `visit` for each one that remains.
    pub(crate) fn leave(&self, room: &Room<O>, id: u64, visit: impl FnMut(&Member<O>)) {
        let mut rooms = lock(&self.by_name);
        let mut state = lock(&room.state);
        state.members.retain(|member| member.id != id);
        if state.members.is_empty() {
            rooms.remove(&fold(&room.name));
        }
        drop(rooms);
        state.members.iter().for_each(visit);
    }
}
