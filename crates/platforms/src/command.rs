//! Builds the command line of a platform and writes its configuration files.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use klatch_host::privileges::{ServiceUser, programs_run_as_root};
use klatch_record::{CONTENT_SEED, Workload};

use crate::catalog::{DATA, own_audit};
use crate::certificate::{CERTIFICATE, KEY, write_certificate};
use crate::configuration_file::Quotes;
use crate::java::JavaRuntimes;
use crate::launch::Launch;
use crate::own_programs::{klatch_jar, klatch_program, netty_jar, web_jar};
use crate::platform_error::PlatformError;
use crate::process::Processes;
use crate::resolve::ResolvedPlatform;
use crate::secrets::{Environment, Secrets};
use crate::sources::{BuildFolders, SourceError, prepare};
use crate::variables::build_variables;
use crate::web_files::web_files;

/// The address on which a server listens, and its folders.
pub(crate) struct Site<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// For its configuration files, which it reads only.
    pub(crate) folder: &'a Path,
    /// The passwords of its start.
    pub(crate) secrets: &'a Secrets,
}

/// The command lines of a platform whose files are there.
pub(crate) struct Prepared {
    pub(crate) command: Vec<String>,
    /// How its process is started.
    pub(crate) launch: Launch,
    /// Succeeds when the server serves; empty if it serves as soon as it accepts connections.
    pub(crate) ready_command: Vec<String>,
    /// The variables of its file, with `{secret:NAME}` in place of a password.
    pub(crate) variables: BTreeMap<String, String>,
}

impl ResolvedPlatform {
    /// Builds the platform if necessary, writes its files, and returns the command lines.
    pub(crate) fn prepare(&self, site: &Site<'_>, all: &Processes) -> Result<Prepared, PlatformError> {
        let wrong = |source| PlatformError::Source { name: self.entry.name.clone(), source };
        let no_secret = |source| PlatformError::Secret { name: self.name.clone(), source };
        if self.transport.has_tls() {
            let host = site.host.parse().expect("a local address");
            write_certificate(site.folder, host)?;
        }
        let needs_jar = self.entry.build.as_ref().is_some_and(|build| build.needs("{web_jar}"));
        let jar = if needs_jar { web_jar()?.display().to_string() } else { String::new() };
        let fill =
            |word: &str, folders: &BuildFolders| self.fill(word, site, folders).replace("{web_jar}", &jar);
        let mut folders = prepare(&self.entry, &self.compiler(), fill, all).map_err(wrong)?;
        if self.reads_site() {
            let _shown = all.show("writing the files of the site");
            folders.web_files = web_files(self.directories()).map_err(wrong)?;
        }
        let own = Some(&self.in_transport.files).filter(|files| !files.is_empty());
        for file in own.unwrap_or(&self.entry.files) {
            let path = site.folder.join(&file.name);
            let text = file.with_inserts(&self.inserts());
            let text = self.fill_quoted(&text, file.quotes, site, &folders);
            let text = site.secrets.fill(&text).map_err(no_secret)?;
            write_new(&path, &text).map_err(|source| wrong(SourceError::Write { path, source }))?;
        }
        let user = self.entry.user.as_deref().map(ServiceUser::find).transpose();
        let user = user.map_err(|source| PlatformError::User { name: self.name.clone(), source })?.flatten();
        let data = site.folder.join(DATA);
        make_data_folder(&data, site.folder, user.as_ref())
            .map_err(|source| wrong(SourceError::Write { path: data.clone(), source }))?;
        let own = Some(&self.in_workload.command).filter(|command| !command.is_empty());
        let mut words = self.words(own.unwrap_or(&self.entry.command), site, &folders)?;
        if programs_run_as_root() && user.is_none() {
            words.extend(self.entry.arguments_as_root.iter().cloned());
        }
        let ready_command = self.entry.ready_command.iter().map(|word| self.fill(word, site, &folders));
        // Messages, numbers and collation do not depend on who starts a server, nor on which locales are installed. A Java decodes
        // the names of files by it.
        let locale = if self.java.is_some() { "C.UTF-8" } else { "C" };
        let mut environment = Environment::default();
        environment.extend([("LC_ALL".to_owned(), locale.to_owned())]);
        let filled = |(name, text): (&String, &String)| (name.clone(), self.fill(text, site, &folders));
        let variables: BTreeMap<String, String> = self.entry.environment.iter().map(filled).collect();
        for (name, text) in &variables {
            environment.extend([(name.clone(), site.secrets.fill(text).map_err(no_secret)?)]);
        }
        let launch = self.knobs.launch.with_environment(&self.database_environment());
        let launch = launch.with_environment(&environment);
        let launch = match &user {
            Some(user) => launch.as_user(user, &data),
            None => launch,
        };
        Ok(Prepared { command: words, launch, ready_command: ready_command.collect(), variables })
    }

    /// The texts in its configuration files that depend on the transport and the version of HTTP.
    pub(crate) fn inserts(&self) -> Vec<&BTreeMap<String, String>> {
        let of_http2 = self.in_http2.iter().map(|one| &one.insert);
        std::iter::once(&self.in_transport.insert).chain(of_http2).collect()
    }

    /// Whether it reads the files of the site from a folder.
    fn reads_site(&self) -> bool {
        let names_them = || self.entry.files.iter().any(|file| file.text.contains("{web_files}"));
        self.in_workload.static_only || (self.workload.has_url() && names_them())
    }

    /// The version of the program that builds it, and the variables that change what that makes.
    fn compiler(&self) -> String {
        let version = self.program.as_ref().and_then(|program| program.version.as_deref());
        format!("{}{:?}", version.unwrap_or_default(), build_variables())
    }

    /// The environment variables with which its server, or the audit, connects to the database.
    fn database_environment(&self) -> Environment {
        self.database.as_ref().map(|database| database.environment.clone()).unwrap_or_default()
    }

    /// The command that audits the database of a workload, and how it is started: the platform's own, or else Klatch's.
    ///
    /// # Errors
    /// A program of Klatch that it needs is missing, or a Java.
    pub fn audit_command(&self) -> Result<(Vec<String>, Launch), PlatformError> {
        let launch = Launch::default().with_environment(&self.database_environment());
        Ok((self.audit_words()?, launch))
    }

    fn audit_words(&self) -> Result<Vec<String>, PlatformError> {
        let nowhere = Path::new("");
        let site = Site { host: "", port: 0, folder: nowhere, secrets: &Secrets::default() };
        let folders = BuildFolders::default();
        if !self.in_workload.audit.is_empty() {
            return self.words(&self.in_workload.audit, &site, &folders);
        }
        let workload = self.workload.kind();
        let audit = own_audit(workload);
        let java = match &self.java {
            Some(java) => java.clone(),
            None => JavaRuntimes::new(None).find(audit.java).map_err(|source| PlatformError::Java {
                name: format!("the audit of workload {workload}"),
                source,
            })?,
        };
        ResolvedPlatform { java: Some(java), ..self.clone() }.words(&audit.command, &site, &folders)
    }

    /// The words of a command with its placeholders filled in.
    fn words(
        &self,
        command: &[String],
        site: &Site<'_>,
        folders: &BuildFolders,
    ) -> Result<Vec<String>, PlatformError> {
        let mut words = Vec::new();
        for word in command {
            match word.as_str() {
                "{klatch}" => words.push(klatch_program()?.display().to_string()),
                "{jar}" => words.push(klatch_jar()?.display().to_string()),
                "{netty_jar}" => words.push(netty_jar()?.display().to_string()),
                "{web_jar}" => words.push(web_jar()?.display().to_string()),
                "{java_options}" => words.extend(self.knobs.java_options.iter().cloned()),
                "{workload}" => {
                    let of_http2 = self.in_http2.iter().flat_map(|one| &one.arguments);
                    let arguments = self.in_workload.arguments.iter().chain(of_http2);
                    words.extend(arguments.map(|word| self.fill(word, site, folders)));
                }
                "{knobs}" => {
                    words.extend(self.knobs.arguments.iter().map(|word| self.fill(word, site, folders)));
                }
                word => words.push(self.fill(word, site, folders)),
            }
        }
        Ok(words)
    }

    fn fill(&self, text: &str, site: &Site<'_>, folders: &BuildFolders) -> String {
        self.fill_quoted(text, Quotes::None, site, folders)
    }

    /// The text with its placeholders filled in, in which paths stand between double quotes of this kind.
    fn fill_quoted(&self, text: &str, quotes: Quotes, site: &Site<'_>, folders: &BuildFolders) -> String {
        let path = |path: Option<&Path>| {
            path.map_or(String::new(), |path| quotes.quoted(&path.display().to_string()))
        };
        let (users, quotes) = match &self.workload {
            Workload::Trade(trade) => (trade.users, trade.quotes),
            _ => (0, 0),
        };
        let injection_rate = match &self.workload {
            Workload::Orders(orders) => orders.population,
            _ => 0,
        };
        text.replace("{users}", &users.to_string())
            .replace("{quotes}", &quotes.to_string())
            .replace("{injection_rate}", &injection_rate.to_string())
            .replace("{database_url}", self.database.as_ref().map_or("", |database| &database.url))
            .replace("{directories}", &self.directories().to_string())
            .replace("{content_seed}", &CONTENT_SEED.to_string())
            .replace("{web_files}", &path(Some(&folders.web_files)))
            .replace("{address}", &format!("{}:{}", site.host, site.port))
            .replace("{host}", site.host)
            .replace("{port}", &site.port.to_string())
            .replace("{certificate}", &path(Some(&site.folder.join(CERTIFICATE))))
            .replace("{key}", &path(Some(&site.folder.join(KEY))))
            .replace("{folder}", &path(Some(site.folder)))
            .replace("{data}", &path(Some(&site.folder.join(DATA))))
            .replace("{source}", &path(Some(&folders.source)))
            .replace("{build}", &path(Some(&folders.build)))
            .replace("{program}", &path(self.program.as_ref().map(|program| program.path.as_path())))
            .replace("{java}", &path(self.java.as_ref().map(|java| java.path.as_path())))
    }
}

/// Writes a file that only its owner can read. A file or link that has the name already is removed, not followed.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Makes the folder that a server can write, in that of its configuration. As another `user` than root, the server can read its
/// configuration and change nothing but the data.
fn make_data_folder(data: &Path, folder: &Path, user: Option<&ServiceUser>) -> std::io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(data) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let Some(user) = user else { return Ok(()) };
    user.give(data)?;
    user.let_read(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_planted_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("start.sh"), folder.path().join("target"));
        std::fs::write(&target, "of another user").unwrap();
        symlink(&target, &path).unwrap();
        write_new(&path, "ours").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "of another user");
        let meta = path.symlink_metadata().unwrap();
        assert!(meta.is_file() && meta.permissions().mode() & 0o7777 == 0o600, "{meta:?}");
        write_new(&path, "ours again").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours again");
    }
}
