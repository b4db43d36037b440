//! Explains for users why TLS with a server failed.

use klatch_protocol::tls::{AlertDescription, CertificateError, Error, InvalidMessage};

/// The reason in words.
pub(super) fn explain(error: &Error) -> String {
    match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server does not answer in TLS, so it speaks none at this port".to_owned()
        }
        Error::InvalidCertificate(error) => certificate(error),
        Error::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion)
        | Error::PeerIncompatible(_) => {
            "the server refused the TLS handshake; it must have a version and a cipher suite that are offered: TLS_AES_128_GCM_SHA256 of TLS 1.3, or ECDHE with AES_128_GCM of TLS 1.2, unless others are set"
                .to_owned()
        }
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server demands a certificate of its clients".to_owned()
        }
        Error::AlertReceived(
            alert @ (AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::AccessDenied),
        ) => format!("the server does not accept the certificate of the client: {alert:?}"),
        Error::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "the server does not choose HTTP/2 (h2 in ALPN)".to_owned()
        }
        other => format!("TLS failed: {other}"),
    }
}

fn certificate(error: &CertificateError) -> String {
    let reason = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for another name"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            return "no authority that the crowd trusts (--ca) has signed the server's certificate"
                .to_owned();
        }
        // The library has no better name for it.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "is that of an authority; openssl makes one of a server with -addext basicConstraints=critical,CA:FALSE"
        }
        other => return format!("the server's certificate is not accepted: {other}"),
    };
    format!("the server's certificate {reason}")
}
