//! Writes requests, for the crowd.

use super::mix::{Operation, Step};
use super::target::{PostForm, Target, UserCookie};
use super::text::push_decimal;

impl Step {
    /// Appends the request. `host` is the value of the header Host.
    pub fn write(&self, host: &str, out: &mut Vec<u8>) {
        let form = match self.operation {
            Operation::Post { client, .. } => Some(PostForm { file: self.file, client }),
            _ => None,
        };
        out.extend_from_slice(if form.is_some() { b"POST " } else { b"GET " });
        self.target().write(out);
        out.extend_from_slice(if self.single { b" HTTP/1.0\r\nHost: " } else { b" HTTP/1.1\r\nHost: " });
        out.extend_from_slice(host.as_bytes());
        if let Some(cookie) = self.operation.user_cookie() {
            out.extend_from_slice(b"\r\nCookie: ");
            cookie.write(out);
        }
        // A request over HTTP/1.0 needs no header to be the last.
        if self.last && !self.single {
            out.extend_from_slice(b"\r\nConnection: close");
        }
        let Some(form) = form else { return out.extend_from_slice(b"\r\n\r\n") };
        let mut body = Vec::with_capacity(80);
        form.write(&mut body);
        out.extend_from_slice(b"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ");
        push_decimal(out, body.len() as u64);
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&body);
    }

    /// The target of the request.
    pub fn target(&self) -> Target {
        match self.operation {
            Operation::Static => Target::File(self.file),
            Operation::Dynamic | Operation::Ad { .. } => Target::Page(self.file),
            Operation::Post { .. } => Target::Form,
            Operation::Cgi => Target::CgiPage(self.file),
        }
    }
}

impl Operation {
    /// The cookie of the request. The user of a POST is its sequence number, by which the post log identifies it.
    pub fn user_cookie(self) -> Option<UserCookie> {
        match self {
            Operation::Ad { user, last_ad } => Some(UserCookie { user, last_ad }),
            Operation::Post { sequence, .. } => Some(UserCookie { user: sequence, last_ad: 0 }),
            _ => None,
        }
    }
}

/// Appends a GET over HTTP/1.1, such as a command.
pub fn write_get(target: &Target, host: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"GET ");
    target.write(out);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(host.as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::files::FileId;
    use crate::web::mix::Mix;
    use crate::web::request::{HttpMethod, Parsed, parse_request};

    fn written(operation: Operation, single: bool, last: bool) -> String {
        let file = FileId::new(12, 1, 3).unwrap();
        let mut out = Vec::new();
        Step { operation, file, single, first: single, last }.write("h:80", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn requests_have_exactly_these_bytes() {
        assert_eq!(
            written(Operation::Static, false, false),
            "GET /file_set/dir00012/class1_3 HTTP/1.1\r\nHost: h:80\r\n\r\n"
        );
        assert_eq!(
            written(Operation::Dynamic, true, true),
            "GET /dynamic?/file_set/dir00012/class1_3 HTTP/1.0\r\nHost: h:80\r\n\r\n"
        );
        assert_eq!(
            written(Operation::Ad { user: 5, last_ad: 9 }, false, true),
            "GET /dynamic?/file_set/dir00012/class1_3 HTTP/1.1\r\nHost: h:80\r\n\
             Cookie: my_cookie=user_id=10005&last_ad=9\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(
            written(Operation::Post { client: 7, sequence: 1 }, false, false),
            "POST /dynamic HTTP/1.1\r\nHost: h:80\r\nCookie: my_cookie=user_id=10001&last_ad=0\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 48\r\n\r\n\
             urlroot=/file_set/&dir=12&class=1&num=3&client=7"
        );
        let mut fetch = Vec::new();
        write_get(&Target::Fetch, "h", &mut fetch);
        assert_eq!(fetch, b"GET /dynamic?command/Fetch HTTP/1.1\r\nHost: h\r\n\r\n");
    }

    #[test]
    fn the_server_parses_what_the_crowd_writes() {
        let mix = Mix::new(1, 200, 1000, false);
        let mut script = mix.line(3);
        for _ in 0..2_000 {
            let step = script.next_step(&mix);
            let mut request = Vec::new();
            step.write("127.0.0.1:8080", &mut request);
            let Ok(Parsed::Complete { head, bytes }) = parse_request(&request) else { panic!("{step:?}") };
            assert_eq!(Target::parse(head.path, head.query), Some(step.target()));
            assert_eq!(head.keep_alive, !step.last);
            assert_eq!(head.body_bytes, request.len() - bytes);
            let cookie = head.cookie.and_then(UserCookie::parse).map(Result::unwrap);
            assert_eq!(cookie, step.operation.user_cookie());
            if let Operation::Post { client, .. } = step.operation {
                let form = PostForm { file: step.file, client };
                assert_eq!((head.method, PostForm::parse(&request[bytes..])), (HttpMethod::Post, Some(form)));
            }
        }
    }
}
