//! What identifies the contents of the files of which requests are made.

use klatch_record::{RequestDigest, RequestParts};
use sha2::{Digest, Sha256};

use crate::urls::hexadecimal;

/// The digests of the body and the URLs; `None` if there is neither.
pub(crate) fn request_digest(parts: &RequestParts) -> Option<RequestDigest> {
    let body_sha256 = parts.body.as_ref().map(|body| hexadecimal(&Sha256::digest(&body.0)));
    let mut urls = Sha256::new();
    for url in &parts.urls {
        let method = url.method.as_deref().unwrap_or("-");
        urls.update(format!("{} {method} {}\n", url.weight, url.path));
    }
    let urls_sha256 = (!parts.urls.is_empty()).then(|| hexadecimal(&urls.finalize()));
    (body_sha256.is_some() || urls_sha256.is_some()).then_some(RequestDigest { body_sha256, urls_sha256 })
}
