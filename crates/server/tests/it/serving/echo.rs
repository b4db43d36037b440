//! Workload `rr` over real sockets: every model returns every byte.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::running::Running;
use klatch_server::{Model, ServeError, ServeOptions, Workload, serve};

/// A test that waits longer than this for bytes has failed.
const TIMEOUT: Duration = Duration::from_secs(20);

fn rr(model: Model) -> ServeOptions {
    ServeOptions { workload: Workload::Rr, model, ..ServeOptions::default() }
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn servers() -> Vec<ServeOptions> {
    let loops = |model| ServeOptions { loops: Some(3), ..rr(model) };
    let mut servers: Vec<_> = Model::ALL.map(rr).into();
    servers.extend([Model::Epoll, Model::Uring, Model::Tokio].map(loops));
    servers
}

#[test]
fn connections_get_their_own_bytes_back_in_order() {
    for options in servers() {
        let server = Running::start(options);
        let mut clients: Vec<TcpStream> = (0..5).map(|_| connect(&server)).collect();
        for round in 0..20_usize {
            let payload = |client: usize| vec![(7 * round + client) as u8; 1 + 997 * round];
            for (number, client) in clients.iter_mut().enumerate() {
                client.write_all(&payload(number)).unwrap();
            }
            for (number, client) in clients.iter_mut().enumerate() {
                let mut reply = payload(number + 1);
                client.read_exact(&mut reply).unwrap();
                assert_eq!(reply, payload(number), "round {round}");
            }
        }
        server.stop();
    }
}

#[test]
fn a_client_that_ends_its_output_gets_all_of_it_back() {
    for options in servers() {
        let server = Running::start(options);
        let mut client = connect(&server);
        client.write_all(&[b'x'; 100_000]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        client.read_to_end(&mut back).unwrap();
        assert_eq!(back.len(), 100_000);
        server.stop();
    }
}

#[test]
fn a_knob_of_chat_is_refused() {
    let refused = |options| serve(&options).map_err(|error: ServeError| error.to_string());
    assert_eq!(
        refused(ServeOptions { coalesce: true, ..rr(Model::Epoll) }),
        Err("coalesce belongs to workload chat, not to rr".to_owned())
    );
    assert_eq!(
        refused(ServeOptions { yields: true, ..rr(Model::Threads) }),
        Err("yield belongs to workload chat, not to rr".to_owned())
    );
}
