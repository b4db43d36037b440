//! The line that a server prints when it accepts connections, as specified in `docs/reference/protocol.md`.

use klatch_record::Class;
use serde::Deserialize;

/// The ready line of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Ready {
    /// TCP port on which it listens.
    pub(crate) port: u16,
    /// The process that serves, which instruments observe.
    pub(crate) pid: u32,
    /// How a chat server writes deliveries.
    pub(crate) class: Option<Class>,
    /// The mechanism with which it waits for its connections, of a server that could use another.
    pub(crate) io: Option<String>,
}

impl Ready {
    /// Parses a line of a server's standard output. `None` for any other line.
    pub(crate) fn parse(line: &str) -> Option<Ready> {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        (value.get("event")? == "ready").then(|| serde_json::from_value(value).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ready_line_is_parsed() {
        let line = r#"{"event":"ready","host":"127.0.0.1","port":6667,"pid":7,"model":"x","class":"classic","io":"nio"}"#;
        let ready = Ready::parse(line).unwrap();
        assert_eq!((ready.port, ready.pid, ready.class), (6667, 7, Some(Class::Classic)));
        assert_eq!(ready.io.as_deref(), Some("nio"));
        for other in ["", "ready", "{}", r#"{"event":"joined"}"#, r#"{"event":"ready"}"#] {
            assert_eq!(Ready::parse(other), None, "{other}");
        }
    }
}
