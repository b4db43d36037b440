//! The line that announces that connections are accepted. Its form is in `docs/reference/protocol.md`.

use std::io::Write;
use std::net::SocketAddr;

use crate::{ServeError, ServeOptions};

/// Prints the ready line on standard output.
pub(crate) fn print(options: &ServeOptions, address: SocketAddr) -> Result<(), ServeError> {
    let mut out = std::io::stdout().lock();
    let line = line(options, address, std::process::id());
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(ServeError::system("write the ready line to standard output"))
}

fn line(options: &ServeOptions, address: SocketAddr, pid: u32) -> String {
    let model = options.model;
    if options.json {
        return json(options, address, pid);
    }
    let class = options.class().map_or(String::new(), |class| format!(" ({class})"));
    format!("ready: {model}{class} on {address}, pid {pid}")
}

/// The ready line of this process as JSON, also if the server prints it for people.
pub fn ready_json(options: &ServeOptions, address: SocketAddr) -> String {
    json(options, address, std::process::id())
}

fn json(options: &ServeOptions, address: SocketAddr, pid: u32) -> String {
    let model = options.model;
    let class = options.class().map_or(String::new(), |class| format!(r#""class":"{class}","#));
    // Nothing in these values needs an escape.
    let (host, port) = (address.ip(), address.port());
    let (version, runtime) = (env!("CARGO_PKG_VERSION"), format_args!("native {}", std::env::consts::ARCH));
    format!(
        r#"{{"event":"ready","host":"{host}","port":{port},"pid":{pid},"model":"{model}",{class}"version":"{version}","runtime":"{runtime}"}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_people() {
        let options = ServeOptions { coalesce: true, ..ServeOptions::default() };
        let address = "[::1]:6667".parse().unwrap();
        assert_eq!(line(&options, address, 7), "ready: epoll (open) on [::1]:6667, pid 7");
    }

    #[test]
    fn for_programs() {
        let options = ServeOptions { json: true, ..ServeOptions::default() };
        let expected = format!(
            r#"{{"event":"ready","host":"127.0.0.1","port":6667,"pid":4711,"model":"epoll","class":"classic","version":"{}","runtime":"native {}"}}"#,
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH
        );
        assert_eq!(line(&options, "127.0.0.1:6667".parse().unwrap(), 4711), expected);
    }
}
