//! What a server says when it accepts connections. Normative description: `docs/reference/protocol.md`.

use klatch_record::Class;
use serde::Deserialize;

/// The ready line of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Ready {
    /// The port it listens on.
    pub(crate) port: u16,
    /// The process to watch.
    pub(crate) pid: u32,
    /// How it writes.
    pub(crate) class: Class,
}

impl Ready {
    /// Reads a line of a server's standard output. `None` if it is another one.
    pub(crate) fn of(line: &str) -> Option<Ready> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        (value.get("event")? == "ready").then(|| serde_json::from_value(value).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_line_is_known_among_others() {
        let line =
            r#"{"event":"ready","host":"127.0.0.1","port":6667,"pid":7,"model":"x","class":"classic"}"#;
        let ready = Ready::of(line).unwrap();
        assert_eq!((ready.port, ready.pid, ready.class), (6667, 7, Class::Classic));
        for other in ["", "ready", "{}", r#"{"event":"joined"}"#, r#"{"event":"ready"}"#] {
            assert_eq!(Ready::of(other), None, "{other}");
        }
    }
}
