//! Checks of static files.

use klatch_exchange::web::{CLASSES, FILES_PER_CLASS, Operation};

use super::client::step;
use super::{Site, SiteCheck, file};
use crate::finding::{Checked, wrong};

pub(super) const CHECKS: [SiteCheck; 2] = [
    (
        "files: contents",
        "every file of a directory comes with status 200, its length and its bytes",
        contents,
    ),
    ("files: absent", "a path that is no file has a status from 400 to 499", absent),
];

fn contents(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    let mut bytes = 0;
    for class in 0..CLASSES {
        for number in 0..FILES_PER_CLASS {
            bytes += connection.exchange(&step(Operation::Static, file(class, number)))?;
        }
    }
    Ok(format!("36 files, {bytes} bytes"))
}

fn absent(site: &Site) -> Checked {
    let mut statuses = Vec::new();
    for path in ["/file_set/dir00000/class4_0", "/file_set/dir00000/class0_9", "/no/such/file"] {
        let mut connection = site.connect()?;
        connection.http.send(format!("GET {path} HTTP/1.1\r\nHost: klatch\r\n\r\n").as_bytes())?;
        let status = connection.http.reply()?.status;
        if !(400..500).contains(&status) {
            return wrong(format!("status {status} for {path}"));
        }
        statuses.push(status.to_string());
    }
    Ok(statuses.join(", "))
}
