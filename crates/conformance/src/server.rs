//! The checks of a server by its protocol and workload.

use klatch_record::{Endpoint, ProtocolName, WorkloadKind};

use crate::echo::{EchoWire, check_echo};
use crate::finding::Finding;
use crate::web::{SiteSubject, check_site};
use crate::websocket::check_websocket;
use crate::{NoServer, Subject, check};

/// Runs the checks of this server's protocol in turn, and calls `on_finding` after each, with the number of all checks. HTTP is that of a site
/// unless the workload is `rr`; of a site without its dynamic half `static_only` leaves that out.
///
/// # Errors
/// The server accepts no connection at all.
pub fn check_server(
    endpoint: &Endpoint,
    workload: WorkloadKind,
    subject: &Subject,
    static_only: bool,
    on_finding: impl FnMut(&Finding, usize),
) -> Result<Vec<Finding>, NoServer> {
    let (address, answer_timeout) = (endpoint.to_string(), subject.answer_timeout);
    let wire = match endpoint.protocol {
        ProtocolName::Echo => EchoWire::Plain,
        ProtocolName::Redis => EchoWire::Redis,
        ProtocolName::Postgres => EchoWire::Postgres,
        ProtocolName::Http if workload == WorkloadKind::Rr => EchoWire::Http,
        ProtocolName::Http => {
            return check_site(&address, &SiteSubject { static_only, answer_timeout }, on_finding);
        }
        _ => {
            return match &endpoint.websocket {
                Some(websocket) if endpoint.protocol == ProtocolName::Irc => {
                    check_websocket(&address, websocket, subject, on_finding)
                }
                _ => check(&address, subject, on_finding),
            };
        }
    };
    check_echo(&address, wire, answer_timeout, on_finding)
}
