//! What the counters counted, as values.

/// Number of kinds of event.
pub(crate) const EVENTS: usize = 8;

/// A kind of event, as `enum event` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Executed instructions, user and kernel.
    Instructions,
    /// Cache lines read or written by data accesses.
    Accesses,
    /// Lines brought into the first-level data cache.
    L1dMisses,
    /// Lines brought into the first-level instruction cache.
    L1iMisses,
    /// Lines read from memory.
    L2Misses,
    /// Lines read from the cache of another CPU, which had changed them.
    Transfers,
    /// Writes to lines that another CPU may have too.
    Upgrades,
    /// Calls of the routine, by an instruction, an interrupt or an entry into the kernel.
    Calls,
}

/// Counts by kind of event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(pub(crate) [u64; EVENTS]);

impl Events {
    /// The number of events of this kind.
    pub fn get(&self, event: Event) -> u64 {
        self.0[event as usize]
    }

    /// Adds other counts, kind by kind.
    pub fn add(&mut self, other: &Events) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Modelled cycles: one for each instruction, and what the misses cost. Nothing overlaps, so this is more than a CPU needs
    /// that executes several instructions at once.
    pub fn cycles(&self, cycles: &crate::counters::Cycles) -> u64 {
        let first_level = self.get(Event::L1dMisses) + self.get(Event::L1iMisses);
        let beyond = self.get(Event::L2Misses) + self.get(Event::Transfers);
        self.get(Event::Instructions)
            + first_level.saturating_sub(beyond) * u64::from(cycles.l2_hit)
            + self.get(Event::L2Misses) * u64::from(cycles.memory)
            + self.get(Event::Transfers) * u64::from(cycles.transfer)
            + self.get(Event::Upgrades) * u64::from(cycles.upgrade)
    }
}

/// A routine, as it was called along one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The caller, an index of [`Counts::nodes`]; `None` at the root of a process.
    pub parent: Option<usize>,
    /// The process, an index of [`Counts::processes`].
    pub process: usize,
    /// Address of the routine, or of its first instruction that was executed; 0 at the root of a process.
    pub routine: u64,
    /// What was counted in the routine itself, without those that it called.
    pub events: Events,
}

impl Node {
    /// Whether the routine is the kernel's.
    pub fn is_kernel(&self) -> bool {
        self.routine >> 63 == 1
    }
}

/// Misses of a process at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataCounts {
    /// The process that missed, an index of [`Counts::processes`].
    pub process: usize,
    /// Where the data was.
    pub place: Place,
    /// Physical address of the last access to it.
    pub physical: u64,
    /// Misses of data, transfers and upgrades; all other kinds are 0.
    pub events: Events,
}

/// Where data that was missed lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Memory of the process, but not the stack of the current thread.
    User,
    /// The stack of the current thread in user mode.
    UserStack,
    /// The stack of the current thread in the kernel.
    KernelStack,
    /// One of the places for which there was no room.
    Lost,
    /// The word at this address of the kernel.
    Word(u64),
    /// The page at this address of the kernel, because there were too many words.
    Page(u64),
}

/// A process of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id; 0 for the kernel's own threads, `u32::MAX` for all processes beyond 255.
    pub tgid: u32,
    /// Its name when it ran last.
    pub name: String,
}

/// All counts between opening and closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Every process that has run since tasks are followed.
    pub processes: Vec<Process>,
    /// Every routine that counted something, and its callers. A parent precedes its children.
    pub nodes: Vec<Node>,
    /// Data that was missed, by place. Without modelled caches there is none.
    pub data: Vec<DataCounts>,
    /// Physical addresses of the `struct task_struct` of every thread that has run, sorted. Some may have ended.
    pub tasks: Vec<u64>,
    /// Instructions that each CPU executed, up to the last one that executed any.
    pub instructions: Vec<u64>,
    /// Calls that have no node of their own, because there were too many; the caller has their counts.
    pub lost: u64,
}

impl Counts {
    /// The nodes from `index`, the innermost routine, to the outermost; without the root of the process.
    pub fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        let mut next = Some(index);
        std::iter::from_fn(move || {
            let at = next?;
            next = self.nodes[at].parent;
            (self.nodes[at].routine != 0).then_some(at)
        })
    }
}
