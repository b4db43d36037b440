//! A server that Klatch started and that is ready. Dropping it stops it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use klatch_host::privileges::{Program, temporary_folder};
use klatch_record::{Authorities, Class, Endpoint, VmInForce};
use tempfile::TempDir;
use thiserror::Error;

use crate::catalog::ReadyBy;
use crate::certificate::AUTHORITY;
use crate::command::{Prepared, Site};
use crate::platform_error::PlatformError;
use crate::process::{Line, Process, ProcessError, Processes, describe_status};
use crate::ready::Ready;
use crate::resolve::ResolvedPlatform;
use crate::secrets::Secrets;

/// Longest time of one attempt to connect: between two of them, the end of the server is noticed.
const TRY_MAX: Duration = Duration::from_secs(1);
/// Interval between attempts to connect to a server that prints no ready line.
const TRY_PERIOD: Duration = Duration::from_millis(10);

/// A server that accepts connections. Dropping it stops it.
pub struct Server {
    // Dropped before the folder, so the server no longer reads its files.
    process: Process,
    folder: TempDir,
    secrets: Secrets,
    /// Address on which it listens.
    pub address: SocketAddr,
    /// How its clients reach it. The file of its authority lives as long as the server.
    pub endpoint: Endpoint,
    /// The process that instruments observe.
    pub pid: u32,
    /// How it writes deliveries.
    pub class: Option<Class>,
    /// The mechanism with which it waits for its connections, if its ready line names one.
    pub io: Option<String>,
    /// What its virtual machine says of itself, if it is a Java.
    pub vm: Option<VmInForce>,
    /// The command line that started it.
    pub command: Vec<String>,
    /// Variables that its platform file sets, with `{secret:NAME}` in place of a password.
    pub variables: BTreeMap<String, String>,
    /// From the start of its process until it accepted connections.
    pub start_time: Duration,
}

/// Reasons why a server cannot be started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Its command line cannot be built.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// No temporary folder or free port is available.
    #[error("{name}: cannot get a folder and a port for it: {source}")]
    Site {
        /// Name of the platform.
        name: String,
        /// The error of the system call.
        source: std::io::Error,
    },
    /// Its process cannot be started.
    #[error("{name}: {source}")]
    Process {
        /// Name of the platform.
        name: String,
        /// The reason, from the child process.
        source: ProcessError,
    },
    /// It ended before it was ready.
    #[error("{name} ended before it was ready ({how}); standard error: {stderr}")]
    Ended {
        /// Name of the platform.
        name: String,
        /// Description of its exit status.
        how: String,
        /// Last lines of its standard error.
        stderr: String,
    },
    /// It waits for its connections by another mechanism than promised.
    #[error(
        "{name} runs on {actual}, and {promised} is what it is measured for; knob io={actual} measures the other; \
         standard error: {stderr}"
    )]
    Io {
        /// Name of the platform.
        name: String,
        /// The mechanism of the platform or of its knob.
        promised: String,
        /// The mechanism of its ready line.
        actual: String,
        /// Last lines of its standard error.
        stderr: String,
    },
    /// It was not ready in time.
    #[error("{name} was not ready after {timeout_s} s and was stopped; standard error: {stderr}")]
    Late {
        /// Name of the platform.
        name: String,
        /// The time-out in seconds.
        timeout_s: f64,
        /// Last lines of its standard error.
        stderr: String,
    },
}

impl Server {
    /// Starts the platform on a free port of `listen`, a local address, and waits until it accepts connections.
    ///
    /// # Errors
    /// It cannot be built or started, or is not ready within `timeout`. No process is left running.
    pub fn start(
        platform: &ResolvedPlatform,
        listen: IpAddr,
        all: &Processes,
        timeout: Duration,
    ) -> Result<Server, ServerError> {
        let no_site = |source| ServerError::Site { name: platform.name.clone(), source };
        let folder = temporary_folder().map_err(no_site)?;
        Server::start_in((folder, Secrets::default()), platform, listen, all, timeout)
    }

    /// Starts the platform again, in the folder of this server, which has ended or is stopped.
    ///
    /// # Errors
    /// As those of [`Server::start`].
    pub(crate) fn restart(
        self,
        platform: &ResolvedPlatform,
        all: &Processes,
        timeout: Duration,
    ) -> Result<Server, ServerError> {
        let Server { process, folder, secrets, address, .. } = self;
        drop(process);
        Server::start_in((folder, secrets), platform, address.ip(), all, timeout)
    }

    fn start_in(
        (folder, secrets): (TempDir, Secrets),
        platform: &ResolvedPlatform,
        listen: IpAddr,
        all: &Processes,
        timeout: Duration,
    ) -> Result<Server, ServerError> {
        let name = &platform.name;
        let no_site = |source| ServerError::Site { name: name.clone(), source };
        let port = match platform.entry.ready {
            ReadyBy::Line => 0,
            ReadyBy::Accepts => free_port(listen).map_err(no_site)?,
        };
        let host = listen.to_string();
        let site = Site { host: &host, port, folder: folder.path(), secrets: &secrets };
        let prepared = match platform.prepare(&site, all) {
            // A build was stopped.
            Err(_) if all.interrupted() => {
                return Err(ServerError::Process { name: name.clone(), source: ProcessError::Interrupted });
            }
            prepared => prepared?,
        };
        let Prepared { command, launch, ready_command, variables } = prepared;
        // A server may load a database before it serves.
        let shown = all.show(&format!("starting {name}"));
        let started = Instant::now();
        let mut process = all
            .start(&command, &launch)
            .map_err(|source| ServerError::Process { name: name.clone(), source })?;
        let deadline = started + timeout;
        let ready = match platform.entry.ready {
            ReadyBy::Line => wait_for_ready_line(&process, deadline),
            ReadyBy::Accepts => {
                let serves = |deadline| succeeds(&ready_command, deadline);
                wait_until_serving(&process, (listen, port).into(), serves, deadline)
            }
        };
        let start_time = started.elapsed();
        drop(shown);
        let (pid, class) = (process.pid(), platform.class());
        match ready {
            StartOutcome::Ready(port, ready_line) => {
                let pid = ready_line.as_ref().map_or(pid, |ready| ready.pid);
                let vm = platform.knobs.in_force(pid).map_err(PlatformError::from)?;
                let io = ready_line.as_ref().and_then(|ready| ready.io.clone());
                check_io(platform, io.as_deref(), &process)?;
                process.discard_lines();
                let address = (listen, port).into();
                let authority = Authorities::File(folder.path().join(AUTHORITY));
                Ok(Server {
                    address,
                    endpoint: platform.endpoint(address, authority),
                    pid,
                    class: ready_line.and_then(|ready| ready.class).or(class),
                    io,
                    vm,
                    process,
                    folder,
                    secrets,
                    command,
                    variables,
                    start_time,
                })
            }
            StartOutcome::Ended if all.interrupted() => {
                Err(ServerError::Process { name: name.clone(), source: ProcessError::Interrupted })
            }
            StartOutcome::Ended => {
                let how = process.wait_for_exit().map_or("it closed its output".to_owned(), describe_status);
                Err(ServerError::Ended { name: name.clone(), how, stderr: process.last_words() })
            }
            StartOutcome::Late => Err(ServerError::Late {
                name: name.clone(),
                timeout_s: timeout.as_secs_f64(),
                stderr: process.last_words(),
            }),
        }
    }

    /// Stops it, and gives it up to `timeout` to write its files. Returns the end of its standard error.
    pub fn end_within(mut self, timeout: Duration) -> String {
        let late = self.process.end_within(timeout).is_none();
        let errors = self.process.last_words();
        if late {
            format!("it had not ended after {} s; standard error: {errors}", timeout.as_secs())
        } else {
            errors
        }
    }

    /// The text with the passwords of this server in place of `{secret:NAME}`.
    ///
    /// # Errors
    /// The kernel has no random bytes.
    pub(crate) fn fill_secrets(&self, text: &str) -> std::io::Result<String> {
        self.secrets.fill(text)
    }

    /// Its exit status and the end of its standard error, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.process.ended()?;
        Some(format!("{}; standard error: {}", describe_status(status), self.process.last_words()))
    }
}

/// The knob that selects the mechanism with which a server waits for its connections.
const IO_KNOB: &str = "io";

/// Refuses a server that fell back to another mechanism than the platform or its knob promises.
fn check_io(platform: &ResolvedPlatform, actual: Option<&str>, process: &Process) -> Result<(), ServerError> {
    let chosen = platform.settings.iter().find(|setting| setting.name == IO_KNOB);
    let promised = chosen.map(|setting| setting.value.as_str()).or(platform.entry.io.as_deref());
    match (promised, actual) {
        (Some(promised), Some(actual)) if promised != actual => Err(ServerError::Io {
            name: platform.name.clone(),
            promised: promised.to_owned(),
            actual: actual.to_owned(),
            stderr: process.last_words(),
        }),
        _ => Ok(()),
    }
}

enum StartOutcome {
    /// It accepts connections on this port; with its ready line if it printed one.
    Ready(u16, Option<Ready>),
    Ended,
    Late,
}

fn wait_for_ready_line(process: &Process, deadline: Instant) -> StartOutcome {
    loop {
        match process.line(deadline) {
            Line::Text(line) => {
                if let Some(ready) = Ready::parse(&line) {
                    return StartOutcome::Ready(ready.port, Some(ready));
                }
                process.keep(line);
                // It may print without end.
                if Instant::now() >= deadline {
                    return StartOutcome::Late;
                }
            }
            Line::End => return StartOutcome::Ended,
            Line::Late => return StartOutcome::Late,
        }
    }
}

/// Waits until a process that prints no ready line accepts connections at this address. Returns whether it does.
pub fn wait_until_accepting(process: &Process, address: SocketAddr, deadline: Instant) -> bool {
    matches!(wait_until_serving(process, address, |_| true, deadline), StartOutcome::Ready(..))
}

/// Such a server reports no event, so the port is polled, and then `serves`, which has a deadline.
fn wait_until_serving(
    process: &Process,
    address: SocketAddr,
    serves: impl Fn(Instant) -> bool,
    deadline: Instant,
) -> StartOutcome {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return StartOutcome::Late;
        }
        // Without a limit, an attempt whose packets are dropped takes minutes.
        if TcpStream::connect_timeout(&address, left.min(TRY_MAX)).is_ok() && serves(deadline) {
            return StartOutcome::Ready(address.port(), None);
        }
        let next_try = deadline.min(Instant::now() + TRY_PERIOD);
        // It may print without end.
        while Instant::now() < next_try {
            match process.line(next_try) {
                Line::Text(line) => process.keep(line),
                Line::End => return StartOutcome::Ended,
                Line::Late => break,
            }
        }
    }
}

/// Whether this command exits with status 0 before the deadline; an empty one does.
fn succeeds(command: &[String], deadline: Instant) -> bool {
    let Some((program, arguments)) = command.split_first() else { return true };
    let left = deadline.saturating_duration_since(Instant::now());
    Program::new(program).args(arguments).output_within(left).is_ok_and(|output| output.status.success())
}

/// Returns a port that is free now. If another process takes it first, the server reports the error.
///
/// # Errors
/// This machine has no such address, or no free port.
pub fn free_port(listen: IpAddr) -> std::io::Result<u16> {
    Ok(TcpListener::bind((listen, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use klatch_record::Workload;
    use rustix::net::{AddressFamily, SocketType};

    use super::*;
    use crate::launch::Launch;
    use crate::resolve::{PlatformRequest, resolve};

    fn start(script: &str, ready: &str, timeout: Duration) -> Result<Server, String> {
        let catalog = tempfile::tempdir().unwrap();
        let head = "name = 'dummy'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\n";
        let text = format!("{head}ready = '{ready}'\ncommand = ['sh', '-c', '''{script}''']\n");
        std::fs::write(catalog.path().join("dummy.toml"), text).unwrap();
        let request = PlatformRequest {
            name: Some("dummy".into()),
            catalog: Some(catalog.path().into()),
            ..PlatformRequest::default()
        };
        Server::start(
            &resolve(&request, &Workload::default()).unwrap(),
            LOOPBACK,
            &Processes::default(),
            timeout,
        )
        .map_err(|error| error.to_string())
    }

    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_stderr_of_a_server_that_dies_is_reported() {
        for ready in ["line", "accepts"] {
            let error = start("echo no port >&2; exit 7", ready, LONG).err().unwrap();
            assert_eq!(error, "dummy ended before it was ready (exit status 7); standard error: no port");
        }
    }

    #[test]
    fn a_server_that_is_not_ready_in_time_is_stopped() {
        for ready in ["line", "accepts"] {
            let error =
                start("echo starting >&2; sleep 1000", ready, Duration::from_millis(300)).err().unwrap();
            assert!(
                error
                    .starts_with("dummy was not ready after 0.3 s and was stopped; standard error: starting"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_server_that_prints_without_end_and_is_not_ready_is_late_in_time() {
        let began = Instant::now();
        for ready in ["line", "accepts"] {
            let error = start("yes so; sleep 1000", ready, Duration::from_millis(300)).err().unwrap();
            assert!(
                error.ends_with("standard error: nothing; standard output: so; so; so; so; so; so; so; so"),
                "{error}"
            );
        }
        assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    }

    /// Its queue of connections is full and nothing is accepted, so the packets of further attempts are dropped.
    #[test]
    fn a_server_that_accepts_nothing_is_late_in_time() {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &SocketAddr::from((LOOPBACK, 0))).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let address = SocketAddr::try_from(rustix::net::getsockname(&socket).unwrap()).unwrap();
        let attempt = || TcpStream::connect_timeout(&address, Duration::from_millis(100));
        let waiting: Vec<TcpStream> = std::iter::from_fn(|| attempt().ok()).take(9).collect();
        assert!(waiting.len() < 9, "the queue is full");
        let command = ["sleep", "1000"].map(str::to_owned);
        let process = Processes::default().start(&command, &Launch::default()).unwrap();
        let began = Instant::now();
        assert!(!wait_until_accepting(&process, address, began + Duration::from_millis(300)));
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }

    #[test]
    fn a_ready_command_that_does_not_end_is_late() {
        let started = Instant::now();
        let asks = |script: &str| {
            let command = ["sh", "-c", script].map(str::to_owned);
            succeeds(&command, Instant::now() + Duration::from_millis(300))
        };
        assert!(!asks("exec sleep 1000") && started.elapsed() < LONG);
        assert!(!asks("exit 1") && succeeds(&[], started));
    }

    #[test]
    fn a_server_that_dies_later_is_detected() {
        let line = r#"{"event":"ready","host":"127.0.0.1","port":1,"pid":1,"class":"open"}"#;
        let script = format!("cat <<END\n{line}\nEND\necho bye >&2; exit 9");
        let mut server = start(&script, "line", LONG).unwrap();
        assert_eq!(server.address.to_string(), "127.0.0.1:1");
        server.process.wait_for_exit();
        assert_eq!(server.ended(), Some("exit status 9; standard error: bye".into()));
    }

    #[test]
    fn a_missing_server_program_is_an_error() {
        let catalog = tempfile::tempdir().unwrap();
        let text =
            "name = 'gone'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\ncommand = ['/nowhere/server']\n";
        std::fs::write(catalog.path().join("gone.toml"), text).unwrap();
        let request = PlatformRequest {
            name: Some("gone".into()),
            catalog: Some(catalog.path().into()),
            ..PlatformRequest::default()
        };
        let error = Server::start(
            &resolve(&request, &Workload::default()).unwrap(),
            LOOPBACK,
            &Processes::default(),
            LONG,
        )
        .err()
        .unwrap()
        .to_string();
        assert_eq!(error, "gone: cannot start /nowhere/server: No such file or directory (os error 2)");
    }
}
