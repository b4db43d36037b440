//! A web site with a fault, on a thread for each connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use klatch_exchange::web::{FileId, Parsed, Site, SiteOptions, Target, parse_request};
use klatch_protocol::service::{Outbox, Service, Visit};

/// What is wrong with the site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mischief {
    None,
    ShortBody,
    AlteredByte,
    WrongFile,
    WrongStatus,
    WrongAd,
    StaleTag,
    /// Bytes after a reply.
    Surplus,
    /// Every connection is closed after a reply.
    NoKeepAlive,
    LostPost,
    DoubledPost,
    TornRecord,
    /// Replies leave at 160 kbit/s.
    Slow,
}

/// Requests that are served before the first fault: lines join by the first ones.
const HONEST: u32 = 30;

/// A reply of at least so many bytes is larger than all buffers on its way.
const LARGE_BYTES: usize = 300_000;

/// Collects the bytes of a reply.
#[derive(Clone, Default)]
struct Reply(Arc<Mutex<Vec<u8>>>);

impl Outbox for Reply {
    fn send(&self, bytes: &Arc<[u8]>) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

/// The replies with the largest files.
#[derive(Default)]
pub(crate) struct LargeWrites {
    count: AtomicU64,
    ms: AtomicU64,
}

impl LargeWrites {
    /// The mean time of their writes, ms.
    pub(crate) fn mean_ms(&self) -> f64 {
        let count = self.count.load(Ordering::Relaxed);
        assert!(count > 0, "no large file was sent");
        self.ms.load(Ordering::Relaxed) as f64 / count as f64
    }
}

struct Faulty {
    mischief: Mischief,
    site: Arc<Site>,
    /// A site of its own, whose post log nobody fetches.
    other: Arc<Site>,
    requests: AtomicU32,
    writes: Arc<LargeWrites>,
}

/// Starts a site and returns its address.
pub(crate) fn faulty_site(mischief: Mischief) -> SocketAddr {
    timed_site(mischief).0
}

/// Starts a site. Returns its address, and what its large writes took.
pub(crate) fn timed_site(mischief: Mischief) -> (SocketAddr, Arc<LargeWrites>) {
    let writes = Arc::<LargeWrites>::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let site = || Arc::new(Site::new(&SiteOptions { directories: 3, ..SiteOptions::default() }));
    let faulty = Arc::new(Faulty {
        mischief,
        site: site(),
        other: site(),
        requests: AtomicU32::new(0),
        writes: Arc::clone(&writes),
    });
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let faulty = Arc::clone(&faulty);
            std::thread::spawn(move || faulty.serve(client));
        }
    });
    (address, writes)
}

/// The reply of a site to one whole request.
fn reply_of(site: &Arc<Site>, request: &[u8]) -> Vec<u8> {
    let reply = Reply::default();
    let _ = site.enter([127, 0, 0, 1].into(), reply.clone()).feed(request);
    std::mem::take(&mut reply.0.lock().unwrap())
}

/// The head of a reply and its body.
fn split(reply: &[u8]) -> (&[u8], &[u8]) {
    let head = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    reply.split_at(head)
}

impl Faulty {
    fn serve(&self, mut client: TcpStream) {
        client.set_nodelay(true).unwrap();
        // A large send buffer would take a whole file.
        rustix::net::sockopt::set_socket_send_buffer_size(&client, 32 * 1024).unwrap();
        let (mut input, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            match client.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(count) => input.extend_from_slice(&buffer[..count]),
            }
            while let Ok(Parsed::Complete { head, bytes }) = parse_request(&input) {
                let (whole, keep_alive) = (bytes + head.body_bytes, head.keep_alive);
                if input.len() < whole {
                    break;
                }
                let target = Target::parse(head.path, head.query);
                let request: Vec<u8> = input.drain(..whole).collect();
                let spoilt = self.requests.fetch_add(1, Ordering::Relaxed) >= HONEST;
                let reply = self.reply(&request, target.unwrap(), spoilt);
                if self.send(&mut client, &reply).is_err() || !keep_alive {
                    return;
                }
                let cut = [Mischief::ShortBody, Mischief::NoKeepAlive].contains(&self.mischief);
                if cut && spoilt {
                    return;
                }
            }
        }
    }

    fn send(&self, client: &mut TcpStream, reply: &[u8]) -> std::io::Result<()> {
        if self.mischief != Mischief::Slow {
            let began = Instant::now();
            client.write_all(reply)?;
            if reply.len() >= LARGE_BYTES {
                self.writes.count.fetch_add(1, Ordering::Relaxed);
                self.writes.ms.fetch_add(began.elapsed().as_millis() as u64, Ordering::Relaxed);
            }
            return Ok(());
        }
        for piece in reply.chunks(1024) {
            client.write_all(piece)?;
            // The delay is the fault.
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn reply(&self, request: &[u8], target: Target, spoilt: bool) -> Vec<u8> {
        let honest = |site: &Arc<Site>| reply_of(site, request);
        let is_command = matches!(target, Target::Reset(_) | Target::Fetch);
        if !spoilt && !is_command {
            return honest(&self.site);
        }
        match (self.mischief, target) {
            (Mischief::TornRecord, Target::Fetch) => {
                let mut reply = honest(&self.site);
                // A letter in the number of the last record.
                let end = reply.len() - 200;
                reply[end] = b'x';
                reply
            }
            (_, Target::Reset(_) | Target::Fetch) => honest(&self.site),
            (Mischief::ShortBody, Target::File(_)) => {
                let mut reply = honest(&self.site);
                reply.truncate(reply.len() - 10);
                reply
            }
            (Mischief::AlteredByte, Target::File(_)) => {
                let mut reply = honest(&self.site);
                let last = reply.len() - 1;
                reply[last] = if reply[last] == b'x' { b'y' } else { b'x' };
                reply
            }
            (Mischief::WrongFile, Target::File(file)) => {
                let other = FileId::new((file.directory() + 1) % 2, file.class(), file.number()).unwrap();
                let text = String::from_utf8(request.to_vec()).unwrap();
                let paths = [file, other].map(|file| String::from_utf8(file.path().to_vec()).unwrap());
                reply_of(&self.site, text.replacen(&paths[0], &paths[1], 1).as_bytes())
            }
            (Mischief::WrongStatus, Target::File(_)) => {
                String::from_utf8(honest(&self.site)).unwrap().replacen("200 OK", "503 Busy", 1).into_bytes()
            }
            (Mischief::WrongAd, Target::Page(_)) => {
                let text = String::from_utf8(honest(&self.site)).unwrap();
                text.replacen("Ad_weight=", "Ad_weight=1", 1).into_bytes()
            }
            (Mischief::StaleTag, Target::Page(_)) => {
                let plain: Vec<u8> = request
                    .split_inclusive(|byte| *byte == b'\n')
                    .filter(|line| !line.starts_with(b"Cookie"))
                    .flatten()
                    .copied()
                    .collect();
                let (with_ads, stored) = (honest(&self.site), reply_of(&self.site, &plain));
                [split(&with_ads).0, split(&stored).1].concat()
            }
            (Mischief::Surplus, Target::File(_)) => [&honest(&self.site)[..], b"surplus"].concat(),
            (Mischief::LostPost, Target::Form) => honest(&self.other),
            (Mischief::DoubledPost, Target::Form) => {
                honest(&self.site);
                honest(&self.site)
            }
            _ => honest(&self.site),
        }
    }
}
