//! TLS without any I/O: TLS 1.3 with one cipher suite, without resumption, so that servers compare.

mod config;
mod pipe;
mod service;
mod visit;

pub use config::{ClientTls, ServerTls, TlsFileError};
pub use pipe::{Session, TlsPipe};
pub use service::{Tls, TlsOutbox};
pub use visit::TlsVisit;

pub use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
