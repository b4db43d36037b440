//! All checks. Each begins on fresh connections, with users and rooms of its own.

mod errors;
mod input;
mod leaving;
mod load;
mod registration;
mod rooms;
mod speech;
mod talk;

use std::rc::Rc;

use crate::finding::Checked;
use crate::wire::Net;
use crate::{Subject, writes};

type Run = Box<dyn Fn(&Rc<Net>) -> Checked>;

/// One check.
pub(crate) struct Check {
    /// Its group, a colon, and what is checked.
    pub(crate) name: String,
    /// What a server has to do.
    pub(crate) expected: String,
    /// Does it; tells what was seen.
    pub(crate) run: Run,
}

impl Check {
    pub(crate) fn new(name: &str, expected: &str, run: impl Fn(&Rc<Net>) -> Checked + 'static) -> Check {
        Check { name: name.to_owned(), expected: expected.to_owned(), run: Box::new(run) }
    }
}

/// All checks, from what everything else needs to what is hard.
pub(crate) fn all(subject: &Subject) -> Vec<Check> {
    let subject = *subject;
    let mut all = Vec::new();
    all.extend(registration::checks());
    all.extend(rooms::checks());
    all.extend(talk::checks());
    all.extend(leaving::checks());
    all.extend(errors::checks());
    all.extend(input::checks());
    all.extend(load::checks());
    all.push(Check::new(
        "class: one write per delivery",
        "a server of class classic makes exactly one write call for each delivery",
        move |net| writes::check(net, &subject),
    ));
    all
}
