//! Several loops that are one server: one thread each, the first on the thread of the caller. They end together.

use std::sync::Arc;
use std::thread;

use crate::inbox::Inbox;
use crate::{ServeError, ServeOptions};

pub(crate) struct Crew {
    /// One a loop.
    pub(crate) inboxes: Vec<Arc<Inbox>>,
}

impl Crew {
    pub(crate) fn new(options: &ServeOptions) -> Result<Crew, ServeError> {
        let inbox = |_| Inbox::new().map(Arc::new);
        let inboxes = (0..options.loops()).map(inbox).collect::<Result<_, _>>();
        Ok(Crew { inboxes: inboxes.map_err(ServeError::system("open an eventfd"))? })
    }

    /// Runs the loops until one of them ends, which ends all.
    pub(crate) fn work<L: Send>(
        &self,
        mut loops: Vec<L>,
        run: impl Fn(&mut L) -> Result<(), ServeError> + Sync,
    ) -> Result<(), ServeError> {
        let run_and_end_all = |one: &mut L| {
            let done = run(one);
            self.inboxes.iter().for_each(|inbox| inbox.close());
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
                        self.inboxes.iter().for_each(|inbox| inbox.close());
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
