//! Refusals of brokers in words: the return codes of MQTT 3.1.1, and the reason codes of MQTT 5.

/// Reason codes from here on are failures.
const FAILURES: u8 = 0x80;

/// Whether a code is a failure, or missing.
pub(super) fn failed(code: Option<&u8>) -> bool {
    code.is_none_or(|code| *code >= FAILURES)
}

/// Whether the code of a CONNACK refuses the version of MQTT, in either version of the packet.
pub(super) fn is_of_version(code: u8) -> bool {
    matches!(code, 0x01 | 0x84)
}

/// The return code of a CONNACK of MQTT 3.1.1 in words.
pub(super) fn return_code(code: u8) -> &'static [u8] {
    match code {
        1 => b"the broker refused: unacceptable protocol version; the crowd speaks MQTT 5 and 3.1.1",
        2 => b"the broker refused: client identifier rejected",
        3 => b"the broker refused: server unavailable",
        4 => b"the broker refused: bad user name or password",
        5 => b"the broker refused: not authorized",
        _ => b"the broker refused the connection, with a code that MQTT 3.1.1 does not have",
    }
}

/// The reason code of a packet of MQTT 5 in words; `otherwise` if the standard has none for it.
pub(super) fn reason(code: Option<&u8>, otherwise: &'static [u8]) -> &'static [u8] {
    match code {
        Some(0x80) => b"the broker refused: unspecified error",
        Some(0x81) => b"the broker refused: malformed packet",
        Some(0x82) => b"the broker refused: protocol error",
        Some(0x83) => b"the broker refused: implementation specific error",
        Some(0x84) => b"the broker refused: unsupported protocol version; the crowd speaks MQTT 5 and 3.1.1",
        Some(0x85) => b"the broker refused: client identifier not valid",
        Some(0x86) => b"the broker refused: bad user name or password",
        Some(0x87) => b"the broker refused: not authorized",
        Some(0x88) => b"the broker refused: server unavailable",
        Some(0x89) => b"the broker refused: server busy",
        Some(0x8a) => b"the broker refused: banned",
        Some(0x8b) => b"the broker ended the connection: server shutting down",
        Some(0x8c) => b"the broker refused: bad authentication method",
        Some(0x8d) => b"the broker ended the connection: keep-alive time-out",
        Some(0x8e) => {
            b"the broker ended the connection: another client with this identifier took over the session"
        }
        Some(0x8f) => b"the broker refused: topic filter invalid",
        Some(0x90) => b"the broker refused: topic name invalid",
        Some(0x91) => b"the broker refused: packet identifier in use",
        Some(0x92) => b"the broker refused: packet identifier not found",
        Some(0x93) => b"the broker refused: receive maximum exceeded",
        Some(0x94) => b"the broker refused: topic alias invalid",
        Some(0x95) => b"the broker refused: packet too large",
        Some(0x96) => b"the broker refused: message rate too high",
        Some(0x97) => b"the broker refused: quota exceeded",
        Some(0x98) => b"the broker ended the connection: administrative action",
        Some(0x99) => b"the broker refused: payload format invalid",
        Some(0x9a) => b"the broker refused: retained messages not supported",
        Some(0x9b) => b"the broker refused: quality of service not supported",
        Some(0x9c) => b"the broker refused: use another server",
        Some(0x9d) => b"the broker refused: server moved",
        Some(0x9e) => b"the broker refused: shared subscriptions not supported",
        Some(0x9f) => b"the broker refused: connection rate exceeded",
        Some(0xa0) => b"the broker ended the connection: maximum connect time",
        Some(0xa1) => b"the broker refused: subscription identifiers not supported",
        Some(0xa2) => b"the broker refused: wildcard subscriptions not supported",
        _ => otherwise,
    }
}
