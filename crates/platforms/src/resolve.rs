//! Resolves a requested platform to its catalog entry, Java, program and knobs.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use klatch_record::{
    Authorities, Class, DatabaseChoice, Endpoint, ProtocolName, Transport, WebSocket, Workload, WorkloadKind,
    instead_of,
};

use crate::capacity::Side;
use crate::carried::{check_selected, selected};
use crate::catalog::{Entry, Knob, catalog, java_crowd, java_knobs, threads_crowd, transport_knob};
use crate::database_access::DatabaseAccess;
use crate::http2::InHttp2;
use crate::java::{Java, JavaRuntimes, installed};
use crate::launch;
use crate::platform_error::PlatformError;
use crate::program::{InstalledProgram, find_program};
use crate::resolved_knobs::ResolvedKnobs;
use crate::setting::Setting;
use crate::transports::{InTransport, TRANSPORT_KNOB};
use crate::workloads::InWorkload;

/// The default platforms: the Java server with threads if there is a Java for it, else the native one.
pub(crate) const DEFAULTS: [&str; 2] = ["java-threads", "native-epoll"];

/// The default of workload `files`.
const DEFAULT_READER: &str = "native-pread";

/// The default of the workloads with a database.
const DEFAULT_WITH_DATABASE: &str = "jetty";

/// A platform as a user requests it.
#[derive(Clone, Debug, Default)]
pub struct PlatformRequest {
    /// `name`; `name@version` for a Java of that feature version; `name@version+` for the oldest of that version or a newer one; `name@/path` for the one in that folder or of that program; `None` for the
    /// default.
    pub name: Option<String>,
    /// The Java that the user named.
    pub java: Option<PathBuf>,
    /// A folder with additional catalog entries.
    pub catalog: Option<PathBuf>,
    /// Knobs that the user set.
    pub settings: Vec<Setting>,
}

/// A platform that can run on this machine.
#[derive(Clone, Debug)]
pub struct ResolvedPlatform {
    /// Its name, for a Java platform with the feature version or the path: `java-threads@17`.
    pub name: String,
    /// Its entry in the catalog.
    pub entry: Entry,
    /// The Java that runs it, for a Java platform.
    pub java: Option<Java>,
    /// The installed program that it needs, if any.
    pub program: Option<InstalledProgram>,
    /// Knobs that the user set.
    pub settings: Vec<Setting>,
    /// The reason for the choice, if Klatch chose the platform.
    pub because: Option<String>,
    /// Launch settings and arguments that the knobs stand for.
    pub knobs: ResolvedKnobs,
    /// How it carries its workload.
    pub in_workload: InWorkload,
    /// What lies between its protocol and TCP.
    pub transport: Transport,
    /// How it carries that transport.
    pub in_transport: InTransport,
    /// How it speaks HTTP/2, if that is asked for.
    pub(crate) in_http2: Option<InHttp2>,
    pub(crate) workload: Workload,
    /// The database that it connects to, in the workloads with one.
    pub(crate) database: Option<DatabaseAccess>,
}

impl ResolvedPlatform {
    /// The same with a database.
    #[must_use]
    pub fn with_database(&self, database: &DatabaseAccess) -> ResolvedPlatform {
        ResolvedPlatform { database: Some(database.clone()), ..self.clone() }
    }

    /// The same with the settings of server `index` of `count`, which differ if each has its own CPUs.
    #[must_use]
    pub fn of_server(&self, index: usize, count: usize) -> ResolvedPlatform {
        let mut platform = self.clone();
        platform.knobs.launch = self.knobs.launch.of_server(index, count);
        platform
    }

    /// The wire protocol of its clients in its workload.
    pub fn protocol(&self) -> ProtocolName {
        self.in_workload.protocol.unwrap_or(self.entry.protocol)
    }

    /// A server of it at this address, with the authority that signed its certificate.
    pub fn endpoint(&self, address: SocketAddr, authorities: Authorities) -> Endpoint {
        let InTransport { path, subprotocol, .. } = &self.in_transport;
        let websocket = || WebSocket {
            path: path.clone().unwrap_or_else(|| "/".to_owned()),
            subprotocol: subprotocol.clone(),
        };
        Endpoint {
            websocket: self.transport.has_websocket().then(websocket),
            tls: self.transport.has_tls().then_some(authorities),
            ..Endpoint::plain(self.protocol(), address.ip().to_string(), address.port())
        }
    }

    /// How it writes deliveries; `None` for other workloads than chat.
    pub fn class(&self) -> Option<Class> {
        self.entry.class.filter(|_| self.workload.kind() == WorkloadKind::Chat)
    }

    /// Directories of the site in workload `web`; 1 for requests for URLs, and 0 for others.
    pub(crate) fn directories(&self) -> u32 {
        match &self.workload {
            Workload::Web(web) => web.directories,
            workload => u32::from(workload.has_url()),
        }
    }

    /// Its needs with these knobs, for `processes` of which the largest has `connections`.
    pub fn side(&self, processes: u64, connections: u64) -> Side {
        let needs = self.entry.needs.clone();
        let needs = if self.java.is_some() { needs.with_heap(&self.settings) } else { needs };
        Side { name: self.name.clone(), needs, processes, connections }
    }
}

/// Finds a platform that carries the workload, its Java and its program, and checks its knobs.
///
/// # Errors
/// There is no such platform, or it cannot run here, or a knob cannot be set.
pub fn resolve(request: &PlatformRequest, workload: &Workload) -> Result<ResolvedPlatform, PlatformError> {
    let runtimes = JavaRuntimes::new(request.java.as_deref());
    if let Some(name) = &request.name {
        return resolve_named(name, request, workload, &runtimes);
    }
    let of_workload = match workload.kind() {
        WorkloadKind::Files => Some(DEFAULT_READER),
        WorkloadKind::Trade | WorkloadKind::Orders => Some(DEFAULT_WITH_DATABASE),
        _ => None,
    };
    if let Some(name) = of_workload {
        let because = Some("the default of this workload".to_owned());
        return Ok(ResolvedPlatform { because, ..resolve_named(name, request, workload, &runtimes)? });
    }
    match resolve_named(DEFAULTS[0], request, workload, &runtimes) {
        Ok(platform) => {
            let java = platform.java.as_ref().map_or(String::new(), |java| java.path.display().to_string());
            let because = format!("the default: {java} is new enough");
            Ok(ResolvedPlatform { because: Some(because), ..platform })
        }
        // A Java that the user named is never replaced.
        Err(PlatformError::Java { name, source }) if request.java.is_none() => {
            let because = Some(format!("the default would be {name}, which {source}"));
            Ok(ResolvedPlatform { because, ..resolve_named(DEFAULTS[1], request, workload, &runtimes)? })
        }
        Err(error) => Err(error),
    }
}

/// Whether a platform runs on Java, by its entry in the catalog; `false` if the request names none or an unknown one.
pub fn runs_on_java(request: &PlatformRequest) -> bool {
    let name = request.name.as_deref().map(|name| split_version(name).0);
    let entries = catalog(request.catalog.as_deref()).unwrap_or_default();
    entries.iter().any(|entry| Some(entry.name.as_str()) == name && entry.java.is_some())
}

/// Finds a platform that is started as a database, whatever workload it carries itself.
pub(crate) fn resolve_database(request: &PlatformRequest) -> Result<ResolvedPlatform, PlatformError> {
    let name = request.name.as_deref().unwrap_or_default();
    let entries = catalog(request.catalog.as_deref())?;
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => resolve_entry(entry.clone(), None, request, &Workload::default()),
        None => Err(unknown(name, &entries)),
    }
}

/// Checks the name of a platform alone, before anything that takes longer.
///
/// # Errors
/// The catalog has no platform of this name, or cannot be read.
pub fn check_name(request: &PlatformRequest) -> Result<(), PlatformError> {
    let Some(name) = &request.name else { return Ok(()) };
    let (name, entries) = (split_version(name).0, catalog(request.catalog.as_deref())?);
    entries.iter().find(|entry| entry.name == name).map(|_| ()).ok_or_else(|| unknown(name, &entries))
}

/// No entry has the name.
pub(crate) fn unknown(name: &str, entries: &[Entry]) -> PlatformError {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let is_address = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let instead = match name.contains('/') {
        true => "klatch platforms lists all, and klatch compare compares folders of results".to_owned(),
        false if is_address => format!("did you mean irc://{name}?"),
        false => instead_of(name, &names, "klatch platforms lists all"),
    };
    PlatformError::Unknown { name: name.to_owned(), instead }
}

impl PlatformRequest {
    /// The same request, in which the path of a platform file, such as `builds/mine.toml`, is the name in it and its folder as catalog.
    ///
    /// # Errors
    /// There is no such file.
    pub fn with_file(self) -> Result<PlatformRequest, PlatformError> {
        let Some(path) = self.name.as_deref().filter(|name| name.ends_with(".toml")).map(Path::new) else {
            return Ok(self);
        };
        if !path.is_file() {
            return Err(PlatformError::NoFile { path: path.to_owned() });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let catalog = Some(folder.unwrap_or(Path::new(".")).to_owned());
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(PlatformRequest { name, catalog, ..self })
    }
}

/// The name of a platform without its version, and the version.
fn split_version(name: &str) -> (&str, Option<&str>) {
    name.split_once('@').map_or((name, None), |(base, version)| (base, Some(version)))
}

fn resolve_named(
    name: &str,
    request: &PlatformRequest,
    workload: &Workload,
    runtimes: &JavaRuntimes,
) -> Result<ResolvedPlatform, PlatformError> {
    let (base, version) = split_version(name);
    let mut entries = catalog(request.catalog.as_deref())?;
    let Some(index) = entries.iter().position(|entry| entry.name == base) else {
        return Err(unknown(base, &entries));
    };
    let entry = entries.swap_remove(index);
    let kind = workload.kind();
    if !entry.workloads.contains_key(&kind) {
        let names: Vec<&str> = entry.workloads.keys().map(|kind| kind.name()).collect();
        let name = base.to_owned();
        return Err(PlatformError::Workload { name, workload: kind, available: names.join(", ") });
    }
    check_database(&entry, workload)?;
    if kind == WorkloadKind::Rr && entry.workloads[&kind].needs_url() && !workload.has_url() {
        return Err(PlatformError::NoUrl { name: base.to_owned() });
    }
    let java = find_java(&entry, version, runtimes)?;
    let path = version.filter(|version| is_path(version)).map(str::to_owned);
    resolve_entry(entry, java.map(|java| NamedJava { java, path }), request, workload)
}

/// Whether what follows the name of a platform is the path of a Java, not its version.
fn is_path(version: &str) -> bool {
    version.starts_with('/')
}

/// A Java, and the path by which a platform names it; without one its feature version does.
struct NamedJava {
    java: Java,
    path: Option<String>,
}

impl NamedJava {
    fn of(java: Java) -> NamedJava {
        NamedJava { java, path: None }
    }

    /// The name of a platform that runs on it.
    fn name_with(&self, platform: &str) -> String {
        match &self.path {
            Some(path) => format!("{platform}@{path}"),
            None => format!("{platform}@{}", self.java.feature),
        }
    }
}

fn check_database(entry: &Entry, workload: &Workload) -> Result<(), PlatformError> {
    let Some(DatabaseChoice { name: Some(database), .. }) = workload.database() else { return Ok(()) };
    let usable = &entry.workloads[&workload.kind()].databases;
    if usable.is_empty() || usable.iter().any(|one| one == database) {
        return Ok(());
    }
    let (name, database) = (entry.name.clone(), database.to_owned());
    Err(PlatformError::Database { name, database, available: usable.join(" or ") })
}

/// Completes a catalog entry with its program and knobs.
fn resolve_entry(
    mut entry: Entry,
    java: Option<NamedJava>,
    request: &PlatformRequest,
    workload: &Workload,
) -> Result<ResolvedPlatform, PlatformError> {
    let kind = workload.kind();
    entry.knobs.retain(|_, knob| knob.workloads.is_empty() || knob.workloads.contains(&kind));
    let name = entry.name.clone();
    let transports = entry.transports_of(kind);
    check_selected(&name, kind, &transports, &request.settings)?;
    if let Some(knob) = entry.knobs.get_mut(TRANSPORT_KNOB) {
        *knob = transport_knob(&transports);
    }
    let program = entry.program.as_ref().map(find_program).transpose();
    let program = program.map_err(|source| PlatformError::Program { name: name.clone(), source })?;
    let knobs = ResolvedKnobs::new(&name, &request.settings, &entry.knobs, java.is_some())?;
    let in_workload = entry.workloads.get(&kind).cloned().unwrap_or_default().of(workload);
    let (transport, in_transport) = selected(&transports, &request.settings);
    let in_http2 = entry.http2_of(workload, transport)?;
    Ok(ResolvedPlatform {
        name: java.as_ref().map_or_else(|| name.clone(), |java| java.name_with(&name)),
        knobs,
        settings: request.settings.clone(),
        because: None,
        in_workload,
        transport,
        in_transport,
        in_http2,
        workload: workload.clone(),
        database: None,
        entry,
        java: java.map(|named| named.java),
        program,
    })
}

fn find_java(
    entry: &Entry,
    version: Option<&str>,
    runtimes: &JavaRuntimes,
) -> Result<Option<Java>, PlatformError> {
    let name = entry.name.clone();
    let wrong_version =
        |version: &str| PlatformError::Version { name: entry.name.clone(), version: version.to_owned() };
    match (&entry.java, version) {
        (None, None) => Ok(None),
        (None, Some(version)) => Err(wrong_version(version)),
        (Some(needs), None) => match runtimes.find(*needs) {
            Ok(java) => Ok(Some(java)),
            Err(source) => Err(PlatformError::Java { name, source }),
        },
        (Some(needs), Some(path)) if is_path(path) => {
            let java = Java::at(Path::new(path)).and_then(|java| java.checked(*needs));
            java.map(Some).map_err(|source| PlatformError::Java { name, source })
        }
        (Some(needs), Some(version)) if version.ends_with('+') => {
            let feature = version.trim_end_matches('+').parse().map_err(|_| wrong_version(version))?;
            let java = runtimes.at_least(feature, *needs);
            java.map(Some).map_err(|source| PlatformError::Java { name, source })
        }
        (Some(needs), Some(version)) => {
            let feature = version.parse().map_err(|_| PlatformError::JavaVersion {
                name: name.clone(),
                version: version.to_owned(),
            })?;
            let java = runtimes.with_version(feature).and_then(|java| java.checked(*needs));
            java.map(Some).map_err(|source| PlatformError::Java { name, source })
        }
    }
}

/// A platform as `klatch platforms` lists it.
#[derive(Debug)]
pub struct PlatformListing {
    /// Its entry in the catalog.
    pub entry: Entry,
    /// Its variants on this machine (one for each Java version), or the reason why it cannot run.
    pub variants: Result<Vec<ResolvedPlatform>, PlatformError>,
}

impl PlatformListing {
    /// Its own knobs and those of its Java: name, and description with the allowed values.
    pub fn knobs(&self) -> Vec<(String, String)> {
        let of_java = if self.entry.java.is_some() { java_knobs() } else { Default::default() };
        self.entry.knobs.iter().chain(&of_java).map(describe_knob).collect()
    }
}

/// The knobs of the Java crowd: name, and description with the allowed values.
pub fn java_crowd_knobs() -> Vec<(String, String)> {
    java_crowd().knobs.iter().map(describe_knob).collect()
}

/// The same of the native crowd with two threads a user.
pub fn threads_crowd_knobs() -> Vec<(String, String)> {
    threads_crowd().knobs.iter().map(describe_knob).collect()
}

/// The names of all platforms of Klatch.
pub fn names() -> Vec<String> {
    catalog(None).unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

/// Whether some platform of Klatch has a knob of this name.
pub fn is_knob(name: &str) -> bool {
    let of_platforms =
        catalog(None).unwrap_or_default().into_iter().any(|entry| entry.knobs.contains_key(name));
    of_platforms || java_knobs().contains_key(name) || launch::names().any(|known| known == name)
}

fn describe_knob((name, knob): (&String, &Knob)) -> (String, String) {
    let values: Vec<&str> = knob.values.keys().map(String::as_str).collect();
    let values = if values.is_empty() { String::new() } else { format!(" [{}]", values.join(", ")) };
    (name.clone(), format!("{}{values}", knob.help))
}

/// All platforms, each with its variants on this machine.
///
/// # Errors
/// The catalog has an invalid file.
pub fn list(request: &PlatformRequest) -> Result<Vec<PlatformListing>, PlatformError> {
    let (runtimes, chat) = (JavaRuntimes::new(request.java.as_deref()), Workload::default());
    let variants = |entry: &Entry| -> Result<Vec<ResolvedPlatform>, PlatformError> {
        let java = find_java(entry, None, &runtimes)?;
        let Some(needs) = entry.java.as_ref().filter(|_| request.java.is_none()) else {
            return Ok(vec![resolve_entry(entry.clone(), java.map(NamedJava::of), request, &chat)?]);
        };
        let mut all: Vec<&Java> = installed().iter().collect();
        all.retain(|java| needs.accept(java.feature));
        all.sort_by_key(|java| java.feature);
        // Of several runtimes of one version `resolve` uses the first. The others have names by path.
        let named = |(place, java): (usize, &&Java)| {
            let is_first = place == 0 || all[place - 1].feature != java.feature;
            NamedJava { java: (*java).clone(), path: (!is_first).then(|| java.home()) }
        };
        let with = |java: NamedJava| resolve_entry(entry.clone(), Some(java), request, &chat);
        all.iter().enumerate().map(named).map(with).collect()
    };
    let entries = catalog(request.catalog.as_deref())?;
    Ok(entries.into_iter().map(|entry| PlatformListing { variants: variants(&entry), entry }).collect())
}

#[cfg(test)]
mod tests {
    use klatch_record::RrWorkload;

    use super::*;

    fn request(name: &str) -> PlatformRequest {
        PlatformRequest { name: Some(name.to_owned()), ..PlatformRequest::default() }
    }

    fn resolve_text(request: &PlatformRequest) -> String {
        resolve(request, &Workload::default())
            .map_or_else(|error| error.to_string(), |platform| platform.name)
    }

    #[test]
    fn an_unknown_name_is_answered_with_a_similar_one_or_where_all_are() {
        let error = resolve_text(&request("java-fibers"));
        assert_eq!(error, "no platform is named java-fibers; did you mean java-files?");
        let error = resolve_text(&request("fax"));
        assert!(error.starts_with("no platform is named fax; klatch platforms lists all "), "{error}");
    }

    #[test]
    fn a_workload_that_a_platform_does_not_carry_is_refused() {
        let rr = |name| resolve(&request(name), &Workload::Rr(RrWorkload::default()));
        assert_eq!(
            rr("native-epoll-coalesce").unwrap_err().to_string(),
            "native-epoll-coalesce does not carry the workload rr; it carries chat"
        );
        let platform = rr("native-epoll").unwrap();
        assert_eq!((platform.protocol(), platform.class()), (ProtocolName::Echo, None));
    }

    #[test]
    fn a_named_java_is_not_replaced() {
        let error = resolve_text(&PlatformRequest {
            java: Some("/nowhere/java".into()),
            ..PlatformRequest::default()
        });
        assert!(error.starts_with("java-threads cannot run /nowhere/java"), "{error}");
    }

    #[test]
    fn only_java_platforms_have_versions() {
        assert_eq!(
            resolve_text(&request("native-epoll@17")),
            "native-epoll is not a Java platform, so it has no version 17: leave out @17"
        );
        assert!(
            resolve_text(&request("java-threads@999")).starts_with("java-threads needs Java 999, and found ")
        );
    }

    #[test]
    fn an_unknown_knob_lists_those_of_the_platform() {
        let settings = vec!["turbo=on".parse().unwrap()];
        let error = resolve_text(&PlatformRequest { settings, ..request("native-epoll") });
        assert_eq!(
            error,
            "native-epoll has no knob turbo; it has ktls, loops, nodelay, sendq, tickets, transport, cpus, nice, policy, thp"
        );
    }
}
