//! The options of the command line that answer an error of a library.

use klatch_platforms::{PlatformError, ServerError};
use klatch_record::WorkloadError;
use klatch_report::ReadError;
use klatch_runner::duet::DuetError;
use klatch_runner::{Conflict, RunError, in_shell};
use klatch_schedulers::SchedulerError;
use klatch_study::StudyRunError;
use klatch_study::compare::{CalibrateError, CompareError};

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
    if let Some(CalibrateError::Duet(error)) = error.downcast_ref() {
        return of_duet(error);
    }
    let is_missing = matches!(error.downcast_ref(), Some(ReadError::Missing { .. }))
        || matches!(error.downcast_ref(), Some(CompareError::Missing { .. }));
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

fn of_server(error: &ServerError) -> Option<String> {
    matches!(error, ServerError::Late { .. }).then(|| "give it more time with --ready-timeout".to_owned())
}

fn of_duet(error: &DuetError) -> Option<String> {
    match error {
        DuetError::Run(error) => of_run(error),
        DuetError::OneCpu => Some("leave out --together".to_owned()),
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
        RunError::Protocol { protocol, .. } => workload_option(&protocol.workloads()),
        RunError::NoServer { .. } => {
            Some("start it first; klatch platforms lists what Klatch starts itself".to_owned())
        }
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
        WorkloadError::Foreign { owners, .. } => Some(format!("leave it out, or add --workload {owners}")),
        WorkloadError::Unused { owner, .. } => {
            owner.split_once(' ').map(|(setting, value)| format!("add --{setting} {value}"))
        }
        WorkloadError::NoRate => Some("add --rate, in messages/s of each user, as in --rate 2".to_owned()),
        WorkloadError::Conflict { setting, .. } => Some(format!("leave out --{setting}")),
        _ => None,
    }
}

/// The same command in the lab, whose kernels take every scheduler.
fn of_scheduler(error: &SchedulerError) -> Option<String> {
    matches!(error, SchedulerError::NoSchedExt).then(|| {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        format!("klatch lab exec {}", in_shell(&arguments))
    })
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
        Conflict::LoginAndCrowd => Some("leave out --crowd, or user and password of the target"),
        Conflict::LoginAndWorkload => None,
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
}
