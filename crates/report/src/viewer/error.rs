//! Why a page cannot be served.

use thiserror::Error;

/// A page cannot be served.
#[derive(Debug, Error)]
pub enum ViewerError {
    /// The port cannot be listened on.
    #[error("cannot listen on 127.0.0.1:{port}: {cause}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// The reason of the operating system.
        cause: String,
    },
    /// The operating system gave no thread or port.
    #[error("cannot serve the page of the run: {0}")]
    Thread(std::io::Error),
    /// The results folder cannot be written.
    #[error("cannot write the address of the page into {folder}: {cause}")]
    Announce {
        /// The folder of the results.
        folder: String,
        /// The reason of the operating system.
        cause: std::io::Error,
    },
    /// The page cannot be made.
    #[error(transparent)]
    Page(#[from] crate::HtmlError),
}
