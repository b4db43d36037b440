//! The progress of what is prepared for a machine of the lab.

use std::cell::RefCell;

use klatch_lab::Preparing;

use crate::progress::Progress;

/// Shows what is downloaded or built for a machine of the lab, one step after the other.
pub fn preparing() -> impl Fn(Preparing<'_>) {
    let shown: RefCell<Option<Progress>> = RefCell::new(None);
    move |step: Preparing<'_>| {
        if let Preparing::Received(bytes) = step {
            shown.borrow().iter().for_each(|progress| progress.at(bytes));
            return;
        }
        // The line of the step before is gone first.
        shown.replace(None);
        shown.replace(match step {
            Preparing::Work(what) => Some(Progress::waiting(what)),
            Preparing::Download { what, bytes } => Some(Progress::of_bytes(what, bytes)),
            Preparing::Received(_) => None,
        });
    }
}
