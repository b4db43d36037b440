//! The server side of workload `web`, without I/O: static files, dynamic pages, POST and the commands.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use klatch_protocol::service::Outbox;

use super::ads::{AdTables, FIRST_USER, TableOptions};
use super::files::{DIRECTORIES_MAX, FileId};
use super::page::{FRAME_BYTES_MAX, FRAME_END, write_frame};
use super::post_log::{PostEntry, PostLog};
use super::reply::{REPLY_HEAD_BYTES_MAX, ReplyHead, refusal};
use super::request::{HttpMethod, RequestHead};
use super::status::Status;
use super::store::{Store, shared};
use super::target::{CGI, DYNAMIC, PostForm, Target, UserCookie};
use super::text::push_decimal;

/// Replies of at least so many bytes are not combined with others.
const ALONE_BYTES_MIN: usize = 16 * 1024;

/// The parameters of a site.
#[derive(Clone, Copy, Debug)]
pub struct SiteOptions {
    /// The seed of the files' contents and of the ad tables.
    pub seed: u64,
    /// Number of directories, 1 to [`DIRECTORIES_MAX`]. Files are kept in memory, so 200 take at most 1 GB.
    pub directories: u32,
    /// The ad tables until the first command Reset.
    pub tables: TableOptions,
}

impl Default for SiteOptions {
    fn default() -> Self {
        SiteOptions { seed: 1, directories: 200, tables: TableOptions::default() }
    }
}

/// A site, shared by the connections of a server.
pub struct Site {
    seed: u64,
    store: Store,
    dynamic: RwLock<Dynamic>,
    post_log: Mutex<PostLog>,
    frame_end: Arc<[u8]>,
}

/// What the command Reset replaces.
#[derive(Clone)]
struct Dynamic {
    tables: Arc<AdTables>,
    /// The time of reference, in seconds since 1970.
    now_s: i64,
}

/// One request and where it came from.
pub(super) struct Request<'a> {
    pub(super) head: RequestHead<'a>,
    pub(super) body: &'a [u8],
    pub(super) from: IpAddr,
}

/// A reply with a dynamic page.
struct Page<'a> {
    /// The file within the frame; `None` for the reply to a command.
    file: Option<FileId>,
    /// The ad that the tags name instead of the stored one.
    ad: Option<u16>,
    script: &'a str,
    query: &'a [u8],
    cookie: Option<&'a [u8]>,
}

impl Site {
    /// Makes a site in which no file has been computed.
    ///
    /// # Panics
    /// If the options are out of range.
    pub fn new(options: &SiteOptions) -> Site {
        let SiteOptions { seed, directories, tables } = *options;
        assert!((1..=DIRECTORIES_MAX).contains(&directories), "{directories} directories");
        Site {
            seed,
            store: Store::new(seed, directories),
            dynamic: RwLock::new(Dynamic::new(seed, &tables)),
            post_log: Mutex::default(),
            frame_end: FRAME_END.into(),
        }
    }

    /// Sends the reply to a request whose body is complete.
    pub(super) fn reply(&self, request: &Request, out: &impl Outbox) {
        let RequestHead { method, path, query, keep_alive, .. } = request.head;
        let Some(target) = Target::parse(path, query) else {
            return out.send(&refusal(Status::NotFound, keep_alive, None));
        };
        let allowed = if target == Target::Form { HttpMethod::Post } else { HttpMethod::Get };
        if method != allowed {
            let allow = if allowed == HttpMethod::Post { "POST" } else { "GET" };
            return out.send(&refusal(Status::MethodNotAllowed, keep_alive, Some(allow)));
        }
        let result = match target {
            Target::File(file) => self.file(file, keep_alive, out),
            Target::Page(file) => self.page(file, request, out),
            Target::CgiPage(file) => self.plain_page(file, CGI, request, out),
            Target::Form => self.post(request, out),
            Target::Reset(options) => {
                self.reset(&options);
                let query = query.unwrap_or_default();
                let page = Page { file: None, ad: None, script: DYNAMIC, query, cookie: None };
                self.send_page(&page, request, out)
            }
            Target::Fetch => {
                self.fetch(request, out);
                Ok(())
            }
        };
        if let Err(status) = result {
            out.send(&refusal(status, keep_alive, None));
        }
    }

    fn file(&self, file: FileId, keep_alive: bool, out: &impl Outbox) -> Result<(), Status> {
        let stored = self.store.file(file).ok_or(Status::NotFound)?;
        stored.reply(keep_alive, |bytes| send(bytes, out));
        Ok(())
    }

    /// The standard dynamic page, or one with ads if the request has a user's cookie.
    fn page(&self, file: FileId, request: &Request, out: &impl Outbox) -> Result<(), Status> {
        let Some(cookie) = request.head.cookie.and_then(UserCookie::parse) else {
            return self.plain_page(file, DYNAMIC, request, out);
        };
        let UserCookie { user, last_ad } = cookie.map_err(|_| Status::BadRequest)?;
        let choice = self.dynamic().tables.choose(user, last_ad);
        let mut found = Vec::with_capacity(64);
        choice.write_cookie(&mut found);
        let query = &file.path();
        let page = Page { file: Some(file), ad: choice.ad, script: DYNAMIC, query, cookie: Some(&found) };
        self.send_page(&page, request, out)
    }

    fn plain_page(
        &self,
        file: FileId,
        script: &str,
        request: &Request,
        out: &impl Outbox,
    ) -> Result<(), Status> {
        let page = Page { file: Some(file), ad: None, script, query: &file.path(), cookie: None };
        self.send_page(&page, request, out)
    }

    fn post(&self, request: &Request, out: &impl Outbox) -> Result<(), Status> {
        let PostForm { file, client } = PostForm::parse(request.body).ok_or(Status::BadRequest)?;
        let cookie = request.head.cookie.and_then(UserCookie::parse);
        let Some(Ok(UserCookie { user, .. })) = cookie else { return Err(Status::BadRequest) };
        if !self.store.has(file) {
            return Err(Status::NotFound);
        }
        let now_s = self.dynamic().now_s;
        let entry = PostEntry { client, sequence: user, file };
        if !self.post_log.lock().unwrap_or_else(PoisonError::into_inner).append(now_s, &entry) {
            return Err(Status::ServiceUnavailable);
        }
        let mut cookie = b"my_cookie=".to_vec();
        push_decimal(&mut cookie, u64::from(user) + u64::from(FIRST_USER));
        let page = Page { file: Some(file), ad: None, script: DYNAMIC, query: b"", cookie: Some(&cookie) };
        self.send_page(&page, request, out)
    }

    fn reset(&self, options: &TableOptions) {
        let dynamic = Dynamic::new(self.seed, options);
        *self.dynamic.write().unwrap_or_else(PoisonError::into_inner) = dynamic;
        self.post_log.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn fetch(&self, request: &Request, out: &impl Outbox) {
        let log = self.post_log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut body = Vec::with_capacity(FRAME_BYTES_MAX + log.len());
        write_frame(request.from, DYNAMIC, request.head.query.unwrap_or_default(), &mut body);
        log.write(&mut body);
        drop(log);
        body.extend_from_slice(FRAME_END);
        let keep_alive = request.head.keep_alive;
        let mut head = Vec::with_capacity(REPLY_HEAD_BYTES_MAX);
        ReplyHead { status: Status::Ok, body_bytes: body.len(), keep_alive, cookie: None }.write(&mut head);
        out.send(&head.into());
        out.send(&body.into());
    }

    fn send_page(&self, page: &Page, request: &Request, out: &impl Outbox) -> Result<(), Status> {
        if page.file.is_some_and(|file| !self.store.has(file)) {
            return Err(Status::NotFound);
        }
        let mut frame = Vec::with_capacity(FRAME_BYTES_MAX);
        write_frame(request.from, page.script, page.query, &mut frame);
        let file_bytes = page.file.map_or(0, FileId::size_bytes);
        let body_bytes = frame.len() + file_bytes + FRAME_END.len();
        let keep_alive = request.head.keep_alive;
        let mut head = Vec::with_capacity(REPLY_HEAD_BYTES_MAX + FRAME_BYTES_MAX);
        ReplyHead { status: Status::Ok, body_bytes, keep_alive, cookie: page.cookie }.write(&mut head);
        head.extend_from_slice(&frame);
        // Files of class 3 have no tags, and sharing them saves a copy.
        if let Some(file) = page.file.filter(|file| file.class() == 3)
            && let Some(stored) = self.store.file(file).and_then(|stored| stored.alone())
        {
            out.send(&head.into());
            send(stored, out);
            out.send(&self.frame_end);
            return Ok(());
        }
        let reply = shared(head.len() + file_bytes + FRAME_END.len(), |reply| {
            let (start, rest) = reply.split_at_mut(head.len());
            let (file, end) = rest.split_at_mut(file_bytes);
            start.copy_from_slice(&head);
            end.copy_from_slice(FRAME_END);
            if let Some(id) = page.file {
                let stored = self.store.content().file(id);
                page.ad.map_or(stored, |ad| stored.rotated(ad)).fill(0, file);
            }
        });
        send(&reply, out);
        Ok(())
    }

    fn dynamic(&self) -> Dynamic {
        self.dynamic.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends bytes, large ones by themselves: an outbox copies what it combines.
fn send(bytes: &Arc<[u8]>, out: &impl Outbox) {
    if bytes.len() >= ALONE_BYTES_MIN { out.deliver(bytes) } else { out.send(bytes) }
}

impl Dynamic {
    fn new(seed: u64, options: &TableOptions) -> Dynamic {
        Dynamic { tables: Arc::new(AdTables::new(seed, options)), now_s: options.now_s }
    }
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
