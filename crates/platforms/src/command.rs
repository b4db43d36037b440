//! Builds the command line of a platform and writes its configuration files.

use std::path::Path;

use klatch_record::{CONTENT_SEED, Workload};

use crate::catalog::own_audit;
use crate::certificate::{CERTIFICATE, KEY, write_certificate};
use crate::java::JavaRuntimes;
use crate::own_programs::{klatch_jar, klatch_program, netty_jar, web_jar};
use crate::platform_error::PlatformError;
use crate::resolve::ResolvedPlatform;
use crate::sources::{BuildFolders, prepare};
use crate::web_files::web_files;

/// The address on which a server listens, and its folders.
pub(crate) struct Site<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// For its configuration files.
    pub(crate) folder: &'a Path,
    /// With the files that a platform of workload `files` reads.
    pub(crate) files: &'a Path,
}

/// The command lines of a platform whose files are there.
pub(crate) struct Prepared {
    pub(crate) command: Vec<String>,
    /// Succeeds when the server serves; empty if it serves as soon as it accepts connections.
    pub(crate) ready_command: Vec<String>,
}

impl ResolvedPlatform {
    /// Builds the platform if necessary, writes its files, and returns the command lines.
    pub(crate) fn prepare(&self, site: &Site<'_>) -> Result<Prepared, PlatformError> {
        let wrong = |source| PlatformError::Source { name: self.entry.name.clone(), source };
        if self.transport.has_tls() {
            let host = site.host.parse().expect("a local address");
            write_certificate(site.folder, host)?;
        }
        let needs_jar = self.entry.build.as_ref().is_some_and(|build| build.needs("{web_jar}"));
        let jar = if needs_jar { web_jar()?.display().to_string() } else { String::new() };
        let fill =
            |word: &str, folders: &BuildFolders| self.fill(word, site, folders).replace("{web_jar}", &jar);
        let mut folders = prepare(&self.entry, fill).map_err(wrong)?;
        if self.in_workload.static_only {
            folders.web_files = web_files(self.directories()).map_err(wrong)?;
        }
        let own = Some(&self.in_transport.files).filter(|files| !files.is_empty());
        for file in own.unwrap_or(&self.entry.files) {
            let path = site.folder.join(&file.name);
            let text = self.fill(&file.text, site, &folders);
            std::fs::write(&path, text)
                .map_err(|source| wrong(crate::sources::SourceError::Write { path, source }))?;
        }
        let own = Some(&self.in_workload.command).filter(|command| !command.is_empty());
        let mut words = self.words(own.unwrap_or(&self.entry.command), site, &folders)?;
        if klatch_privileges::programs_run_as_root() {
            words.extend(self.entry.arguments_as_root.iter().cloned());
        }
        let ready_command = self.entry.ready_command.iter().map(|word| self.fill(word, site, &folders));
        Ok(Prepared { command: words, ready_command: ready_command.collect() })
    }

    /// The command that audits the database of a workload: the platform's own, or else Klatch's.
    ///
    /// # Errors
    /// A program of Klatch that it needs is missing, or a Java.
    pub fn audit_command(&self) -> Result<Vec<String>, PlatformError> {
        let nowhere = Path::new("");
        let site = Site { host: "", port: 0, folder: nowhere, files: nowhere };
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
                    let arguments = self.in_workload.arguments.iter();
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
        let path = |path: Option<&Path>| path.map_or(String::new(), |path| path.display().to_string());
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
            .replace("{database_url}", self.database_url.as_deref().unwrap_or_default())
            .replace("{directories}", &self.directories().to_string())
            .replace("{files}", &path(Some(site.files)))
            .replace("{content_seed}", &CONTENT_SEED.to_string())
            .replace("{web_files}", &path(Some(&folders.web_files)))
            .replace("{address}", &format!("{}:{}", site.host, site.port))
            .replace("{host}", site.host)
            .replace("{port}", &site.port.to_string())
            .replace("{certificate}", &path(Some(&site.folder.join(CERTIFICATE))))
            .replace("{key}", &path(Some(&site.folder.join(KEY))))
            .replace("{folder}", &path(Some(site.folder)))
            .replace("{source}", &path(Some(&folders.source)))
            .replace("{build}", &path(Some(&folders.build)))
            .replace("{program}", &path(self.program.as_ref().map(|program| program.path.as_path())))
            .replace("{java}", &path(self.java.as_ref().map(|java| java.path.as_path())))
    }
}
