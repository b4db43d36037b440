//! TLS of the kernel (kTLS): a socket that makes and opens the records itself, with the keys of a finished handshake. See
//! Documentation/networking/tls.rst of Linux.

use std::io::{Error, ErrorKind, IoSliceMut};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::sockopt::{TcpTlsRx, TcpTlsTx, TcpUlp, TlsCryptoInfo};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, TlsGetRecordType, recvmsg, setsockopt};
use rustls::{ConnectionTrafficSecrets, ExtractedSecrets};
use thiserror::Error;

/// The kernel has no TLS that could be used.
#[derive(Debug, Error)]
#[error("the kernel makes no TLS records here: {reason}")]
pub struct KernelTlsError {
    reason: String,
}

/// A record that is no data, which a read of the socket stops at with the error EIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlRecord {
    /// The peer announced that it sends nothing more.
    Close,
    /// Nothing to act upon: a ticket.
    Ignored,
}

/// Longest alert or message of a handshake that is read.
const CONTROL_BYTES_MAX: usize = 16 * 1024;
/// Type of the message of a handshake with a ticket; RFC 8446, appendix B.3.
const NEW_SESSION_TICKET: u8 = 4;
/// The description of the alert at the end of a connection; RFC 8446, section 6.
const CLOSE_NOTIFY: u8 = 0;

/// Checks that a socket of this machine can make records with the one cipher suite, by a connection of its own.
///
/// # Errors
/// The kernel has no TLS or no such cipher; the message says what to do.
pub fn check_kernel_tls() -> Result<(), KernelTlsError> {
    let failed =
        |what: &str, source: &dyn std::fmt::Display| KernelTlsError { reason: format!("{what}: {source}") };
    let connection = connection().map_err(|error| failed("no connection to try it with", &error));
    let (_listener, socket) = connection?;
    begin(socket.as_fd()).map_err(|errno| match errno {
        Errno::ENOENT => {
            failed("it has no module tls (CONFIG_TLS), or it is not loaded", &"as root, try: modprobe tls")
        }
        other => failed("it refuses the module tls", &other),
    })?;
    setsockopt(&socket, TcpTlsTx, &aes_128_gcm(&[0; 16], &[0; 12], 0)).map_err(|errno| match errno {
        Errno::ENOENT => {
            failed("it has no cipher gcm(aes), or its module is not loaded", &"as root, try: modprobe gcm")
        }
        other => failed("it refuses a key", &other),
    })
}

/// A connection over loopback, with the listener, whose end would reset it.
fn connection() -> Result<(TcpListener, TcpStream), Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let socket = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener, socket))
}

fn begin(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    setsockopt(&socket, TcpUlp::default(), b"tls")
}

/// Gives the keys of both directions to a connected socket. What the socket reads and writes afterwards is plain.
pub(crate) fn install(socket: BorrowedFd<'_>, secrets: &ExtractedSecrets) -> Result<(), Error> {
    begin(socket)?;
    setsockopt(&socket, TcpTlsTx, &keys(&secrets.tx)?)?;
    setsockopt(&socket, TcpTlsRx, &keys(&secrets.rx)?)?;
    Ok(())
}

fn keys((sequence, secrets): &(u64, ConnectionTrafficSecrets)) -> Result<TlsCryptoInfo, Error> {
    match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => {
            Ok(aes_128_gcm(key.as_ref(), iv.as_ref(), *sequence))
        }
        // Both sides offer one suite.
        _ => Err(Error::new(ErrorKind::Unsupported, "the kernel got no key for this cipher suite")),
    }
}

/// A key of 16 bytes and an initialization vector of 12, of which the kernel calls the first four the salt.
fn aes_128_gcm(key: &[u8], vector: &[u8], sequence: u64) -> TlsCryptoInfo {
    let (mut salt, mut iv, mut whole_key) = ([0; 4], [0; 8], [0; 16]);
    salt.copy_from_slice(&vector[..4]);
    iv.copy_from_slice(&vector[4..]);
    whole_key.copy_from_slice(key);
    TlsCryptoInfo::Aes128Gcm(libc::tls12_crypto_info_aes_gcm_128 {
        info: libc::tls_crypto_info {
            version: libc::TLS_1_3_VERSION,
            cipher_type: libc::TLS_CIPHER_AES_GCM_128,
        },
        iv,
        key: whole_key,
        salt,
        rec_seq: sequence.to_be_bytes(),
    })
}

/// Reads the record that a read of the socket stopped at.
///
/// # Errors
/// The peer reports an error or wants other keys, or the record cannot be read.
pub fn receive_control_record(socket: impl AsFd) -> Result<ControlRecord, Error> {
    let mut record = vec![0; CONTROL_BYTES_MAX];
    let mut kind = nix::cmsg_space!(u8);
    let mut parts = [IoSliceMut::new(&mut record)];
    let raw = socket.as_fd().as_raw_fd();
    let message = recvmsg::<()>(raw, &mut parts, Some(&mut kind), MsgFlags::MSG_DONTWAIT)?;
    let bytes = message.bytes;
    let kind = message.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::TlsGetRecordType(kind) => Some(kind),
        _ => None,
    });
    match (kind, &record[..bytes]) {
        (Some(TlsGetRecordType::Alert), &[_, CLOSE_NOTIFY]) => Ok(ControlRecord::Close),
        (Some(TlsGetRecordType::Alert), alert) => {
            let number = alert.get(1).copied().unwrap_or_default();
            let description = rustls::AlertDescription::from(number);
            Err(Error::new(
                ErrorKind::ConnectionReset,
                format!("the peer reports the TLS error {description:?}"),
            ))
        }
        (Some(TlsGetRecordType::Handshake), &[NEW_SESSION_TICKET, ..]) => Ok(ControlRecord::Ignored),
        _ => Err(Error::new(
            ErrorKind::InvalidData,
            "the peer sent a TLS record that the kernel's TLS cannot follow",
        )),
    }
}
