//! `klatch open`: an HTTP server for the results folder, on loopback only.

use std::io::Cursor;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use klatch_report::{Entry, index, read};
use percent_encoding::percent_decode_str;
use tiny_http::{Header, Request, Response, Server};

use crate::output::print_line;
use crate::report::{Format, render, report_side_by_side};

/// Browse the results folder on loopback
///
/// Serves an index of the results, newest first, with search, and reports of one or two of them. Ctrl-C ends it.
#[derive(Args)]
pub(crate) struct Open {
    /// Folder with the results
    #[arg(default_value = "results", value_name = "DIR")]
    results: PathBuf,
    /// Port on 127.0.0.1; 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

type Page = Response<Cursor<Vec<u8>>>;

impl Open {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        folders(&self.results)?;
        let server = Server::http((Ipv4Addr::LOCALHOST, self.port))
            .map_err(|error| anyhow::anyhow!("cannot listen on 127.0.0.1:{}: {error}", self.port))?;
        let port = server.server_addr().to_ip().map_or(self.port, |address| address.port());
        print_line(format_args!("http://127.0.0.1:{port}/"));
        crate::output::finish()?;
        for request in server.incoming_requests() {
            let page = self.answer(&request, port);
            // The client may have disconnected.
            let _ = request.respond(page);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn answer(&self, request: &Request, port: u16) -> Page {
        // DNS rebinding: a foreign page under a host name that resolves to this machine must not read the results.
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !host.is_some_and(|host| ours.iter().any(|name| host.value.as_str() == name)) {
            return plain("use http://127.0.0.1 with the port that klatch open printed", 403);
        }
        match self.page(request.url()) {
            Ok(Some(html)) => {
                let kind = Header::from_bytes("Content-Type", "text/html; charset=utf-8");
                Response::from_string(html).with_header(kind.expect("a constant header is valid"))
            }
            Ok(None) => plain("no such page; start at /", 404),
            Err(error) => plain(&format!("{error:#}"), 500),
        }
    }

    /// The page at this URL; `None` if there is none.
    fn page(&self, url: &str) -> anyhow::Result<Option<String>> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let parameter = |name: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        match path {
            "/" => self.index(&parameter("words"), None).map(Some),
            "/compare" => match (self.folder(&parameter("a"))?, self.folder(&parameter("b"))?) {
                (Some(a), Some(b)) if a != b => {
                    Ok(Some(render(&report_side_by_side(&a, &b)?, Format::Html)?))
                }
                _ => self.index("", Some("Select one result as A and another as B.")).map(Some),
            },
            path => {
                let Some(name) = path.strip_prefix("/report/") else { return Ok(None) };
                let name = percent_decode_str(name).decode_utf8_lossy();
                let Some(folder) = self.folder(&name)? else { return Ok(None) };
                Ok(Some(render(&klatch_report::report(&read(&folder)?), Format::Html)?))
            }
        }
    }

    fn index(&self, words: &str, problem: Option<&str>) -> anyhow::Result<String> {
        let mut entries = Vec::new();
        for name in folders(&self.results)? {
            // Skip folders without results.
            if let Ok(source) = read(&self.results.join(&name)) {
                entries.push(Entry::new(&name, &source));
            }
        }
        entries.retain(|entry| entry.holds(words));
        entries.sort_by(|a, b| (&b.started_at, &b.folder).cmp(&(&a.started_at, &a.folder)));
        Ok(index(&entries, words, &self.results.display().to_string(), problem)?)
    }

    /// The folder of this name. Only direct children of the results folder match, so a name cannot escape it.
    fn folder(&self, name: &str) -> anyhow::Result<Option<PathBuf>> {
        let known = folders(&self.results)?.iter().any(|folder| folder == name);
        Ok(known.then(|| self.results.join(name)))
    }
}

/// Names of the folders in a folder, without symbolic links such as `latest`.
fn folders(results: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(results)
        .with_context(|| format!("cannot read {}; name the folder of the results", results.display()))?;
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

fn plain(text: &str, status: u16) -> Page {
    Response::from_string(text).with_status_code(status)
}
