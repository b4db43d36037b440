//! Reasons why a platform cannot be measured here.

use std::path::PathBuf;

use klatch_host::privileges::ServiceUserError;
use klatch_record::{HttpVersion, Transport, WorkloadKind};
use thiserror::Error;

use crate::catalog::CatalogError;
use crate::certificate::CertificateError;
use crate::java::JavaError;
use crate::own_programs::OwnError;
use crate::program::ProgramError;
use crate::setting::KnobError;
use crate::sources::SourceError;

/// Reasons why a platform cannot be measured here.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The platform is none of the VolanoMark test.
    #[error("the VolanoMark test is that of {available}, not of {name}")]
    NotVolanoMark {
        /// Name of the platform.
        name: String,
        /// The platforms of that test.
        available: String,
    },
    /// The catalog has an invalid file.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// There is no such platform file.
    #[error("there is no file {path}", path = path.display())]
    NoFile {
        /// The path that the user named.
        path: PathBuf,
    },
    /// The catalog has no platform of this name.
    #[error("no platform is named {name}; {instead}")]
    Unknown {
        /// Name that the user requested.
        name: String,
        /// The platform that was meant, or where all are listed.
        instead: String,
    },
    /// The platform does not carry the workload.
    #[error("{name} does not carry the workload {workload}; it carries {available}")]
    Workload {
        /// Name of the platform.
        name: String,
        /// The workload of the request.
        workload: WorkloadKind,
        /// All workloads of the platform.
        available: String,
    },
    /// The platform does not speak the version of HTTP of the workload.
    #[error("{name} does not speak HTTP/{version} by the transport {transport}")]
    Http {
        /// Name of the platform.
        name: String,
        /// The version of the workload.
        version: HttpVersion,
        /// The transport of the request.
        transport: Transport,
    },
    /// The platform has nothing but what URLs stand for, and the requests of workload `rr` have no URL.
    #[error("{name} serves a site only, so requests need a URL, as /file_set/dir00000/class0_1")]
    NoUrl {
        /// Name of the platform.
        name: String,
    },
    /// The platform cannot use the database of the workload.
    #[error("{name} cannot use the database {database}; it uses {available}")]
    Database {
        /// Name of the platform.
        name: String,
        /// The database of the request.
        database: String,
        /// The databases of the platform.
        available: String,
    },
    /// The user requested a version of a platform that does not run on Java.
    #[error("{name} is not a Java platform, so it has no version {version}: leave out @{version}")]
    Version {
        /// Name of the platform.
        name: String,
        /// Version that the user requested.
        version: String,
    },
    /// What follows the @ is no version of Java.
    #[error(
        "{name}@{version}: a version of Java is a number, as in {name}@25, or the path of a java program"
    )]
    JavaVersion {
        /// Name of the platform.
        name: String,
        /// Version that the user requested.
        version: String,
    },
    /// No usable Java is installed.
    #[error("{name} {source}")]
    Java {
        /// Name of the platform.
        name: String,
        /// The reason, and how to install one.
        source: JavaError,
    },
    /// A program that it needs is not usable.
    #[error("{name} {source}")]
    Program {
        /// Name of the platform.
        name: String,
        /// The reason, and how to install it.
        source: ProgramError,
    },
    /// Its source cannot be built.
    #[error("{name}: {source}")]
    Source {
        /// Name of the platform.
        name: String,
        /// The step of the build that failed.
        source: SourceError,
    },
    /// No certificate can be made for it.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Root cannot start it as another user.
    #[error("{name}: {source}")]
    User {
        /// Name of the platform.
        name: String,
        /// The reason and the remedy.
        source: ServiceUserError,
    },
    /// No password can be made for it.
    #[error("{name}: cannot make a password for it: {source}")]
    Secret {
        /// Name of the platform.
        name: String,
        /// The error of the system call.
        source: std::io::Error,
    },
    /// A knob cannot be set as requested.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// A file of Klatch itself is missing.
    #[error(transparent)]
    Own(#[from] OwnError),
}
