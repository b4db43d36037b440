//! The options of the command line that answer an error of a library.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use klatch_platforms::{PlatformError, ProcessError, ServerError};
use klatch_record::{SaveError, WorkloadError, WorkloadKind, own_arguments};
use klatch_report::ReadError;
use klatch_runner::duet::DuetError;
use klatch_runner::{Conflict, RunError, in_shell};
use klatch_schedulers::SchedulerError;
use klatch_study::compare::{CalibrateError, CompareError};
use klatch_study::history::HistoryError;
use klatch_study::{ExactError, StudyRunError};

/// What the system says of an address that no interface of this machine has.
const NOT_LOCAL: &str = "Cannot assign requested address";

/// What to do about an error, in terms of options; `None` if its own text says what can be said.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    if let Some(conflict) = error.downcast_ref() {
        return of_conflict(*conflict).map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref() {
        return of_platform(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_workload(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_scheduler(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_server(error);
    }
    if let Some(StudyRunError::Run(error)) = error.downcast_ref() {
        return of_run(error);
    }
    if let Some(error) = error.downcast_ref() {
        return of_exact(error);
    }
    if let Some(CalibrateError::Duet(error)) = error.downcast_ref() {
        return of_duet(error);
    }
    let is_missing = matches!(error.downcast_ref(), Some(ReadError::Missing { .. }))
        || matches!(error.downcast_ref(), Some(CompareError::Missing { .. }));
    if let Some(HistoryError::Empty { .. }) = error.downcast_ref() {
        return Some("klatch run and klatch duet leave them in results, or in their --out".to_owned());
    }
    if let Some(CompareError::NoRecord { .. }) = error.downcast_ref() {
        return Some("name a record that klatch run has left, or a folder of them".to_owned());
    }
    if let Some(SaveError { .. }) = error.downcast_ref() {
        return Some("name another place with --out".to_owned());
    }
    if matches!(error.downcast_ref(), Some(ReadError::Other { .. })) {
        return Some("name a folder that klatch run or klatch study has left, or a record in it".to_owned());
    }
    if is_missing {
        return Some("klatch browse lists the results in a folder".to_owned());
    }
    // The other commands have no option for the time of a start.
    if let Some(RunError::Server(error)) = error.downcast_ref() {
        return of_server(error);
    }
    error.downcast_ref().and_then(of_duet).or_else(|| error.downcast_ref().and_then(of_run))
}

/// Of commands with an option for the time of a start.
fn of_server(error: &ServerError) -> Option<String> {
    let advice = "it accepts no connection: give it more time with --ready-timeout, or correct the address in its platform file";
    let is_late = matches!(error, ServerError::Late { .. });
    is_late.then(|| advice.to_owned()).or_else(|| of_start(error))
}

fn of_start(error: &ServerError) -> Option<String> {
    let advice = match error {
        ServerError::Ended { stderr, .. } if stderr.contains(NOT_LOCAL) => {
            "name an address of this machine with --host-address; `ip -brief address` lists them"
        }
        ServerError::Process { source: ProcessError::Start { program, source, .. }, .. }
            if source.kind() == ErrorKind::NotFound && !program.starts_with('/') && program.contains('/') =>
        {
            "a relative path begins at the folder of this shell: write the full path into the command of the platform file"
        }
        ServerError::Process { source: ProcessError::Start { source, .. }, .. }
            if source.kind() == ErrorKind::NotFound =>
        {
            "install it, or correct the first word of the command in the platform file"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

fn of_exact(error: &ExactError) -> Option<String> {
    match error {
        ExactError::Platform(error) => of_platform(error),
        ExactError::Setting(error) => of_workload(error),
        ExactError::Target { .. } => Some("name platforms on both sides, or leave out --exact".to_owned()),
        ExactError::Workload(_) | ExactError::Built { .. } | ExactError::HeaderValues => {
            Some("leave out --exact".to_owned())
        }
        ExactError::Java(_) | ExactError::Lab(_) | ExactError::Run { .. } => None,
    }
}

fn of_duet(error: &DuetError) -> Option<String> {
    match error {
        DuetError::Run(error) => of_run(error),
        DuetError::OneCpu => Some("leave out --together".to_owned()),
        DuetError::ShortStarts { .. } => Some("raise --duration, or lower --starts or --warmup".to_owned()),
        DuetError::Names(_) => Some("use --name-a or --name-b".to_owned()),
        _ => None,
    }
}

fn of_run(error: &RunError) -> Option<String> {
    match error {
        RunError::Conflict(conflict) => of_conflict(*conflict).map(str::to_owned),
        RunError::Platform(error) => of_platform(error),
        RunError::Workload(error) => of_workload(error),
        RunError::Scheduler(error) => of_scheduler(error),
        RunError::Server(error) => of_start(error),
        RunError::Protocol { protocol, .. } => workload_option(&protocol.workloads()),
        RunError::NoServer { .. } => {
            Some("start it first; klatch platforms lists what Klatch starts itself".to_owned())
        }
        RunError::UnknownHost { .. } => Some("correct the name of the host, or give its address".to_owned()),
        RunError::CrowdWorkload { .. } | RunError::CrowdProtocol { .. } => {
            Some("use --crowd native".to_owned())
        }
        RunError::TooFewParties { shards, parties, party } => {
            Some(format!("use --shards {parties} or fewer, or --{party}s {shards}"))
        }
        RunError::Folder { .. } => Some("name another folder with --out".to_owned()),
        RunError::RunAndRestore { run, .. } => of_run(run),
        _ => None,
    }
}

/// The option that selects one of these workloads.
fn workload_option(names: &[&str]) -> Option<String> {
    let (last, others) = names.split_last()?;
    let names =
        if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) };
    Some(format!("add --workload {names}"))
}

fn of_workload(error: &WorkloadError) -> Option<String> {
    match error {
        WorkloadError::Foreign { owners, .. } => Some(match std::env::args().nth(2) {
            // `klatch run rr` has its workload already.
            Some(word) if word.parse::<WorkloadKind>().is_ok() => {
                format!("leave it out, or use klatch run {owners}")
            }
            _ => format!("leave it out, or add --workload {owners}"),
        }),
        WorkloadError::Unused { owner, .. } => {
            let is_setting = |name: &str| {
                WorkloadKind::ALL.iter().flat_map(|kind| kind.settings()).any(|setting| setting.name == name)
            };
            let (setting, value) = owner.split_once(' ').filter(|(setting, _)| is_setting(setting))?;
            Some(format!("add --{setting} {value}"))
        }
        WorkloadError::NoUrl { .. } => {
            Some("name a target with a path, as in --target http://127.0.0.1:8080/, or add --url".to_owned())
        }
        WorkloadError::NoRate => Some("add --rate, in messages/s of each user, as in --rate 2".to_owned()),
        WorkloadError::Conflict { setting, .. } => Some(format!("leave out --{setting}")),
        _ => None,
    }
}

/// The same command in the lab, whose kernels take every scheduler.
fn of_scheduler(error: &SchedulerError) -> Option<String> {
    let arguments = || own_arguments()[1..].to_vec();
    matches!(error, SchedulerError::NoSchedExt).then(|| in_shell(&in_lab(arguments(), &path_of)))
}

/// The same command in the lab, which has Klatch and what `--file` brings. `path_of` finds a program.
fn in_lab(mut arguments: Vec<String>, path_of: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<String> {
    let mut line = ["klatch", "lab", "exec"].map(str::to_owned).to_vec();
    let is_sched_run = arguments.first().is_some_and(|word| word == "sched");
    let program = arguments.iter().position(|word| word == "--").map(|at| at + 1);
    if let Some(program) = program.filter(|at| is_sched_run && *at < arguments.len()) {
        let name = Path::new(&arguments[program]).file_name().unwrap_or_default().to_owned();
        if name == "klatch" {
            arguments[program] = "/klatch".to_owned();
        } else if let Some(path) = path_of(&arguments[program]) {
            arguments[program] = path.display().to_string();
            line.extend(["--file".to_owned(), arguments[program].clone(), "--".to_owned()]);
        }
    }
    line.extend(arguments);
    line
}

/// Where a program is, by its path or in the search path.
fn path_of(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_folders = std::env::split_paths(&folders).map(|folder| folder.join(program));
    // The lab has no folder that a relative path could begin at.
    in_folders.chain(std::fs::canonicalize(program)).find(|path| path.is_file())
}

fn of_platform(error: &PlatformError) -> Option<String> {
    match error {
        PlatformError::Workload { available, .. } => {
            workload_option(&available.split(", ").collect::<Vec<_>>())
        }
        PlatformError::Database { available, .. } => Some(format!("add --database {available}")),
        _ => None,
    }
}

fn of_conflict(conflict: Conflict) -> Option<&'static str> {
    match conflict {
        Conflict::ReadersAndCrowd => Some("leave out --crowd"),
        Conflict::ReadersAndHosts | Conflict::LedgersAndHosts => Some("leave out --hosts"),
        Conflict::HostsAndLoopback => Some("name an address of this machine with --host-address"),
        Conflict::HostsAndCertificate => Some(
            "leave out --hosts, or start the server with a certificate of yours, and name it by --target and its authority, in a file on \
             all machines, by --ca",
        ),
        Conflict::SubprotocolAndTransport => Some("leave out --subprotocol"),
        Conflict::TlsSettingsAndTransport => {
            Some("leave out --tls-version, --ciphers, --client-certificate and --client-key")
        }
        Conflict::CertificateAndPlatform => Some("leave out --client-certificate and --client-key"),
        Conflict::ConnectingAndCrowd => Some("leave out --crowd"),
        Conflict::LoginAndCrowd => Some("leave out --crowd, or user and password of the target"),
        Conflict::UrlAndCrowd => Some("leave out --crowd"),
        Conflict::UrlAndProtocol => Some("leave out --url, or name a server of HTTP"),
        Conflict::MqttAndProtocol => {
            Some("leave out --qos and --client-id, or name a broker: --target mqtt://HOST:PORT")
        }
        Conflict::ChurnAndCrowd => Some("leave out --churn or --crowd"),
        Conflict::ReadersAndTarget
        | Conflict::ReadersAndCrowdKnobs
        | Conflict::ReadersAndServers
        | Conflict::JavaCrowdAndHosts
        | Conflict::CrowdKnobsAndHosts
        | Conflict::ContextRootAndWorkload => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_advised_upon_wherever_it_comes_from() {
        let conflict = || RunError::from(Conflict::ChurnAndCrowd);
        let wanted = Some("leave out --churn or --crowd".to_owned());
        assert_eq!(advice(&conflict().into()), wanted);
        assert_eq!(advice(&DuetError::from(conflict()).into()), wanted);
        assert_eq!(advice(&StudyRunError::from(conflict()).into()), wanted);
        assert_eq!(advice(&Conflict::ChurnAndCrowd.into()), wanted);
        assert_eq!(advice(&RunError::Interrupted.into()), None);
        assert_eq!(advice(&anyhow::anyhow!("no error of a library")), None);
    }

    #[test]
    fn a_command_goes_to_the_lab_with_its_program() {
        let path_of = |program: &str| (program == "make").then(|| PathBuf::from("/usr/bin/make"));
        let line = |words: &str| in_lab(words.split(' ').map(str::to_owned).collect(), &path_of).join(" ");
        assert_eq!(
            line("run --scheduler goodness --rooms 2"),
            "klatch lab exec run --scheduler goodness --rooms 2"
        );
        assert_eq!(
            line("sched run o1 -- make -j4"),
            "klatch lab exec --file /usr/bin/make -- sched run o1 -- /usr/bin/make -j4"
        );
        assert_eq!(line("sched run o1 -- target/klatch run"), "klatch lab exec sched run o1 -- /klatch run");
        assert_eq!(line("sched run o1 -- nothing"), "klatch lab exec sched run o1 -- nothing");
    }

    #[test]
    fn a_server_that_does_not_start_is_advised_upon() {
        let start = |program: &str| {
            let source = std::io::Error::from(ErrorKind::NotFound);
            let source = ProcessError::Start { program: program.into(), as_user: String::new(), source };
            let error = ServerError::Process { name: "mine".into(), source };
            advice(&RunError::from(error).into()).unwrap_or_default()
        };
        assert!(start("./mine").contains("write the full path"), "{}", start("./mine"));
        assert!(start("mine").starts_with("install it"), "{}", start("mine"));
        let stderr = "cannot listen on 10.9.9.9:0: Cannot assign requested address".to_owned();
        let error = ServerError::Ended { name: "mine".into(), how: "exit status 2".into(), stderr };
        let text = advice(&RunError::from(error).into()).unwrap_or_default();
        assert!(text.contains("--host-address"), "{text}");
    }
}
