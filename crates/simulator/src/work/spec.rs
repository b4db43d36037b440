//! Workloads by name and settings, as a command line and a study file give them.

use std::sync::Arc;

use klatch_record::{Replay, instead_of, range_in_words};

use super::hackbench::HackbenchSpec;
use super::locks::LocksSpec;
use super::requests::RequestsSpec;

/// What runs on a simulated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// VolanoMark's chat, with four threads per user.
    Chat(ChatSpec),
    /// Threads that contend for monitors.
    Locks(LocksSpec),
    /// Requests to a server that asks a database.
    Requests(RequestsSpec),
    /// Processes that send messages in groups.
    Hackbench(HackbenchSpec),
    /// A recorded schedule, in the CPU times of its tasks.
    Trace(Arc<Replay>),
}

/// Rooms, messages and memory of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatSpec {
    /// Rooms of 20 users with four threads each.
    pub rooms: usize,
    /// Messages that each user sends.
    pub count: u64,
    /// Heap of each process. Collections are the rarer the larger it is.
    pub heap_mb: u64,
    /// A collection also signals threads that wait for a message or a monitor.
    pub signals_waiting: bool,
    /// Threads yield as VolanoMark's do: after each packet that they receive, and after each batch that they send.
    pub yields: bool,
    /// Send queues and rooms are Java monitors. Without, no thread waits for another's. Klatch's own servers release the lock of a queue
    /// before they wake its sender; that of a room, which they hold while they deliver, is left out.
    pub monitors: bool,
}

impl ChatSpec {
    /// VolanoMark's ten rooms. Published runs have 100 messages per user; 60 give the same within 2 %.
    pub const VOLANOMARK: Self =
        Self { rooms: 10, count: 60, heap_mb: 64, signals_waiting: true, yields: true, monitors: true };
}

/// Why there is no such workload.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WorkError {
    /// The name is unknown.
    #[error("there is no simulated workload `{0}`; {instead}", instead = instead_of(.0, &Workload::NAMES, "there are"))]
    Name(String),
    /// The workload has no such setting.
    #[error("the workload {work} has no setting {setting}; {instead}")]
    Setting {
        /// The name of the workload.
        work: &'static str,
        /// The name as given.
        setting: String,
        /// The setting that was probably meant, or all settings.
        instead: String,
    },
    /// The value is outside the range of the setting.
    #[error("{setting} must be {range}, got {value}")]
    Value {
        /// The name of the setting.
        setting: String,
        /// Its range in words.
        range: String,
        /// The value as given.
        value: String,
    },
}

impl Workload {
    /// The names of all workloads that need no file.
    pub const NAMES: [&str; 4] = ["chat", "locks", "requests", "hackbench"];

    /// The workload with this name and its default settings: VolanoMark's ten rooms, locks that are contended on eight CPUs, a server
    /// that such a machine can just carry, and ten groups.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, WorkError> {
        Ok(match name {
            "chat" => Self::Chat(ChatSpec::VOLANOMARK),
            "locks" => Self::Locks(LocksSpec {
                threads: 64,
                locks: 4,
                think_us: 200,
                hold_us: 20,
                sleep_us: 0,
                sections: 500,
                spin_us: None,
                yields: None,
                futex: false,
            }),
            "requests" => Self::Requests(RequestsSpec {
                clients: 100,
                servers: 1,
                threads: 50,
                think_us: 50_000,
                service_us: 4_000,
                calls: 3,
                database_us: 3_000,
                locks: 4,
                hold_us: 50,
                requests: 10_000,
            }),
            "hackbench" => Self::Hackbench(HackbenchSpec { groups: 10, loops: 20 }),
            _ => return Err(WorkError::Name(name.to_owned())),
        })
    }

    /// The name of the workload.
    pub fn name(&self) -> &'static str {
        let [chat, locks, requests, hackbench] = Self::NAMES;
        match self {
            Self::Chat(_) => chat,
            Self::Locks(_) => locks,
            Self::Requests(_) => requests,
            Self::Hackbench(_) => hackbench,
            Self::Trace(_) => "trace",
        }
    }

    /// What its score counts.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Chat(_) | Self::Hackbench(_) => "messages",
            Self::Locks(_) => "critical sections",
            Self::Requests(_) => "requests",
            Self::Trace(_) => "wake-ups",
        }
    }

    /// Its settings with their ranges.
    pub fn settings(&self) -> &'static str {
        match self {
            Self::Chat(_) => {
                "rooms=1..2000, count=1..10000, heap_mb=1..1000000, signals_waiting=0|1, yields=0|1, monitors=0|1"
            }
            Self::Locks(_) => {
                "threads=1..65535, locks=1..65535, think_us=1..1000000, hold_us=1..1000000, sleep_us=0..1000000, count=10..1000000, \
                 spin_us=0..1000, yields=0..1000, futex=0|1"
            }
            Self::Requests(_) => {
                "clients=1..65535, servers=1..6, threads=1..10000, think_us=1..10000000, service_us=1..1000000, calls=0..100, \
                 database_us=1..10000000, locks=1..65535, hold_us=1..1000, count=100..100000000"
            }
            Self::Hackbench(_) => "groups=1..2500, loops=1..100000",
            Self::Trace(_) => "none",
        }
    }

    /// The same workload with another value for a setting.
    ///
    /// # Errors
    /// It has no such setting, or the setting does not accept the value.
    pub fn with(mut self, setting: &str, value: &str) -> Result<Self, WorkError> {
        let (work, settings) = (self.name(), self.settings());
        let wrong = || refused(work, settings, setting, value);
        let number: u64 = value.parse().map_err(|_| wrong())?;
        self.set(setting, number).map(|()| self).ok_or_else(wrong)
    }

    fn set(&mut self, setting: &str, number: u64) -> Option<()> {
        let within = |low: u64, high: u64| (low..=high).contains(&number).then_some(number);
        let size = |low: u64, high: u64| within(low, high).map(|number| number as usize);
        match (self, setting) {
            (Self::Chat(chat), "rooms") => chat.rooms = size(1, 2_000)?,
            (Self::Chat(chat), "count") => chat.count = within(1, 10_000)?,
            (Self::Chat(chat), "heap_mb") => chat.heap_mb = within(1, 1_000_000)?,
            (Self::Chat(chat), "signals_waiting") => chat.signals_waiting = within(0, 1)? == 1,
            (Self::Chat(chat), "yields") => chat.yields = within(0, 1)? == 1,
            (Self::Chat(chat), "monitors") => chat.monitors = within(0, 1)? == 1,
            (Self::Locks(locks), "threads") => locks.threads = size(1, 65_535)?,
            (Self::Locks(locks), "locks") => locks.locks = size(1, 65_535)?,
            (Self::Locks(locks), "think_us") => locks.think_us = within(1, 1_000_000)?,
            (Self::Locks(locks), "hold_us") => locks.hold_us = within(1, 1_000_000)?,
            (Self::Locks(locks), "sleep_us") => locks.sleep_us = within(0, 1_000_000)?,
            (Self::Locks(locks), "count") => locks.sections = within(10, 1_000_000)?,
            (Self::Locks(locks), "spin_us") => locks.spin_us = Some(within(0, 1_000)?),
            (Self::Locks(locks), "yields") => locks.yields = Some(within(0, 1_000)?),
            (Self::Locks(locks), "futex") => locks.futex = within(0, 1)? == 1,
            (Self::Requests(of), "clients") => of.clients = size(1, 65_535)?,
            // One group of CPUs for each, at most.
            (Self::Requests(of), "servers") => of.servers = size(1, 6)?,
            (Self::Requests(of), "threads") => of.threads = size(1, 10_000)?,
            (Self::Requests(of), "think_us") => of.think_us = within(1, 10_000_000)?,
            (Self::Requests(of), "service_us") => of.service_us = within(1, 1_000_000)?,
            (Self::Requests(of), "calls") => of.calls = within(0, 100)?,
            (Self::Requests(of), "database_us") => of.database_us = within(1, 10_000_000)?,
            (Self::Requests(of), "locks") => of.locks = size(1, 65_535)?,
            (Self::Requests(of), "hold_us") => of.hold_us = within(1, 1_000)?,
            (Self::Requests(of), "count") => of.requests = within(100, 100_000_000)?,
            (Self::Hackbench(of), "groups") => of.groups = size(1, 2_500)?,
            (Self::Hackbench(of), "loops") => of.loops = within(1, 100_000)?,
            _ => return None,
        }
        Some(())
    }
}

/// Why a workload with these settings does not take this one.
fn refused(work: &'static str, settings: &str, setting: &str, value: &str) -> WorkError {
    let pairs: Vec<(&str, &str)> = settings.split(", ").filter_map(|pair| pair.split_once('=')).collect();
    let Some((_, range)) = pairs.iter().find(|(name, _)| *name == setting) else {
        let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
        let instead = match names.is_empty() {
            true => "it has none".to_owned(),
            false => instead_of(setting, &names, "it has"),
        };
        return WorkError::Setting { work, setting: setting.to_owned(), instead };
    };
    let ends = range
        .split_once("..")
        .and_then(|(low, high)| Some((low.parse::<u64>().ok()?, high.parse::<u64>().ok()?)));
    let range = match ends {
        Some((low, high)) => range_in_words(low, high),
        None => range.replace('|', " or "),
    };
    WorkError::Value { setting: setting.to_owned(), range, value: value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every setting that the text names accepts both ends of its range, and nothing beyond.
    #[test]
    fn settings_are_what_their_text_says() {
        for name in Workload::NAMES {
            let work = Workload::named(name).unwrap();
            assert_eq!(work.name(), name);
            for setting in work.settings().split(", ") {
                let (setting, range) = setting.split_once('=').unwrap();
                let (low, high) = range.split_once("..").or_else(|| range.split_once('|')).unwrap();
                for value in [low, high] {
                    assert!(work.clone().with(setting, value).is_ok(), "{name}: {setting}={value}");
                }
                let beyond = (high.parse::<u64>().unwrap() + 1).to_string();
                let error = work.clone().with(setting, &beyond).unwrap_err().to_string();
                let expected = [format!("{setting} must be "), format!(", got {beyond}")];
                assert!(expected.iter().all(|part| error.contains(part)), "{name}: {error}");
            }
        }
    }

    #[test]
    fn unknown_workloads_and_settings_are_refused_with_what_there_is() {
        let error = Workload::named("specjbb").unwrap_err().to_string();
        assert!(error.contains("`specjbb`") && error.contains("requests, hackbench"), "{error}");
        let error =
            |setting, value| Workload::named("chat").unwrap().with(setting, value).unwrap_err().to_string();
        assert_eq!(error("room", "5"), "the workload chat has no setting room; did you mean rooms?");
        assert_eq!(error("rooms", "many"), "rooms must be 1 to 2,000, got many");
        assert_eq!(error("yields", "2"), "yields must be 0 or 1, got 2");
        assert_eq!(
            error("x", "2").split(", ").next().unwrap(),
            "the workload chat has no setting x; it has rooms"
        );
    }
}
