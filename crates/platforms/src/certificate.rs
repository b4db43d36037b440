//! A certificate for one start of a server, and the authority that signed it. Nothing else trusts either, and both are gone with
//! the server's folder.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use klatch_host::privileges::write_private;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};
use thiserror::Error;

/// File of the certificate, in a server's folder.
pub(crate) const CERTIFICATE: &str = "certificate.pem";
/// File of its key.
pub(crate) const KEY: &str = "key.pem";
/// File of the authority, for the crowd.
pub(crate) const AUTHORITY: &str = "authority.pem";

/// A certificate that cannot be made.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// The certificate cannot be signed.
    #[error("cannot make a certificate for the server: {0}")]
    Sign(#[from] rcgen::Error),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
}

/// Writes a certificate for `host`, its key and its authority into `folder`. The keys are for ECDSA on P-256.
pub(crate) fn write_certificate(folder: &Path, host: IpAddr) -> Result<(), CertificateError> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    authority.distinguished_name.push(DnType::CommonName, "Klatch, for one run");
    let authority_certificate = authority.self_signed(&authority_key)?;
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    params.subject_alt_names.push(SanType::IpAddress(host));
    params.distinguished_name.push(DnType::CommonName, "klatch.localhost");
    let certificate = params.signed_by(&key, &issuer)?;
    for (name, text) in [
        (CERTIFICATE, certificate.pem()),
        (KEY, key.serialize_pem()),
        (AUTHORITY, authority_certificate.pem()),
    ] {
        let path = folder.join(name);
        write_private(&path, text.as_bytes()).map_err(|source| CertificateError::Write { path, source })?;
    }
    Ok(())
}
