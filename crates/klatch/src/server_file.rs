//! The file in which a server announces its address to crowds of other machines: `serve --ready-file`, `crowd --server-file`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use klatch_record::save_text;

/// Largest file that is read, bytes. A ready line has about 200.
const LENGTH_MAX: u64 = 4096;

/// The file of a server. It is removed when dropped, so that no crowd finds a server that has ended.
pub(crate) struct ReadyFile(PathBuf);

impl ReadyFile {
    pub(crate) fn new(path: PathBuf) -> ReadyFile {
        ReadyFile(path)
    }

    /// Writes it; a reader sees all of it or none.
    pub(crate) fn write(&self, ready: &str) -> std::io::Result<()> {
        save_text(&format!("{ready}\n"), &self.0).map_err(std::io::Error::other)
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // Another server may have replaced it.
        let own = format!(r#""pid":{},"#, std::process::id());
        if read(&self.0).is_ok_and(|text| text.contains(&own)) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Reads the address of a server: host and port.
///
/// # Errors
/// The file cannot be read, or has no address.
pub(crate) fn server_of(path: &Path) -> anyhow::Result<(String, u16)> {
    let text = read(path).with_context(|| format!("cannot read the server's file {}", path.display()))?;
    let ready: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let host = ready.as_ref().and_then(|ready| ready["host"].as_str());
    let port = ready.as_ref().and_then(|ready| ready["port"].as_u64()).and_then(|port| port.try_into().ok());
    let (host, port) = host.zip(port).with_context(|| {
        format!("{} has no address of a server; `klatch serve --ready-file` writes one", path.display())
    })?;
    Ok((host.to_owned(), port))
}

fn read(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, LENGTH_MAX), &mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_announces_its_address_and_takes_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.json");
        assert!(server_of(&path).unwrap_err().to_string().contains("cannot read the server's file"));
        let file = ReadyFile::new(path.clone());
        let pid = std::process::id();
        file.write(&format!(
            r#"{{"event":"ready","host":"10.0.0.7","port":6667,"pid":{pid},"model":"epoll"}}"#
        ))
        .unwrap();
        assert_eq!(server_of(&path).unwrap(), ("10.0.0.7".to_owned(), 6667));
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_without_an_address_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.json");
        for text in ["", "{}", r#"{"host":"a","port":70000}"#, r#"{"host":1,"port":1}"#] {
            std::fs::write(&path, text).unwrap();
            let error = server_of(&path).unwrap_err().to_string();
            assert!(error.contains("has no address of a server"), "{error}");
        }
    }
}
