//! TLS 1.3 with one cipher suite, so that servers compare; clients also offer TLS 1.2 with the same cipher, or what they are told. It is bytes in and bytes out, without I/O, but for a connection that is left to
//! the kernel after its handshake: then it sets the keys of a socket.

mod alert;
mod boundary;
mod config;
mod kernel;
mod pipe;
mod service;
mod visit;

pub use alert::send_close_notify;
pub use config::{ClientOffer, ClientTls, ServerTls, TlsFileError};
pub use kernel::{ControlRecord, KernelTlsError, check_kernel_tls, receive_control_record};
pub use pipe::{Session, TlsPipe};
pub use service::{Tls, TlsOutbox};
pub use visit::TlsVisit;

pub use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
