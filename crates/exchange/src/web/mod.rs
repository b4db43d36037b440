//! Workload `web`, after SPECweb99: a web site whose every reply can be checked byte for byte. The definition, with the
//! source of each number, is in `docs/reference/web.md`.
//!
//! All of it is a function of a seed, so a server and its crowd share nothing else.

mod content;
mod files;
mod mix;
mod random;
mod tags;

pub use content::{Content, DifferenceKind, FileContent, FirstDifference};
pub use files::{
    CLASSES, DIRECTORIES_MAX, DIRECTORY_BYTES, FILES_PER_CLASS, FILES_PER_DIRECTORY, FileId, PATH_BYTES,
    directories_for,
};
pub use mix::{
    CLASS_PERCENT, FILE_ORDER, LineScript, Mix, Operation, RequestKind, SESSION_MAX, SESSION_MIN,
    SINGLE_PERCENT, Step,
};
pub use tags::{ADS, ad_file};
