//! Why a server cannot start, or cannot go on.

use std::io;

use crate::{Model, Workload};

/// Why a server cannot start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// What to listen on is no address.
    #[error("cannot listen on {listen}: {reason}; give an address and a port, like 127.0.0.1:6667")]
    Address {
        /// The address as it was given.
        listen: String,
        /// What is wrong with it.
        reason: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address that cannot be used.
        address: String,
        /// The system's reason, and the remedy.
        reason: String,
    },
    /// There are no keys for the tickets of TLS.
    #[error("cannot make a key for tickets: {0}")]
    Tickets(klatch_protocol::tls::Error),
    /// The kernel has no TLS.
    #[error("cannot leave TLS to the kernel: {0}")]
    KernelTls(#[from] klatch_protocol::tls::KernelTlsError),
    /// An option is out of its range.
    #[error("{name} must be at least {least}, got {got}")]
    Option {
        /// Name of the setting.
        name: &'static str,
        /// The smallest value allowed.
        least: usize,
        /// The value that was given.
        got: usize,
    },
    /// The number of loops is out of range.
    #[error("loops must be 1 to {most}, got {got}")]
    Loops {
        /// The largest number allowed.
        most: usize,
        /// The number that was given.
        got: usize,
    },
    /// The number of directories is out of range.
    #[error("directories must be 1 to {most}, got {got}")]
    Directories {
        /// The largest number allowed.
        most: u32,
        /// The number that was given.
        got: u32,
    },
    /// A knob is turned that the model does not have.
    #[error("{knob} belongs to model {}, not to {model}", models.iter().map(|model| model.name()).collect::<Vec<_>>().join(" or "))]
    Knob {
        /// Name of the knob.
        knob: &'static str,
        /// The models that have it.
        models: &'static [Model],
        /// The model that was asked for.
        model: Model,
    },
    /// A knob of chat is turned for another workload.
    #[error("{knob} belongs to workload chat, not to {workload}")]
    ChatKnob {
        /// Name of the knob.
        knob: &'static str,
        /// The workload that was asked for.
        workload: Workload,
    },
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    TlsFile(#[from] klatch_protocol::tls::TlsFileError),
    /// The system has no io_uring that the model `uring` can use.
    #[error("cannot serve with io_uring: {reason}")]
    IoUring {
        /// What is missing, and what to do about it.
        reason: String,
    },
    /// The caller could not announce that the server is ready.
    #[error(transparent)]
    Announce(io::Error),
    /// A system call failed that should not.
    #[error("cannot {what}: {reason}")]
    System {
        /// The operation that failed.
        what: &'static str,
        /// The error of the system.
        reason: io::Error,
    },
}

impl ServeError {
    pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> ServeError {
        move |reason| ServeError::System { what, reason: reason.into() }
    }
}
