//! A server of this process.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;

use klatch_server::{ServeError, ServeOptions, serve_until};

use crate::client::Client;

/// A server in a thread.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: UnixStream,
    thread: JoinHandle<Result<(), ServeError>>,
}

impl Running {
    pub(crate) fn start(options: ServeOptions) -> Running {
        let options = ServeOptions { listen: "127.0.0.1:0".into(), ..options };
        let (stop, stopped) = UnixStream::pair().unwrap();
        let (ready, when_ready) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            serve_until(&options, stopped.as_fd(), &mut |address| {
                ready.send(address).unwrap();
                Ok(())
            })
        });
        Running { address: when_ready.recv().unwrap(), stop, thread }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::on(TcpStream::connect(self.address).unwrap())
    }

    /// A client that is registered, so that it no longer counts as unregistered.
    pub(crate) fn user(&self, nick: &str) -> Client {
        let mut client = self.connect();
        client.register(nick);
        client.ping();
        client
    }

    pub(crate) fn stop(mut self) {
        self.stop.write_all(b"x").unwrap();
        self.thread.join().unwrap().unwrap();
    }
}
