//! A stream in memory, in place of a socket: the library reads what was received, and its output waits to be sent.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::link::OUT_MAX;

/// One end of a stream. Clones are the same end: the library has one, and the session the other.
#[derive(Clone, Default)]
pub(crate) struct MemoryStream(Arc<Mutex<Buffers>>);

#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    /// Bytes of the input that the library has read.
    read: usize,
    output: Vec<u8>,
    /// The library has more to write than there was room for.
    is_full: bool,
}

impl MemoryStream {
    /// One thread uses it, so nobody waits.
    fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes that were received.
    pub(crate) fn receive(&self, bytes: &[u8]) {
        self.buffers().input.extend_from_slice(bytes);
    }

    /// Moves the output to the end of `out`. Returns whether the library had more to write.
    pub(crate) fn take_output(&self, out: &mut Vec<u8>) -> bool {
        let mut buffers = self.buffers();
        out.append(&mut buffers.output);
        std::mem::take(&mut buffers.is_full)
    }
}

impl AsyncRead for MemoryStream {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let buffers = &mut *self.buffers();
        let rest = &buffers.input[buffers.read..];
        let count = rest.len().min(into.remaining());
        into.put_slice(&rest[..count]);
        buffers.read += count;
        if buffers.read == buffers.input.len() {
            buffers.input.clear();
            buffers.read = 0;
        }
        // The end of a connection is known before the library would read it.
        if count == 0 { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
}

impl AsyncWrite for MemoryStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let buffers = &mut *self.buffers();
        if buffers.output.len() >= OUT_MAX {
            buffers.is_full = true;
            return Poll::Pending;
        }
        buffers.output.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
