//! Requests over HTTP: a GET, or a POST whose body is a form.

/// Appends a GET of `target`. `headers` are whole lines.
pub(crate) fn write_get(target: &str, host: &str, headers: &str, out: &mut Vec<u8>) {
    let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    out.extend_from_slice(head.as_bytes());
}

/// Appends a POST of a form to `target`. `headers` are whole lines.
pub(crate) fn write_form(target: &str, host: &str, headers: &str, form: &str, out: &mut Vec<u8>) {
    let request = format!(
        "POST {target} HTTP/1.1\r\nHost: {host}\r\n{headers}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    out.extend_from_slice(request.as_bytes());
}
