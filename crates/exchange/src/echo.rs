//! The echo service of RFC 862: every byte goes back to the client that sent it.

use std::net::IpAddr;
use std::sync::Arc;

use klatch_protocol::service::{Flow, Outbox, Service, Visit};

/// A server of workload `rr`. It keeps nothing.
pub struct Echo;

/// One connection to [`Echo`].
pub struct EchoVisit<O> {
    outbox: O,
}

impl<O: Outbox + Send + Sync + 'static> Service<O> for Echo {
    type Visit = EchoVisit<O>;

    const REPLIES_ONLY: bool = true;
    const READ_BYTES: usize = 16 * 1024;

    fn enter(self: &Arc<Self>, _: IpAddr, outbox: O) -> EchoVisit<O> {
        EchoVisit { outbox }
    }

    fn closing_message(_: &[u8]) -> Arc<[u8]> {
        Arc::default()
    }
}

impl<O: Outbox + Send + Sync + 'static> Visit for EchoVisit<O> {
    fn feed(&mut self, bytes: &[u8]) -> Flow {
        self.outbox.send(&Arc::from(bytes));
        Flow::Continue
    }

    fn close(&mut self, _: &[u8]) {}

    fn hang_up(&mut self, _: &[u8]) {}

    fn registered(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Collects what is sent to it.
    #[derive(Clone, Default)]
    struct Bytes(Arc<Mutex<Vec<u8>>>);

    impl Outbox for Bytes {
        fn send(&self, bytes: &Arc<[u8]>) {
            self.0.lock().unwrap().extend_from_slice(bytes);
        }
    }

    #[test]
    fn each_connection_gets_its_own_bytes_back() {
        let echo = Arc::new(Echo);
        let (one, other) = (Bytes::default(), Bytes::default());
        let mut visits = [&one, &other].map(|outbox| echo.enter([127, 0, 0, 1].into(), outbox.clone()));
        assert!(visits[0].registered(), "nothing is to be done first");
        for piece in [&b"a"[..], b"\0\r\n", b"", b"zz"] {
            assert_eq!(visits[0].feed(piece), Flow::Continue);
        }
        assert_eq!(visits[1].feed(b"other"), Flow::Continue);
        assert_eq!(*one.0.lock().unwrap(), b"a\0\r\nzz");
        assert_eq!(*other.0.lock().unwrap(), b"other");
    }
}
