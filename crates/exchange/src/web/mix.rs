//! The choice of requests: which file, of which kind, in which session. A line's requests are a function of the seed
//! and the line's number, so that they do not depend on shards, threads or the server.

use super::files::{CLASSES, DIRECTORIES_MAX, FILES_PER_CLASS, FileId};
use super::tags::ADS;
use crate::random::{Part, Random, output, part_seed, scale};

/// Share of each class of files, in percent.
pub const CLASS_PERCENT: [u32; CLASSES as usize] = [35, 50, 14, 1];
/// The files of a class from the most to the least requested one.
pub const FILE_ORDER: [u8; FILES_PER_CLASS as usize] = [4, 3, 5, 2, 6, 1, 7, 8, 0];
/// Share of sessions with a single request over HTTP/1.0, in percent.
pub const SINGLE_PERCENT: u32 = 30;
/// Fewest requests of a session that keeps its connection.
pub const SESSION_MIN: u32 = 5;
/// Most requests of a session that keeps its connection.
pub const SESSION_MAX: u32 = 15;

/// The kinds of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    /// GET of a file as it is.
    Static,
    /// GET of the standard dynamic page.
    Dynamic,
    /// GET of a dynamic page with custom ad rotation.
    Ad,
    /// POST that appends a record to the post log.
    Post,
    /// GET through the Common Gateway Interface.
    Cgi,
}

impl RequestKind {
    /// All kinds, in the order in which shares are assigned.
    pub const ALL: [RequestKind; 5] =
        [RequestKind::Static, RequestKind::Dynamic, RequestKind::Ad, RequestKind::Post, RequestKind::Cgi];

    /// Share of the requests in the full mix, in hundredths of a percent.
    pub const fn share(self) -> u32 {
        match self {
            RequestKind::Static => 7000,
            RequestKind::Dynamic => 1245,
            RequestKind::Ad => 1260,
            RequestKind::Post => 480,
            RequestKind::Cgi => 15,
        }
    }

    /// The kind at a place below 10,000 of the full mix.
    fn at(place: u32) -> RequestKind {
        let mut end = 0;
        *RequestKind::ALL
            .iter()
            .find(|kind| {
                end += kind.share();
                place < end
            })
            .expect("the shares add up to 10,000")
    }
}

/// A request without its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// GET of a file as it is.
    Static,
    /// GET of the standard dynamic page.
    Dynamic,
    /// GET of a dynamic page whose ads are chosen for a user.
    Ad {
        /// The user's index in User.Personality.
        user: u32,
        /// The ad after which the search begins.
        last_ad: u16,
    },
    /// POST. Client and sequence number together identify it in the post log.
    Post {
        /// The number of the line.
        client: u32,
        /// The number of this POST among those of its line, from 0.
        sequence: u32,
    },
    /// GET through the Common Gateway Interface.
    Cgi,
}

impl Operation {
    /// The kind by which it is counted.
    pub fn kind(self) -> RequestKind {
        match self {
            Operation::Static => RequestKind::Static,
            Operation::Dynamic => RequestKind::Dynamic,
            Operation::Ad { .. } => RequestKind::Ad,
            Operation::Post { .. } => RequestKind::Post,
            Operation::Cgi => RequestKind::Cgi,
        }
    }
}

/// One request of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is requested about the file.
    pub operation: Operation,
    /// The file that is requested.
    pub file: FileId,
    /// The session has this request only, and uses HTTP/1.0.
    pub single: bool,
    /// The request is the first of its session, so it needs a new connection.
    pub first: bool,
    /// The request is the last of its session, so the connection closes after its reply.
    pub last: bool,
}

/// What the requests of all lines are drawn from.
pub struct Mix {
    lines_seed: u64,
    directories: Zipf,
    files: Zipf,
    users: u32,
    static_only: bool,
}

impl Mix {
    /// A mix over so many directories (1 to [`DIRECTORIES_MAX`]) and users of User.Personality (at least 1). With
    /// `static_only` every request is a static GET, of the same files in the same sessions.
    ///
    /// # Panics
    /// If `directories` or `users` is out of range.
    pub fn new(seed: u64, directories: u32, users: u32, static_only: bool) -> Mix {
        assert!((1..=DIRECTORIES_MAX).contains(&directories), "{directories} directories");
        assert!(users > 0, "no users");
        Mix {
            lines_seed: part_seed(seed, Part::Lines),
            directories: Zipf::new(directories),
            files: Zipf::new(FILES_PER_CLASS.into()),
            users,
            static_only,
        }
    }

    /// The requests of line `number`, from the first.
    pub fn line(&self, number: u32) -> LineScript {
        let random = Random::new(output(self.lines_seed, number.into()));
        LineScript { random, number, posts: 0, left_in_session: 0 }
    }

    fn operation(&self, line: &mut LineScript) -> Operation {
        let kind = RequestKind::at(line.random.below(10_000));
        // It is drawn for every request, so that the kind does not change which files follow.
        let detail = line.random.next();
        match kind {
            _ if self.static_only => Operation::Static,
            RequestKind::Static => Operation::Static,
            RequestKind::Dynamic => Operation::Dynamic,
            RequestKind::Ad => Operation::Ad {
                user: scale((detail >> 32) as u32, self.users),
                last_ad: scale(detail as u32, ADS) as u16,
            },
            RequestKind::Post => {
                line.posts += 1;
                Operation::Post { client: line.number, sequence: line.posts - 1 }
            }
            RequestKind::Cgi => Operation::Cgi,
        }
    }
}

/// The endless sequence of requests of one line.
#[derive(Clone, Debug)]
pub struct LineScript {
    random: Random,
    number: u32,
    posts: u32,
    /// Requests of the current session that are still to be drawn.
    left_in_session: u32,
}

impl LineScript {
    /// The next request, drawn from the mix that made this script.
    pub fn next_step(&mut self, mix: &Mix) -> Step {
        let first = self.left_in_session == 0;
        let mut single = false;
        if first {
            single = self.random.below(100) < SINGLE_PERCENT;
            let kept = SESSION_MIN + self.random.below(SESSION_MAX - SESSION_MIN + 1);
            self.left_in_session = if single { 1 } else { kept };
        }
        self.left_in_session -= 1;
        let class = class_at(self.random.below(100));
        let number = FILE_ORDER[mix.files.index(self.random.unit())];
        let directory = mix.directories.index(self.random.unit()) as u32;
        let file = FileId::new(directory, class, number).expect("all parts are in range");
        let operation = mix.operation(self);
        Step { operation, file, single, first, last: self.left_in_session == 0 }
    }
}

fn class_at(percent: u32) -> u8 {
    let mut end = 0;
    let is_within = |share: &u32| {
        end += share;
        percent < end
    };
    CLASS_PERCENT.iter().position(is_within).expect("the shares add up to 100") as u8
}

/// Zipf's distribution with α = 1: rank *r* has a probability proportional to 1/*r*.
struct Zipf {
    /// Sums of 1/*r* up to each rank.
    sums: Box<[f64]>,
}

impl Zipf {
    fn new(count: u32) -> Zipf {
        let mut sum = 0.0;
        let sums = (1..=count).map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        });
        Zipf { sums: sums.collect() }
    }

    /// The index, from 0, that a number from 0 to below 1 selects.
    fn index(&self, unit: f64) -> usize {
        let last = self.sums.len() - 1;
        let place = unit * self.sums[last];
        self.sums.partition_point(|&sum| sum <= place).min(last)
    }
}

#[cfg(test)]
#[path = "mix_tests.rs"]
mod tests;
