//! Several loops that are one server: one thread each, the first on the thread of the caller. They end together.

use std::sync::Arc;
use std::thread;

use crate::mailbox::Mailbox;
use crate::{ServeError, ServeOptions};

pub(crate) struct LoopGroup {
    /// The mailbox of each loop.
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
}

impl LoopGroup {
    pub(crate) fn new(options: &ServeOptions) -> Result<LoopGroup, ServeError> {
        let mailbox = |_| Mailbox::new().map(Arc::new);
        let mailboxes = (0..options.loops()).map(mailbox).collect::<Result<_, _>>();
        Ok(LoopGroup { mailboxes: mailboxes.map_err(ServeError::system("open an eventfd"))? })
    }

    /// Runs the loops until one of them ends, which ends all.
    pub(crate) fn work<L: Send>(
        &self,
        mut loops: Vec<L>,
        run: impl Fn(&mut L) -> Result<(), ServeError> + Sync,
    ) -> Result<(), ServeError> {
        let run_and_end_all = |one: &mut L| {
            let done = run(one);
            self.mailboxes.iter().for_each(|mailbox| mailbox.close());
            done
        };
        let mut loops = loops.iter_mut();
        let first = loops.next();
        thread::scope(|scope| {
            let mut others = Vec::new();
            for one in loops {
                let name = format!("loop {}", others.len() + 1);
                match thread::Builder::new().name(name).spawn_scoped(scope, || run_and_end_all(one)) {
                    Ok(other) => others.push(other),
                    Err(reason) => {
                        self.mailboxes.iter().for_each(|mailbox| mailbox.close());
                        return Err(ServeError::system("start a thread for a loop")(reason));
                    }
                }
            }
            let first = first.map_or(Ok(()), run_and_end_all);
            others.into_iter().fold(first, |done, other| match other.join() {
                Ok(others_done) => done.and(others_done),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }
}
