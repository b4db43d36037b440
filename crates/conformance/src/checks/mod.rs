//! All checks. Each starts with fresh connections and with users and rooms of its own.

mod errors;
mod input;
mod leaving;
mod load;
mod messages;
mod registration;
mod rooms;
mod talk;

use std::rc::Rc;

use crate::finding::Checked;
use crate::irc::Net;
use crate::{Subject, writes};

type Run = Box<dyn Fn(&Rc<Net>) -> Checked>;

/// A named check with its expected behaviour.
pub(crate) struct Check {
    /// The group, a colon, and the subject of the check.
    pub(crate) name: String,
    /// The required behaviour of a server.
    pub(crate) expected: String,
    /// Runs the check. Returns the observed behaviour.
    pub(crate) run: Run,
}

impl Check {
    pub(crate) fn new(name: &str, expected: &str, run: impl Fn(&Rc<Net>) -> Checked + 'static) -> Check {
        Check { name: name.to_owned(), expected: expected.to_owned(), run: Box::new(run) }
    }
}

/// All checks, from the basic ones to the demanding ones.
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
