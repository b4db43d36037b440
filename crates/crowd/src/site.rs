//! What the crowd knows about the site of workload `web`: everything that a server must send.

use std::sync::Arc;

use klatch_exchange::web::{AdTables, Content, FileId, Mix, Operation, Step, TableOptions};
use klatch_record::{CONTENT_SEED, WebWorkload};

/// The value of the header Host.
pub(crate) const HOST: &str = "klatch";
/// Users of the table User.Personality.
const USERS: u32 = 1_000;

/// The tables that a run asks the server to make.
pub(crate) fn tables() -> TableOptions {
    TableOptions { users: USERS, ..TableOptions::default() }
}

/// What all lines of a crowd share.
pub(crate) struct Site {
    pub(crate) content: Content,
    pub(crate) mix: Mix,
    pub(crate) ads: AdTables,
}

impl Site {
    pub(crate) fn new(web: &WebWorkload, seed: u64) -> Arc<Site> {
        Arc::new(Site {
            content: Content::new(CONTENT_SEED),
            mix: Mix::new(seed, web.directories, USERS, web.static_only),
            ads: AdTables::new(CONTENT_SEED, &tables()),
        })
    }
}

/// The request by which a line joins: the first file of the site. It is not counted.
pub(crate) fn joining_step() -> Step {
    let file = FileId::at(0).expect("a site has a first file");
    Step { operation: Operation::Static, file, single: false, first: true, last: false }
}
