//! The request of a URL, as the library takes it.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Uri, Version};
use klatch_record::RequestParts;

use crate::channel::ClientEndpoint;
use crate::urls::{WITH_BODY, host};

pub(crate) struct Template {
    pub(crate) head: Request<()>,
    /// The body; `None` without one.
    pub(crate) body: Option<Bytes>,
}

impl Template {
    /// # Errors
    /// The library does not send such a path, or such a name of a server.
    pub(crate) fn new(
        method: &str,
        path: &str,
        parts: &RequestParts,
        server: &ClientEndpoint,
    ) -> Result<Template, http::Error> {
        let body = parts.body.as_ref().map(|body| Bytes::from(body.0.clone()));
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static("klatch"));
        let mut authority = host(server);
        for (name, value) in &parts.headers {
            let (name, value) =
                (HeaderName::try_from(name.as_str())?, HeaderValue::try_from(value.as_str())?);
            match name {
                HOST => authority = value.to_str().unwrap_or_default().to_owned(),
                // One of the user stands in place of Klatch's own.
                USER_AGENT => _ = headers.insert(name, value),
                name => _ = headers.append(name, value),
            }
        }
        if body.is_some() || WITH_BODY.contains(&method) {
            headers.insert(CONTENT_LENGTH, body.as_ref().map_or(0, Bytes::len).into());
        }
        let scheme = if server.tls.is_some() { "https" } else { "http" };
        let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query(path).build()?;
        let mut head = Request::builder().method(method).uri(uri).version(Version::HTTP_2).body(())?;
        *head.headers_mut() = headers;
        Ok(Template { head, body: body.filter(|body| !body.is_empty()) })
    }
}
