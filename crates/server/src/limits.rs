//! How many files may be open. A connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one. If that is refused, the server works with what it has.
pub(crate) fn raise_open_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// The limit, for people to read.
pub(crate) fn open_files() -> String {
    getrlimit(Resource::Nofile).current.map_or("unlimited".into(), |limit| limit.to_string())
}
