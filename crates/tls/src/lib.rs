//! TLS without any I/O: TLS 1.3 with one cipher suite, without resumption, so that servers compare. A connection can be left to the
//! kernel after its handshake.

mod alert;
mod boundary;
mod config;
mod kernel;
mod pipe;
mod service;
mod visit;

pub use alert::send_close_notify;
pub use config::{ClientTls, ServerTls, TlsFileError};
pub use kernel::{ControlRecord, KernelTlsError, check_kernel_tls, receive_control_record};
pub use pipe::{Session, TlsPipe};
pub use service::{Tls, TlsOutbox};
pub use visit::TlsVisit;

pub use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
