//! Errors as text with their causes.

use std::error::Error;

/// The message of an error and those of its causes, outermost first, joined by `: `.
///
/// A cause that the text before it already quotes is left out: many messages of Klatch quote their own.
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    #[error("permission denied")]
    struct Denied;

    #[derive(Debug, Error)]
    #[error("cannot open {path}")]
    struct Open {
        path: &'static str,
        source: Denied,
    }

    #[derive(Debug, Error)]
    enum Save {
        #[error("cannot save the record")]
        Quiet(#[source] Open),
        #[error("cannot save the record: {0}")]
        Quoting(#[source] Open),
    }

    #[test]
    fn every_cause_is_printed_once() {
        let open = || Open { path: "/a", source: Denied };
        let whole = "cannot save the record: cannot open /a: permission denied";
        assert_eq!(error_chain(&Save::Quiet(open())), whole);
        assert_eq!(error_chain(&Save::Quoting(open())), whole);
        assert_eq!(error_chain(&Denied), "permission denied");
    }
}
