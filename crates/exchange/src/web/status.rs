//! The status codes of replies.

/// The status of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The request was served.
    Ok = 200,
    /// The request breaks the rules of HTTP, or its cookie or form those of the workload.
    BadRequest = 400,
    /// There is no such file.
    NotFound = 404,
    /// The target cannot be requested by this method.
    MethodNotAllowed = 405,
    /// The request did not arrive in time.
    RequestTimeout = 408,
    /// The body has more bytes than the limit.
    ContentTooLarge = 413,
    /// The head has more bytes or headers than the limit.
    HeadTooLarge = 431,
    /// The method is unknown, or the body has a transfer coding.
    NotImplemented = 501,
    /// The post log is full. The command Reset empties it.
    ServiceUnavailable = 503,
}

impl Status {
    /// The three digits of the status line.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// The phrase of the status line.
    pub fn reason(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::BadRequest => "Bad Request",
            Status::NotFound => "Not Found",
            Status::MethodNotAllowed => "Method Not Allowed",
            Status::RequestTimeout => "Request Timeout",
            Status::ContentTooLarge => "Content Too Large",
            Status::HeadTooLarge => "Request Header Fields Too Large",
            Status::NotImplemented => "Not Implemented",
            Status::ServiceUnavailable => "Service Unavailable",
        }
    }
}
