//! What a request asks for: targets, the cookie of a user, and the form of a POST. Both sides of each are here, so that
//! they cannot diverge.

use super::ads::{FIRST_USER, TableOptions, USERS_MAX};
use super::files::FileId;
use super::tags::ADS;
use super::text::{decimal, push_decimal};

/// The path of dynamic pages, of POST and of the commands.
pub const DYNAMIC: &str = "/dynamic";
/// The path of pages through the Common Gateway Interface.
pub const CGI: &str = "/cgi";
/// The prefix of all files' paths. Reset and POST repeat it, because other servers may have another.
const URL_ROOT: &str = "/file_set/";
const RESET: &str = "command/Reset";
const FETCH: &str = "command/Fetch";
/// The largest time or distance in a Reset, in seconds.
const SECONDS_MAX: u64 = 9_999_999_999;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file as it is.
    File(FileId),
    /// A dynamic page with a file.
    Page(FileId),
    /// The same through the Common Gateway Interface.
    CgiPage(FileId),
    /// The dynamic path without a query, to which a POST goes.
    Form,
    /// The command that makes new tables and empties the post log.
    Reset(TableOptions),
    /// The command that returns the post log.
    Fetch,
}

impl Target {
    /// Parses path and query of a target.
    pub fn parse(path: &[u8], query: Option<&[u8]>) -> Option<Target> {
        match query {
            None if path == DYNAMIC.as_bytes() => Some(Target::Form),
            None => FileId::parse(path).map(Target::File),
            Some(query) if path == CGI.as_bytes() => FileId::parse(query).map(Target::CgiPage),
            Some(query) if path == DYNAMIC.as_bytes() => parse_query(query),
            Some(_) => None,
        }
    }

    /// Appends path and query as [`Target::parse`] reads them.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (script, file) = match self {
            Target::File(file) => return out.extend_from_slice(&file.path()),
            Target::Form => return out.extend_from_slice(DYNAMIC.as_bytes()),
            Target::Page(file) => (DYNAMIC, Some(file)),
            Target::CgiPage(file) => (CGI, Some(file)),
            Target::Reset(_) | Target::Fetch => (DYNAMIC, None),
        };
        out.extend_from_slice(script.as_bytes());
        out.push(b'?');
        match (self, file) {
            (_, Some(file)) => out.extend_from_slice(&file.path()),
            (Target::Reset(options), _) => write_reset(options, out),
            _ => out.extend_from_slice(FETCH.as_bytes()),
        }
    }
}

fn parse_query(query: &[u8]) -> Option<Target> {
    if query == FETCH.as_bytes() {
        return Some(Target::Fetch);
    }
    match query.strip_prefix(RESET.as_bytes()) {
        Some(parameters) => parse_reset(parameters).map(Target::Reset),
        None => FileId::parse(query).map(Target::Page),
    }
}

fn parse_reset(parameters: &[u8]) -> Option<TableOptions> {
    let text = std::str::from_utf8(parameters).ok()?;
    let (users, rest) = text.strip_prefix("&maxload=")?.split_once("&pttime=")?;
    let (now, rest) = rest.split_once("&maxthread=")?;
    let (threads, rest) = rest.split_once("&exp=")?;
    let (expiry, root) = rest.split_once("&urlroot=")?;
    let (early, late) = expiry.split_once(',')?;
    let threads = decimal(threads.as_bytes(), USERS_MAX.into())?;
    let users = decimal(users.as_bytes(), USERS_MAX.into())?.checked_mul(threads)?;
    let options = TableOptions {
        users: u32::try_from(users).ok()?,
        now_s: seconds(now)?,
        expiry_s: [seconds(early)?, seconds(late)?],
    };
    (root == URL_ROOT && options.fit()).then_some(options)
}

fn seconds(text: &str) -> Option<i64> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    Some(sign * decimal(digits.as_bytes(), SECONDS_MAX)? as i64)
}

fn write_reset(options: &TableOptions, out: &mut Vec<u8>) {
    let TableOptions { users, now_s, expiry_s: [early_s, late_s] } = options;
    let reset = format!(
        "{RESET}&maxload={users}&pttime={now_s}&maxthread=1&exp={early_s},{late_s}&urlroot={URL_ROOT}"
    );
    out.extend_from_slice(reset.as_bytes());
}

/// The cookie of a request for a page with ads, and of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserCookie {
    /// The number of the user, from 0. In the cookie [`FIRST_USER`] is added.
    pub user: u32,
    /// The ad that the user's last page showed.
    pub last_ad: u16,
}

impl UserCookie {
    /// Parses the value of the header Cookie, in which other cookies may precede or follow. Returns `None` if there is
    /// no such cookie, and an error if it is malformed.
    pub fn parse(header: &[u8]) -> Option<Result<UserCookie, MalformedCookie>> {
        let mut cookies = header.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let value = cookies.find_map(|cookie| cookie.strip_prefix(b"my_cookie="))?;
        Some(UserCookie::parse_value(value).ok_or(MalformedCookie))
    }

    fn parse_value(value: &[u8]) -> Option<UserCookie> {
        let value = value.strip_prefix(b"user_id=")?;
        let ampersand = value.iter().position(|&byte| byte == b'&')?;
        let user = decimal(&value[..ampersand], u32::MAX.into())? as u32;
        let last_ad = decimal(value[ampersand..].strip_prefix(b"&last_ad=")?, u64::from(ADS) - 1)? as u16;
        Some(UserCookie { user: user.checked_sub(FIRST_USER)?, last_ad })
    }

    /// Appends the value of the header Cookie.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"my_cookie=user_id=");
        push_decimal(out, u64::from(self.user) + u64::from(FIRST_USER));
        out.extend_from_slice(b"&last_ad=");
        push_decimal(out, self.last_ad.into());
    }
}

/// A cookie of the workload's name with another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedCookie;

/// The form in the body of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostForm {
    /// The file that the reply shows.
    pub file: FileId,
    /// The number of the line.
    pub client: u32,
}

impl PostForm {
    /// Parses a form whose fields are in any order, each of them once.
    pub fn parse(body: &[u8]) -> Option<PostForm> {
        const NAMES: [&[u8]; 5] = [b"urlroot", b"dir", b"class", b"num", b"client"];
        let mut values: [Option<&[u8]>; 5] = [None; 5];
        for field in body.split(|&byte| byte == b'&') {
            let equals = field.iter().position(|&byte| byte == b'=')?;
            let name = NAMES.iter().position(|name| *name == &field[..equals])?;
            if values[name].replace(&field[equals + 1..]).is_some() {
                return None;
            }
        }
        let [root, directory, class, number, client] = values;
        let small = |value: Option<&[u8]>, max| decimal(value?, max);
        let file = FileId::new(
            small(directory, u32::MAX.into())? as u32,
            small(class, u8::MAX.into())? as u8,
            small(number, u8::MAX.into())? as u8,
        )?;
        let client = small(client, u32::MAX.into())? as u32;
        (root? == URL_ROOT.as_bytes()).then_some(PostForm { file, client })
    }

    /// Appends the form as [`PostForm::parse`] reads it.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"urlroot=");
        out.extend_from_slice(URL_ROOT.as_bytes());
        for (name, value) in [
            ("&dir=", self.file.directory()),
            ("&class=", self.file.class().into()),
            ("&num=", self.file.number().into()),
            ("&client=", self.client),
        ] {
            out.extend_from_slice(name.as_bytes());
            push_decimal(out, value.into());
        }
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
