//! The settings of both sides, from files in PEM.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedCipherSuite, SupportedProtocolVersion};
use thiserror::Error;

use crate::tls::{KernelTlsError, check_kernel_tls};

/// A file that cannot be used.
#[derive(Debug, Error)]
pub enum TlsFileError {
    /// A file cannot be read, or is not in PEM.
    #[error("cannot read {what} from {path}: {source}", path = path.display())]
    Read {
        /// The content that was expected.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::pki_types::pem::Error,
    },
    /// A file in PEM has nothing of the kind in it.
    #[error("{path} has no certificate", path = path.display())]
    NoCertificate {
        /// Path of the file.
        path: PathBuf,
    },
    /// Neither the system nor the variables of the environment have certificates of authorities.
    #[error(
        "there are no certificates of authorities{}",
        .0.as_deref().map_or_else(String::new, |error| format!(": {error}"))
    )]
    NoAuthorities(Option<String>),
    /// The certificate and the key cannot be used together.
    #[error("cannot use the certificate {certificate} with the key {key}: {source}", certificate = certificate.display(), key = key.display())]
    Pair {
        /// Path of the certificate.
        certificate: PathBuf,
        /// Path of the key.
        key: PathBuf,
        /// What is wrong with them.
        source: rustls::Error,
    },
    /// There is no cipher suite of this name.
    #[error("there is no cipher suite {name}; there are {all}")]
    Cipher {
        /// The name that was given.
        name: String,
        /// Names of all suites.
        all: String,
    },
    /// No cipher suite belongs to the version.
    #[error("none of the cipher suites is one of the version of TLS")]
    NoCipher,
    /// The host of the server is no name that a certificate can have.
    #[error("a certificate cannot name the host {0}")]
    Host(String),
}

/// The one suite of Klatch's servers, which clients offer first.
const SUITE: SupportedCipherSuite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
/// The suites of TLS 1.2 with the same cipher, for external servers.
const OLDER_SUITES: [SupportedCipherSuite; 2] = [
    ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

/// What a client offers and shows, if it is not the usual: the suite of Klatch's servers, and those of TLS 1.2 with the same cipher.
#[derive(Clone, Debug, Default)]
pub struct ClientOffer {
    /// The minor version of TLS 1, 2 or 3; `None` for both.
    pub minor_version: Option<u8>,
    /// Cipher suites, as IANA names them; empty for the usual ones.
    pub ciphers: Vec<String>,
    /// The files of a certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl ClientOffer {
    fn suites(&self) -> Result<Vec<SupportedCipherSuite>, TlsFileError> {
        if self.ciphers.is_empty() {
            return Ok(std::iter::once(SUITE).chain(OLDER_SUITES).collect());
        }
        let find = |name: &String| {
            let found = ring::ALL_CIPHER_SUITES.iter().find(|suite| suite_name(suite) == *name);
            found.copied().ok_or_else(|| TlsFileError::Cipher {
                name: name.clone(),
                all: ring::ALL_CIPHER_SUITES.iter().map(suite_name).collect::<Vec<_>>().join(", "),
            })
        };
        self.ciphers.iter().map(find).collect()
    }

    /// The versions that are offered, each of which has one of the suites.
    fn versions(
        &self,
        suites: &[SupportedCipherSuite],
    ) -> Result<Vec<&'static SupportedProtocolVersion>, TlsFileError> {
        let is_offered = |minor: u8| self.minor_version.is_none_or(|wanted| wanted == minor);
        let has_suite = |version| suites.iter().any(|suite| suite.version().version == version);
        let all = [(3, &TLS13), (2, &TLS12)].into_iter();
        let offered = all.filter(|(minor, version)| is_offered(*minor) && has_suite(version.version));
        let offered: Vec<_> = offered.map(|(_, version)| version).collect();
        if offered.is_empty() { Err(TlsFileError::NoCipher) } else { Ok(offered) }
    }
}

/// The name of a suite in IANA's list.
fn suite_name(suite: &SupportedCipherSuite) -> String {
    suite.suite().as_str().unwrap_or_default().replace("TLS13_", "TLS_")
}

/// The ciphers of `ring` with these suites.
fn provider(suites: Vec<SupportedCipherSuite>) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { cipher_suites: suites, ..ring::default_provider() })
}

/// Servers whose tickets a client keeps.
const SERVERS_MAX: usize = 1;

const PROVIDER_SUPPORTS: &str = "the provider supports these versions of TLS";

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let what = "certificates";
    let read = |source| TlsFileError::Read { what, path: path.to_owned(), source };
    let all = CertificateDer::pem_file_iter(path).map_err(read)?.collect::<Result<Vec<_>, _>>();
    let all = all.map_err(read)?;
    if all.is_empty() {
        return Err(TlsFileError::NoCertificate { path: path.to_owned() });
    }
    Ok(all)
}

/// The certificates of the system's authorities, or of those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
fn certificates_of_system() -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    // The library would fall back on those of the system.
    for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let paths = std::env::var_os(variable).unwrap_or_default();
        let mut named = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
        if let Some(path) = named.find(|path| !path.exists()) {
            let error = format!("{variable} names {}, which is not there", path.display());
            return Err(TlsFileError::NoAuthorities(Some(error)));
        }
    }
    let found = rustls_native_certs::load_native_certs();
    let error = || found.errors.first().map(ToString::to_string);
    if found.certs.is_empty() { Err(TlsFileError::NoAuthorities(error())) } else { Ok(found.certs) }
}

/// A certificate chain and its key.
fn pair(
    certificate: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsFileError> {
    let chain = certificates(certificate)?;
    let read = |source| TlsFileError::Read { what: "a key", path: key.to_owned(), source };
    Ok((chain, PrivateKeyDer::from_pem_file(key).map_err(read)?))
}

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct ServerTls(pub(crate) Arc<ServerConfig>);

impl ServerTls {
    /// Reads a certificate chain and its key.
    ///
    /// # Errors
    /// A file cannot be read, or both do not belong together.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<ServerTls, TlsFileError> {
        let (chain, private) = pair(certificate, key)?;
        let builder = ServerConfig::builder_with_provider(provider(vec![SUITE]))
            .with_protocol_versions(&[&TLS13])
            .expect(PROVIDER_SUPPORTS);
        let config = builder.with_no_client_auth().with_single_cert(chain, private);
        let mut config = config.map_err(|source| {
            let (certificate, key) = (certificate.to_owned(), key.to_owned());
            TlsFileError::Pair { certificate, key, source }
        })?;
        // A ticket would cost every connection a record that no client uses unless it is asked to.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(ServerTls(Arc::new(config)))
    }

    /// The same with a ticket for each connection, by which the next connection of a client can resume the session. The server keeps
    /// nothing for that.
    ///
    /// # Errors
    /// The system gives no random number for the key of the tickets.
    pub fn with_tickets(self) -> Result<ServerTls, rustls::Error> {
        let mut config = Arc::unwrap_or_clone(self.0);
        config.ticketer = ring::Ticketer::new()?;
        config.send_tls13_tickets = 1;
        Ok(ServerTls(Arc::new(config)))
    }

    /// The same with records made by the kernel after each handshake.
    ///
    /// # Errors
    /// The kernel cannot.
    pub fn in_kernel(self) -> Result<ServerTls, KernelTlsError> {
        check_kernel_tls()?;
        let mut config = Arc::unwrap_or_clone(self.0);
        config.enable_secret_extraction = true;
        Ok(ServerTls(Arc::new(config)))
    }
}

/// The settings of a client for one server.
#[derive(Clone, Debug)]
pub struct ClientTls {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) host: ServerName<'static>,
}

impl ClientTls {
    /// A client that accepts certificates for `host`, a name or an IP address, that an authority in the file `authorities` has signed.
    ///
    /// # Errors
    /// The file cannot be read, or the host cannot stand in a certificate.
    pub fn from_file(authorities: &Path, host: &str) -> Result<ClientTls, TlsFileError> {
        ClientTls::offering(Some(authorities), host, &ClientOffer::default())
    }

    /// The same with another offer, and with the authorities of the system if there is no file of them.
    ///
    /// # Errors
    /// A file cannot be read, the host cannot stand in a certificate, or the offer cannot be made.
    pub fn offering(
        authorities: Option<&Path>,
        host: &str,
        offer: &ClientOffer,
    ) -> Result<ClientTls, TlsFileError> {
        let host = ServerName::try_from(host.to_owned()).map_err(|_| TlsFileError::Host(host.to_owned()))?;
        let mut roots = RootCertStore::empty();
        // A bundle of a system may have certificates of forms that rustls does not accept.
        let trusted = authorities.map_or_else(certificates_of_system, certificates)?;
        roots.add_parsable_certificates(trusted);
        if roots.is_empty() {
            return Err(match authorities {
                Some(path) => TlsFileError::NoCertificate { path: path.to_owned() },
                None => TlsFileError::NoAuthorities(None),
            });
        }
        let suites = offer.suites()?;
        let versions = offer.versions(&suites)?;
        let builder = ClientConfig::builder_with_provider(provider(suites))
            .with_protocol_versions(&versions)
            .expect(PROVIDER_SUPPORTS)
            .with_root_certificates(roots);
        let mut config = match &offer.certificate {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let (chain, private) = pair(certificate, key)?;
                builder.with_client_auth_cert(chain, private).map_err(|source| {
                    let (certificate, key) = (certificate.to_owned(), key.to_owned());
                    TlsFileError::Pair { certificate, key, source }
                })?
            }
        };
        config.resumption = Resumption::disabled();
        Ok(ClientTls { config: Arc::new(config), host })
    }

    /// The same with resumed sessions, where the server gives tickets. All connections share the tickets, of which the newest eight are kept.
    #[must_use]
    pub fn with_resumption(self) -> ClientTls {
        let mut config = Arc::unwrap_or_clone(self.config);
        config.resumption = Resumption::in_memory_sessions(SERVERS_MAX);
        ClientTls { config: Arc::new(config), ..self }
    }

    /// The same that asks the server to speak this protocol (ALPN).
    #[must_use]
    pub fn with_application_protocol(self, protocol: &[u8]) -> ClientTls {
        let mut config = Arc::unwrap_or_clone(self.config);
        config.alpn_protocols = vec![protocol.to_vec()];
        ClientTls { config: Arc::new(config), ..self }
    }

    /// The same with records made by the kernel after each handshake: the user of this calls [`crate::tls::TlsPipe::move_to_kernel`].
    ///
    /// # Errors
    /// The kernel cannot.
    pub fn in_kernel(self) -> Result<ClientTls, KernelTlsError> {
        check_kernel_tls()?;
        let mut config = Arc::unwrap_or_clone(self.config);
        config.enable_secret_extraction = true;
        Ok(ClientTls { config: Arc::new(config), ..self })
    }
}
