//! Files in a results folder with the addresses at which runs can be watched.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Begin of the names of these files; the rest is the process id.
const PREFIX: &str = ".watch-";
/// Longest wait for a port of this machine.
const PATIENCE: Duration = Duration::from_millis(100);

/// A file with the port of a viewer. Dropping it removes the file.
pub(crate) struct Announcement(PathBuf);

impl Announcement {
    /// Writes the file. A file of this name is of an earlier process of the same id, or somebody else's, so it is replaced, not followed.
    pub(crate) fn write(folder: &Path, port: u16) -> std::io::Result<Announcement> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{PREFIX}{}", std::process::id()));
        if let Err(error) = std::fs::remove_file(&path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(error);
        }
        writeln!(OpenOptions::new().write(true).create_new(true).open(&path)?, "{port}")?;
        Ok(Announcement(path))
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // At worst a file stays whose port does not answer.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Addresses at which runs can be watched that write into this folder. Viewers that ended without removing their file are left out.
pub fn announced(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    // A pipe of this name would block the reader.
    let is_named = |entry: &std::fs::DirEntry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let port =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).ok()?.trim().parse::<u16>().ok();
    let answers = |port: &u16| {
        TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, *port)), PATIENCE).is_ok()
    };
    let ports = entries.flatten().filter(is_named).filter_map(port).filter(answers);
    ports.map(|port| format!("http://127.0.0.1:{port}/")).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_viewers_that_run_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let announcement = Announcement::write(folder.path(), port).unwrap();
        // Of a process that was killed, and of somebody who plants an address.
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        std::fs::write(folder.path().join(".watch-1"), gone.to_string()).unwrap();
        std::fs::write(folder.path().join(".watch-2"), "80@elsewhere.example/").unwrap();
        assert_eq!(announced(folder.path()), [format!("http://127.0.0.1:{port}/")]);
        drop(announcement);
        assert!(announced(folder.path()).is_empty());
    }
}
