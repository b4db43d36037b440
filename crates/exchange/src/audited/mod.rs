//! What the workloads with a database share: forms as requests, replies whose every field is checked, and the rules of an audit.

mod broken_rule;
mod form;
mod reply_error;

pub use broken_rule::BrokenRule;
pub use reply_error::ReplyError;

pub(crate) use broken_rule::{Differences, Digest};
pub(crate) use form::{write_form, write_get};
pub(crate) use reply_error::{not_ok, parse, same};
