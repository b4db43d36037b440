//! The run queue of one CPU: an active and an expired array of 40 lists.

use klatch_schedulers::policies::o1::{self, PRIORITIES, Place};
use klatch_schedulers::policies::{Links, List, TaskId};

/// Lists of tasks by priority.
#[derive(Clone)]
pub(super) struct Array {
    lists: [List; PRIORITIES],
    /// A bit for each list with tasks.
    bits: u64,
}

/// The run queue of a CPU.
pub(super) struct Queue {
    arrays: [Array; 2],
    active: usize,
    /// Waiting tasks in both arrays.
    pub(super) waiting: u32,
    /// When the first task entered the expired array.
    pub(super) expired_since_ns: Option<u64>,
    pub(super) ticks: u32,
    pub(super) balance_is_due: bool,
    /// The load of each CPU at the last balance of this one.
    pub(super) loads: Vec<u32>,
}

/// The array and the list of a waiting task.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    array: usize,
    priority: usize,
}

impl Array {
    const EMPTY: Self = Self { lists: [List::EMPTY; PRIORITIES], bits: 0 };

    /// The lists with tasks, best priority first.
    fn lists(&self) -> impl Iterator<Item = &List> {
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let at = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(&self.lists[at])
        })
    }
}

impl Queue {
    /// The empty queue of one of several CPUs.
    pub(super) fn new(cpus: usize) -> Self {
        Self {
            arrays: [Array::EMPTY, Array::EMPTY],
            active: 0,
            waiting: 0,
            expired_since_ns: None,
            ticks: 0,
            balance_is_due: false,
            loads: vec![0; cpus],
        }
    }

    /// The best priorities of the active and the expired array.
    pub(super) fn best(&self) -> (i32, i32) {
        (o1::first_of(self.arrays[self.active].bits), o1::first_of(self.arrays[1 - self.active].bits))
    }

    pub(super) fn insert(
        &mut self,
        links: &mut Links,
        task: TaskId,
        priority: i32,
        place: Place,
        now_ns: u64,
    ) -> Slot {
        let array = if place.is_expired() { 1 - self.active } else { self.active };
        if place.is_expired() {
            self.expired_since_ns.get_or_insert(now_ns);
        }
        let slot = Slot { array, priority: usize::try_from(priority).expect("a priority from 0 to 39") };
        let list = &mut self.arrays[array].lists[slot.priority];
        if place.is_head() {
            list.push_front(links, task)
        } else {
            list.push_back(links, task)
        }
        self.arrays[array].bits |= 1 << slot.priority;
        self.waiting += 1;
        slot
    }

    pub(super) fn remove(&mut self, links: &mut Links, task: TaskId, slot: Slot) {
        let array = &mut self.arrays[slot.array];
        array.lists[slot.priority].remove(links, task);
        if array.lists[slot.priority].is_empty() {
            array.bits &= !(1 << slot.priority);
        }
        self.waiting -= 1;
    }

    pub(super) fn swap_arrays(&mut self) {
        self.active = 1 - self.active;
        self.expired_since_ns = None;
    }

    /// The first task of the best active list.
    ///
    /// # Panics
    /// The active array is empty.
    pub(super) fn first(&self) -> TaskId {
        self.arrays[self.active].lists().next().expect("the active array has a task").head()
    }

    /// Waiting tasks in the order in which a balancer examines them: the expired array first, best priority first, each list from its tail.
    pub(super) fn to_balance<'a>(&'a self, links: &'a Links) -> impl Iterator<Item = TaskId> + 'a {
        let arrays = [1 - self.active, self.active];
        arrays
            .into_iter()
            .flat_map(|array| self.arrays[array].lists())
            .flat_map(|list| list.iter_from_tail(links))
    }
}
