//! What a record costs by the two interfaces of rustls: the buffered one, which `TlsPipe` uses, and the unbuffered one.
//!
//!     cargo run --release --package klatch-protocol --example record_cost
//!
//! Prints the ns of a server for each record that it sends or receives: the least of several rounds, in which both interfaces take turns.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::version::TLS13;

use klatch_protocol::tls::{ClientTls, ServerTls, TlsPipe};

const RECORDS: u32 = 50_000;
const ROUNDS: usize = 9;
/// Room for the head, the type and the tag of a record.
const OVERHEAD_BYTES: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    std::fs::write(&certificate, signed.cert.pem())?;
    std::fs::write(&key, signed.signing_key.serialize_pem())?;
    let client = || ClientTls::from_file(&certificate, "127.0.0.1").map(|tls| TlsPipe::client(&tls));
    let buffered = ServerTls::from_files(&certificate, &key)?;
    let suites = vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
    let provider = CryptoProvider { cipher_suites: suites, ..ring::default_provider() };
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_file(&certificate)?],
            PrivateKeyDer::from_pem_file(&key)?,
        )?;
    config.send_tls13_tickets = 0;
    let unbuffered = Arc::new(config);
    println!("{:>8}{:>12}{:>12}{:>14}", "bytes", "interface", "send, ns", "receive, ns");
    for bytes in [100, 1_000] {
        let mut least = [[f64::MAX; 2]; 2];
        for _ in 0..ROUNDS {
            let costs = [
                measure_buffered(client()?, TlsPipe::server(&buffered), bytes)?,
                measure_unbuffered(client()?, UnbufferedServerConnection::new(unbuffered.clone())?, bytes)?,
            ];
            for (least, cost) in least.iter_mut().flatten().zip(costs.into_iter().flatten()) {
                *least = least.min(cost);
            }
        }
        for (name, [send, receive]) in ["buffered", "unbuffered"].into_iter().zip(least) {
            println!("{bytes:>8}{name:>12}{send:>12.0}{receive:>14.0}");
        }
    }
    Ok(())
}

/// ns for each record that the server sends, and for each that it receives.
fn measure_buffered(
    mut client: TlsPipe,
    mut server: TlsPipe,
    bytes: usize,
) -> Result<[f64; 2], rustls::Error> {
    let mut plain = Vec::new();
    while client.has_output() || server.has_output() {
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        client.send(&[], &mut to_server);
        server.receive(&to_server, &mut plain)?;
        server.send(&[], &mut to_client);
        client.receive(&to_client, &mut plain)?;
    }
    let (message, records) = (vec![b'x'; bytes], records(&mut client, bytes));
    let mut raw = Vec::with_capacity(bytes + OVERHEAD_BYTES);
    let send = each(|_| {
        raw.clear();
        server.send(&message, &mut raw);
        black_box(&raw);
        Ok(())
    })?;
    let receive = each(|index| {
        plain.clear();
        server.receive(&records[index], &mut plain)?;
        black_box(&plain);
        Ok(())
    })?;
    Ok([send, receive])
}

/// The same by the unbuffered interface, which writes records where they are to be.
fn measure_unbuffered(
    mut client: TlsPipe,
    mut server: UnbufferedServerConnection,
    bytes: usize,
) -> Result<[f64; 2], rustls::Error> {
    let mut incoming = Vec::new();
    while !client.is_open() || client.has_output() || !incoming.is_empty() {
        client.send(&[], &mut incoming);
        let mut outgoing = Vec::new();
        loop {
            let UnbufferedStatus { discard, state } = server.process_tls_records(&mut incoming);
            let goes_on = match state? {
                ConnectionState::EncodeTlsData(mut data) => {
                    let begin = outgoing.len();
                    outgoing.resize(begin + (1 << 16), 0);
                    let written = data.encode(&mut outgoing[begin..]).expect("there is room");
                    outgoing.truncate(begin + written);
                    true
                }
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    true
                }
                _ => false,
            };
            incoming.drain(..discard);
            if !goes_on {
                break;
            }
        }
        client.receive(&outgoing, &mut Vec::new())?;
    }
    let (message, mut records) = (vec![b'x'; bytes], records(&mut client, bytes));
    let mut raw = vec![0; bytes + OVERHEAD_BYTES];
    let send = each(|_| {
        if let ConnectionState::WriteTraffic(mut traffic) = server.process_tls_records(&mut []).state? {
            traffic.encrypt(&message, &mut raw).expect("there is room");
        }
        black_box(&raw);
        Ok(())
    })?;
    let mut plain = Vec::new();
    let receive = each(|index| {
        plain.clear();
        let state = server.process_tls_records(&mut records[index]).state?;
        if let ConnectionState::ReadTraffic(mut traffic) = state {
            while let Some(record) = traffic.next_record() {
                plain.extend_from_slice(record?.payload);
            }
        }
        black_box(&plain);
        Ok(())
    })?;
    assert_eq!(plain, message, "a record was not received");
    Ok([send, receive])
}

/// Records that the client has encrypted.
fn records(client: &mut TlsPipe, bytes: usize) -> Vec<Vec<u8>> {
    let message = vec![b'x'; bytes];
    let record = |_| {
        let mut raw = Vec::new();
        client.send(&message, &mut raw);
        raw
    };
    (0..RECORDS).map(record).collect()
}

/// ns for each call, as a mean.
fn each(mut call: impl FnMut(usize) -> Result<(), rustls::Error>) -> Result<f64, rustls::Error> {
    let started = Instant::now();
    (0..RECORDS as usize).try_for_each(&mut call)?;
    Ok(started.elapsed().as_nanos() as f64 / f64::from(RECORDS))
}
