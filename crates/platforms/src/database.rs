//! The databases of workloads `trade` and `orders`: one TOML file each, in the folder `platforms/databases` of the source.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use klatch_host::machine::file_system;
use klatch_host::privileges::temporary_folder;
use klatch_record::{Database, DatabaseChoice, Workload, instead_of};
use serde::Deserialize;
use tempfile::TempDir;
use thiserror::Error;

use crate::catalog::FILES;
use crate::database_access::DatabaseAccess;
use crate::platform_error::PlatformError;
use crate::process::Processes;
use crate::resolve::{PlatformRequest, ResolvedPlatform, resolve_database};
use crate::secrets::Environment;
use crate::server::{Server, ServerError};
use crate::setting::Setting;

/// A database of the catalog.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseEntry {
    /// Name of the database, which is also the name of the file.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// The platform that is started as the database; `None` if it is part of the server.
    platform: Option<String>,
    /// What the server connects to. Placeholders: `{host}`, `{port}`, `{folder}` (private, empty at first), `{durability}`. It is in
    /// command lines, so it has no password.
    url: String,
    /// Environment variables of the server, with `{secret:NAME}` of the platform for passwords.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// What the audit connects to, if it has a user of its own.
    audit_url: Option<String>,
    /// Environment variables of the audit, if it has a user of its own.
    #[serde(default)]
    audit_environment: BTreeMap<String, String>,
    /// What makes commits durable or not: `on` and `off`.
    durability: BTreeMap<String, Durability>,
}

/// How one kind of durability is set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Durability {
    /// Replaces `{durability}` in the URL.
    text: String,
    /// Knobs of the platform.
    settings: BTreeMap<String, String>,
}

/// A database that cannot be used.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The catalog has no database of this name.
    #[error("no database is named {name}; {instead}")]
    Unknown {
        /// Name in the workload.
        name: String,
        /// The database that was meant, or all of them.
        instead: String,
    },
    /// The platform of the database cannot be used here.
    #[error("the database {name} cannot be used: {source}")]
    Platform {
        /// Name of the database.
        name: String,
        /// The reason, and how to install it.
        source: Box<PlatformError>,
    },
    /// The database cannot be started.
    #[error("the database cannot be started: {0}")]
    Server(#[from] Box<ServerError>),
    /// No password can be made.
    #[error("cannot make a password for the database: {0}")]
    Secret(std::io::Error),
    /// No temporary folder is available.
    #[error("cannot make a folder for the database: {0}")]
    Folder(std::io::Error),
}

/// A database of its own for one start of a server. Dropping it stops it and deletes its data.
pub struct RunningDatabase {
    /// What the server connects to.
    pub server_access: DatabaseAccess,
    /// What the audit connects to.
    pub audit_access: DatabaseAccess,
    /// How records describe it.
    pub described: Database,
    server_template: AccessTemplate,
    audit_template: AccessTemplate,
    /// `None` if it is part of the server.
    process: Option<DatabaseProcess>,
    _folder: TempDir,
}

/// An access without the address of the database.
struct AccessTemplate {
    url: String,
    environment: BTreeMap<String, String>,
}

/// A database in processes of its own.
struct DatabaseProcess {
    platform: ResolvedPlatform,
    server: Server,
}

/// All databases by name.
pub fn databases() -> Vec<DatabaseEntry> {
    let folder = FILES.get_dir("databases").expect("the catalog has databases");
    let text = |file: &include_dir::File<'_>| file.contents_utf8().unwrap_or_default().to_owned();
    let parse = |text: String| toml::from_str(&text).expect("a test parses each file");
    folder.files().map(text).map(parse).collect()
}

/// The database of this name.
fn find(name: &str) -> Result<DatabaseEntry, DatabaseError> {
    let all = databases();
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let unknown =
        DatabaseError::Unknown { name: name.to_owned(), instead: instead_of(name, &names, "there are") };
    all.into_iter().find(|one| one.name == name).ok_or(unknown)
}

impl RunningDatabase {
    /// Starts the database of a workload; `None` if the workload has none.
    ///
    /// # Errors
    /// There is no such database, it is not installed, or it does not start.
    pub fn start(
        workload: &Workload,
        catalog: Option<&Path>,
        all: &Processes,
        timeout: Duration,
    ) -> Result<Option<RunningDatabase>, DatabaseError> {
        let Some(DatabaseChoice { name: Some(name), durable }) = workload.database() else { return Ok(None) };
        let entry = find(name)?;
        let durability =
            entry.durability.get(if durable { "on" } else { "off" }).cloned().unwrap_or_default();
        let folder = temporary_folder().map_err(DatabaseError::Folder)?;
        let template = |url: &String, environment: &BTreeMap<String, String>| AccessTemplate {
            url: url
                .replace("{folder}", &folder.path().display().to_string())
                .replace("{durability}", &durability.text),
            environment: environment.clone(),
        };
        let server_template = template(&entry.url, &entry.environment);
        let audit_template = match &entry.audit_url {
            Some(url) => template(url, &entry.audit_environment),
            None => template(&entry.url, &entry.environment),
        };
        let start = |platform: &String| {
            let platform = resolve_as_database(name, platform, &durability, catalog)?;
            // Only servers of this machine connect to it, whatever address they listen on themselves.
            let server =
                Server::start(&platform, Ipv4Addr::LOCALHOST.into(), all, timeout).map_err(Box::new)?;
            Ok::<_, DatabaseError>(DatabaseProcess { platform, server })
        };
        let process = entry.platform.as_ref().map(start).transpose()?;
        let program = process.as_ref().and_then(|process| process.platform.program.as_ref());
        let version = program.and_then(|program| program.version.clone());
        // The folder of a process of its own is beside this one.
        let file_system = file_system(folder.path());
        let described = Database { name: entry.name, version, durable, file_system };
        let mut running = RunningDatabase {
            server_access: DatabaseAccess::default(),
            audit_access: DatabaseAccess::default(),
            described,
            server_template,
            audit_template,
            process,
            _folder: folder,
        };
        running.find_access()?;
        Ok(Some(running))
    }

    /// Fills in the address at which it runs now, and its passwords.
    fn find_access(&mut self) -> Result<(), DatabaseError> {
        let server = self.process.as_ref().map(|process| &process.server);
        self.server_access = self.server_template.fill(server)?;
        self.audit_access = self.audit_template.fill(server)?;
        Ok(())
    }

    /// Its process; `None` if it is part of the server.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.server.pid)
    }

    /// Starts it again if it has ended, on the same data. Returns how it ended.
    ///
    /// # Errors
    /// It does not start on its data.
    pub fn recover(&mut self, all: &Processes, timeout: Duration) -> Result<Option<String>, DatabaseError> {
        let Some(how) = self.process.as_mut().and_then(|process| process.server.ended()) else {
            return Ok(None);
        };
        if let Some(DatabaseProcess { platform, server }) = self.process.take() {
            let server = server.restart(&platform, all, timeout).map_err(Box::new)?;
            self.process = Some(DatabaseProcess { platform, server });
            self.find_access()?;
        }
        Ok(Some(how))
    }
}

impl AccessTemplate {
    /// The access to the database in this server; `None` if it is part of the server that uses it.
    fn fill(&self, server: Option<&Server>) -> Result<DatabaseAccess, DatabaseError> {
        let address = server.map(|server| server.address);
        let host = address.map_or_else(String::new, |address| address.ip().to_string());
        let port = address.map_or(0, |address| address.port());
        let url = self.url.replace("{host}", &host).replace("{port}", &port.to_string());
        let mut environment = Environment::default();
        for (name, text) in &self.environment {
            let text = server.map_or_else(|| Ok(text.clone()), |server| server.fill_secrets(text));
            environment.extend([(name.clone(), text.map_err(DatabaseError::Secret)?)]);
        }
        Ok(DatabaseAccess { url, environment })
    }
}

/// The platform of a database, with the knobs of its durability.
fn resolve_as_database(
    name: &str,
    platform: &str,
    durability: &Durability,
    catalog: Option<&Path>,
) -> Result<ResolvedPlatform, DatabaseError> {
    let setting = |(name, value): (&String, &String)| Setting { name: name.clone(), value: value.clone() };
    let request = PlatformRequest {
        name: Some(platform.to_owned()),
        catalog: catalog.map(Path::to_owned),
        settings: durability.settings.iter().map(setting).collect(),
        ..PlatformRequest::default()
    };
    resolve_database(&request)
        .map_err(|source| DatabaseError::Platform { name: name.to_owned(), source: source.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::has_secret;

    #[test]
    fn every_database_says_how_commits_are_durable() {
        let all = databases();
        assert!(all.len() >= 2);
        for one in all {
            assert!(one.durability.contains_key("on") && one.durability.contains_key("off"), "{}", one.name);
            for url in [Some(&one.url), one.audit_url.as_ref()].into_iter().flatten() {
                assert!(!has_secret(url), "{}: {url} is in command lines", one.name);
            }
        }
    }

    #[test]
    fn an_unknown_database_lists_all() {
        let error = find("oracle").unwrap_err().to_string();
        assert_eq!(error, "no database is named oracle; there are h2, postgresql");
    }
}
