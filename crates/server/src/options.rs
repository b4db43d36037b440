//! What can be set about a server.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use klatch_exchange::web::DIRECTORIES_MAX;

use crate::{ServeError, Workload};

/// So many loops a server may have.
const LOOPS_MAX: usize = 1024;

/// How a server moves its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Two threads a connection: a receiver and a sender.
    Threads,
    /// Event loops over epoll.
    Epoll,
    /// Event loops over io_uring.
    Uring,
    /// Tasks over a few threads, by the tokio runtime.
    Tokio,
}

impl Model {
    /// All models, in the order of help and lists.
    pub const ALL: [Model; 4] = [Model::Threads, Model::Epoll, Model::Uring, Model::Tokio];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Threads => "threads",
            Model::Epoll => "epoll",
            Model::Uring => "uring",
            Model::Tokio => "tokio",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        let model = Model::ALL.into_iter().find(|model| model.name() == name);
        model.ok_or_else(|| {
            format!("model must be one of {}, got {name}", Model::ALL.map(Model::name).join(", "))
        })
    }
}

/// How a chat server writes deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One write system call per delivery.
    Classic,
    /// Several deliveries may go into one write.
    Open,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Classic => "classic",
            Class::Open => "open",
        })
    }
}

/// The files of a server that its clients reach by TLS 1.3, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// The key of that certificate.
    pub key: PathBuf,
    /// Give each client a ticket, by which its next connection can resume the session.
    pub tickets: bool,
    /// Model `epoll`: leave the records to the kernel after each handshake.
    pub in_kernel: bool,
}

/// What can be set about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The workload that it serves.
    pub workload: Workload,
    /// Chat: clients connect by WebSocket, one line of IRC a message, as IRCv3 specifies it.
    pub websocket: bool,
    /// Clients connect by TLS; `None` for plain TCP.
    pub tls: Option<TlsFiles>,
    /// How it moves its bytes.
    pub model: Model,
    /// Address or host name, and port; port 0 lets the system choose.
    pub listen: String,
    /// Put the deliveries of one loop turn into one write (class `open`) instead of one write each (class `classic`).
    pub coalesce: bool,
    /// How many loops (of `tokio`: worker threads) share the connections, 1 to 1024; `None`: one, which costs the least
    /// CPU time a message, or as the tokio runtime has it, one a CPU.
    pub loops: Option<usize>,
    /// Give up the CPU after each packet that was received and each batch that was sent, as VolanoMark's server did.
    pub yields: bool,
    /// TCP_NODELAY on every connection.
    pub nodelay: bool,
    /// Bytes that may wait for one connection, at least 4096. A reader that is slower than that is closed.
    pub sendq_bytes: usize,
    /// Seconds that a client has to register, to complete a request of which a part has arrived, and to take any of the bytes that
    /// wait for it; at least 1. As long may a closed connection take for its last lines.
    pub registration_timeout_s: u32,
    /// Connections that may be unregistered at the same time, at least 1.
    pub half_open_max: usize,
    /// Directories of the site of workload `web`, 1 to 10,000.
    pub directories: u32,
    /// Seed of the contents of that site.
    pub content_seed: u64,
    /// Print the ready line as JSON.
    pub json: bool,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            workload: Workload::Chat,
            websocket: false,
            tls: None,
            model: Model::Epoll,
            listen: "127.0.0.1:6667".into(),
            coalesce: false,
            loops: None,
            yields: false,
            nodelay: true,
            sendq_bytes: 1 << 20,
            registration_timeout_s: 30,
            half_open_max: 4096,
            directories: 25,
            content_seed: 1,
            json: false,
        }
    }
}

impl ServeOptions {
    /// The class of the server. One system call of an io_uring submits many writes. Only chat servers have a class.
    pub fn class(&self) -> Option<Class> {
        let is_open = self.coalesce || self.model == Model::Uring;
        (self.workload == Workload::Chat).then_some(if is_open { Class::Open } else { Class::Classic })
    }

    /// Time that a client has to register, to complete a request, and to take bytes that wait for it.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.registration_timeout_s.into())
    }

    /// How many loops there are.
    pub(crate) fn loops(&self) -> usize {
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from).min(LOOPS_MAX);
        let usual = || if self.model == Model::Tokio { cpus() } else { 1 };
        self.loops.unwrap_or_else(usual)
    }

    pub(crate) fn check(&self) -> Result<(), ServeError> {
        let timeout = self.registration_timeout_s as usize;
        for (name, least, got) in [
            ("sendq", 4096, self.sendq_bytes),
            ("registration timeout", 1, timeout),
            ("half-open connections", 1, self.half_open_max),
        ] {
            if got < least {
                return Err(ServeError::Option { name, least, got });
            }
        }
        if !(1..=DIRECTORIES_MAX).contains(&self.directories) {
            return Err(ServeError::Directories { most: DIRECTORIES_MAX, got: self.directories });
        }
        match self.loops {
            Some(got) if !(1..=LOOPS_MAX).contains(&got) => Err(ServeError::Loops { most: LOOPS_MAX, got }),
            _ => self.check_knobs(),
        }
    }

    /// A knob that the model does not have would be turned for nothing.
    fn check_knobs(&self) -> Result<(), ServeError> {
        const LOOPS: &[Model] = &[Model::Epoll, Model::Uring, Model::Tokio];
        let in_kernel = self.tls.as_ref().is_some_and(|tls| tls.in_kernel);
        let knobs: [(&'static str, bool, &'static [Model]); 4] = [
            ("coalesce", self.coalesce, LOOPS),
            ("loops", self.loops.is_some(), LOOPS),
            ("yield", self.yields, &[Model::Threads]),
            ("ktls", in_kernel, &[Model::Epoll]),
        ];
        for (knob, turned) in
            [("coalesce", self.coalesce), ("yield", self.yields), ("transport ws", self.websocket)]
        {
            if turned && self.workload != Workload::Chat {
                return Err(ServeError::ChatKnob { knob, workload: self.workload });
            }
        }
        for (knob, turned, models) in knobs {
            if turned && !models.contains(&self.model) {
                return Err(ServeError::Knob { knob, models, model: self.model });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_names() {
        for model in Model::ALL {
            assert_eq!(model.to_string().parse(), Ok(model));
        }
        assert_eq!(
            "mio".parse::<Model>(),
            Err("model must be one of threads, epoll, uring, tokio, got mio".into())
        );
    }

    #[test]
    fn values_out_of_range_are_named() {
        assert!(ServeOptions::default().check().is_ok());
        let error = ServeOptions { sendq_bytes: 100, ..ServeOptions::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "sendq must be at least 4096, got 100");
        let error = ServeOptions { half_open_max: 0, ..ServeOptions::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "half-open connections must be at least 1, got 0");
        let error = ServeOptions { loops: Some(0), ..ServeOptions::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "loops must be 1 to 1024, got 0");
    }

    #[test]
    fn a_knob_that_the_model_has_not_is_refused() {
        let options = ServeOptions { yields: true, ..ServeOptions::default() };
        assert_eq!(options.check().unwrap_err().to_string(), "yield belongs to model threads, not to epoll");
        let options = ServeOptions { model: Model::Threads, ..options };
        assert!(options.check().is_ok());
        let error = ServeOptions { loops: Some(1), ..options }.check().unwrap_err();
        assert_eq!(error.to_string(), "loops belongs to model epoll or uring or tokio, not to threads");
    }
}
