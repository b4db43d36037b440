//! A server of HTTP/2 in plain, with the replies and faults of the test's choice.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::request::Parts;
use http::{Request, Response};

/// What follows a request.
pub(crate) enum Answer {
    /// A reply of this status with this body.
    Reply(u16, Vec<u8>),
    /// A reset of the stream.
    Reset(Reason),
    /// The head of a reply, a part of its body, and nothing more.
    Part(Vec<u8>),
    Nothing,
}

/// What a server does. Requests are counted from 0.
#[derive(Clone, Copy)]
pub(crate) struct Behaviour {
    pub(crate) answer: fn(number: usize, head: &Parts, body: &[u8]) -> Answer,
    /// The code of the GOAWAY that follows a request, if one does.
    pub(crate) goes_away: fn(number: usize) -> Option<Reason>,
    /// Streams of a connection at a time; `None`: no limit.
    pub(crate) streams: Option<u32>,
}

/// A server that says hello.
impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            answer: |_, _, _| Answer::Reply(200, b"hello".to_vec()),
            goes_away: |_| None,
            streams: None,
        }
    }
}

/// What a server counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicUsize,
    /// Requests that have no answer yet.
    open: AtomicUsize,
    /// The most of them at a time.
    pub(crate) open_max: AtomicUsize,
}

/// Starts a server that ends with the test program.
pub(crate) fn serve_http2(behaviour: Behaviour) -> (SocketAddr, Arc<Counts>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let counts = Arc::new(Counts::default());
    let server = counts.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                tokio::spawn(serve_one(client, behaviour, server.clone()));
            }
        });
    });
    (address, counts)
}

async fn serve_one(client: tokio::net::TcpStream, behaviour: Behaviour, counts: Arc<Counts>) {
    let mut builder = h2::server::Builder::new();
    behaviour.streams.map(|streams| builder.max_concurrent_streams(streams));
    let Ok(mut connection) = builder.handshake(client).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let number = counts.requests.fetch_add(1, Relaxed);
        let open = counts.open.fetch_add(1, Relaxed) + 1;
        counts.open_max.fetch_max(open, Relaxed);
        match (behaviour.goes_away)(number) {
            Some(Reason::NO_ERROR) => connection.graceful_shutdown(),
            Some(reason) => connection.abrupt_shutdown(reason),
            None => {}
        }
        tokio::spawn(answer(request, respond, number, behaviour, counts.clone()));
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    number: usize,
    behaviour: Behaviour,
    counts: Arc<Counts>,
) {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(data)) = stream.data().await {
        body.extend_from_slice(&data);
        let _ = stream.flow_control().release_capacity(data.len());
    }
    let answer = (behaviour.answer)(number, &head, &body);
    counts.open.fetch_sub(1, Relaxed);
    // Its name and value are sent once, and are in the dynamic table from then on.
    let reply =
        |status: u16| Response::builder().status(status).header("x-kept", "a value").body(()).unwrap();
    match answer {
        Answer::Reply(status, body) => {
            if let Ok(mut stream) = respond.send_response(reply(status), body.is_empty())
                && !body.is_empty()
            {
                let _ = stream.send_data(body.into(), true);
            }
        }
        Answer::Part(part) => {
            if let Ok(mut stream) = respond.send_response(reply(200), false) {
                let _ = stream.send_data(part.into(), false);
                std::future::pending::<()>().await;
            }
        }
        Answer::Reset(reason) => respond.send_reset(reason),
        Answer::Nothing => std::future::pending::<()>().await,
    }
}
