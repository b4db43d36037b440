//! Workload `web`, after SPECweb99: a web site whose every reply can be checked byte for byte. The definition, with the
//! source of each number, is in `docs/reference/web.md`.
//!
//! All of it is a function of a seed, so a server and its crowd share nothing else.

mod ads;
mod body_piece;
mod chunked;
mod content;
mod files;
mod mix;
mod page;
mod post_log;
mod reply;
mod request;
mod request_writer;
mod response;
mod site;
mod site_visit;
mod status;
mod store;
mod tags;
mod target;
mod text;
mod whole;

pub use ads::{AD_RECORD_BYTES, AdChoice, AdTables, FIRST_USER, TableOptions, USER_RECORD_BYTES, USERS_MAX};
pub use body_piece::BodyPiece;
pub use chunked::{ChunkedDecoder, ChunkedError};
pub use content::{Content, DifferenceKind, FileContent, FirstDifference};
pub use files::{
    CLASSES, DIRECTORIES_MAX, DIRECTORY_BYTES, FILES_PER_CLASS, FILES_PER_DIRECTORY, FileId, PATH_BYTES,
    directories_for,
};
pub use mix::{
    CLASS_PERCENT, FILE_ORDER, LineScript, Mix, Operation, RequestKind, SESSION_MAX, SESSION_MIN,
    SINGLE_PERCENT, Step,
};
pub use page::{BodyCheck, BodyError, unframe};
pub use post_log::{COUNT_BYTES, Finding, POST_RECORD_BYTES, POSTS_MAX, PostEntry, check_post_log};
pub use request::{
    BODY_BYTES_MAX, HEAD_BYTES_MAX, HttpMethod, Parsed, RequestHead, has_empty_line, parse_request,
};
pub use request_writer::write_get;
pub use response::{BodyLength, BodyReader, ResponseError, ResponseHead, parse_response};
pub use site::{Site, SiteOptions};
pub use site_visit::SiteVisit;
pub use status::Status;
pub use tags::{ADS, ad_file};
pub use target::{CGI, DYNAMIC, MalformedCookie, PostForm, Target, UserCookie};
pub use whole::{WholeResponse, parse_whole_response};
