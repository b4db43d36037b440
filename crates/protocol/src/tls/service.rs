//! A service over TLS.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::service::{Outbox, Seal, Service};

use crate::tls::{ServerTls, TlsPipe, TlsVisit};

/// A service whose clients connect by TLS. `inner` is the same for all I/O models.
pub struct Tls<S> {
    pub(crate) inner: Arc<S>,
    tls: ServerTls,
}

impl<S> Tls<S> {
    /// The service `inner` over TLS.
    pub fn new(inner: Arc<S>, tls: ServerTls) -> Tls<S> {
        Tls { inner, tls }
    }
}

impl<O, S> Service<O> for Tls<S>
where
    O: Outbox + Send + 'static,
    S: Service<TlsOutbox<O>>,
{
    type Visit = TlsVisit<O, S>;

    const REPLIES_ONLY: bool = S::REPLIES_ONLY;
    const READ_BYTES: usize = S::READ_BYTES;

    fn enter(self: &Arc<Self>, from: IpAddr, outbox: O) -> TlsVisit<O, S> {
        let records = Arc::new(Records {
            state: Mutex::new(State { pipe: TlsPipe::server(&self.tls), takes_plain: false, ending: false }),
        });
        let outbox = TlsOutbox { outbox, records };
        let inner = self.inner.enter(from, outbox.clone());
        TlsVisit::new(outbox, inner)
    }

    /// There is none: what waited before it is lost, and with it the numbers of its records.
    fn closing_message(_: &[u8]) -> Arc<[u8]> {
        Arc::default()
    }
}

/// The records of one connection, which its visit and the outboxes of other connections make.
pub(crate) struct Records {
    state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) pipe: TlsPipe,
    /// The outbox takes plain bytes: it has a record made of what it writes together, or the kernel makes the records. Otherwise each
    /// delivery is a record.
    pub(crate) takes_plain: bool,
    /// The end is announced after what is written next.
    pub(crate) ending: bool,
}

impl Records {
    /// Nobody panics with this lock held.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seal for Records {
    fn seal(&self, plain: &[u8], raw: &mut Vec<u8>) {
        let mut state = self.state();
        state.pipe.send(plain, raw);
        if state.ending {
            state.pipe.close();
            state.pipe.send(&[], raw);
        }
    }
}

/// Encrypts the output of one connection.
#[derive(Clone)]
pub struct TlsOutbox<O> {
    pub(crate) outbox: O,
    pub(crate) records: Arc<Records>,
}

impl<O: Outbox> Outbox for TlsOutbox<O> {
    fn send(&self, bytes: &Arc<[u8]>) {
        self.encrypt(bytes, O::send);
    }

    fn deliver(&self, bytes: &Arc<[u8]>) {
        self.encrypt(bytes, O::deliver);
    }

    fn is_open(&self) -> bool {
        self.outbox.is_open()
    }
}

impl<O: Outbox> TlsOutbox<O> {
    fn encrypt(&self, bytes: &Arc<[u8]>, put: impl Fn(&O, &Arc<[u8]>)) {
        let mut state = self.records.state();
        if state.takes_plain {
            // The outbox calls back for the record, and takes this lock after its own.
            drop(state);
            return put(&self.outbox, bytes);
        }
        let mut raw = Vec::with_capacity(bytes.len() + 64);
        state.pipe.send(bytes, &mut raw);
        if !raw.is_empty() {
            // With the lock held: the records are numbered.
            put(&self.outbox, &raw.into());
        }
    }
}
