//! How many files may be open. A connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one. If that is refused, the server works with what it has.
pub(crate) fn raise_open_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// The limit and how to raise it, for people to read.
pub(crate) fn about_open_files() -> String {
    let limit = getrlimit(Resource::Nofile).current.map_or("unlimited".into(), |limit| limit.to_string());
    format!(
        "the limit of open files is {limit}; raise it before the start (`ulimit -n 1000000` as root, LimitNOFILE= in a unit)"
    )
}
