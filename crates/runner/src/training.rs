//! The training run of a platform whose JVM uses an archive: one run of the plan's workload before the first.

use std::time::Duration;

use klatch_host::privileges::temporary_folder;
use klatch_instruments::Files;
use klatch_platforms::{Processes, ResolvedPlatform};
use klatch_record::{Role, Status};
use tempfile::TempDir;

use crate::error::RunError;
use crate::plan::{Plan, PlatformPlan, Subject};
use crate::resolved::{CheckedPlan, ResolvedSubject};
use crate::session::Session;

/// Longest time for a JVM to write its archive when it ends. A JVM of the ahead-of-time cache starts another one for it.
const WRITE_TIMEOUT: Duration = Duration::from_secs(120);

/// Opens a session of a plan, after the training run that its platform may need.
///
/// # Errors
/// The training run fails, or see [`Session::open`].
pub fn open_session<'a>(checked: CheckedPlan<'a>, processes: &'a Processes) -> Result<Session<'a>, RunError> {
    let CheckedPlan { plan, subject } = checked;
    let ResolvedSubject::Platform(own, platform) = subject else {
        return Session::open(&CheckedPlan { plan, subject }, None, processes);
    };
    let (platform, folder) = match train(plan, own, &platform, processes)? {
        Some((trained, folder)) => (Box::new(trained), Some(folder)),
        None => (platform, None),
    };
    let subject = ResolvedSubject::Platform(own, platform);
    Session::open(&CheckedPlan { plan, subject }, folder, processes)
}

/// The platform with its archive, and the folder of that; `None` if it needs none.
///
/// # Errors
/// The run cannot be made or is not valid, or the server wrote no archive.
fn train(
    plan: &Plan,
    own: &PlatformPlan,
    platform: &ResolvedPlatform,
    processes: &Processes,
) -> Result<Option<(ResolvedPlatform, TempDir)>, RunError> {
    let Some(setting) = platform.needs_training() else { return Ok(None) };
    let failed = |reason: String| RunError::Training {
        name: platform.name.clone(),
        setting: setting.to_owned(),
        reason,
    };
    if !plan.workload.kind().has_server() {
        return Err(failed("it needs a server, and this workload has none".to_owned()));
    }
    let folder = temporary_folder();
    let folder = folder.map_err(|error| failed(format!("cannot make a folder for the archive: {error}")))?;
    let archive = folder.path().join("archive");
    // Several servers would write to the same file, and instruments belong to the runs that are recorded.
    let own = PlatformPlan { servers: 1, ..own.clone() };
    let subject = Subject::Platform(own.clone());
    let plan = Plan { subject, instruments: Vec::new(), warmup: None, ..plan.clone() };
    let subject = ResolvedSubject::Platform(&own, Box::new(platform.in_training(&archive)));
    let _shown = processes.show(&format!("training {}", platform.name));
    let mut session = Session::open(&CheckedPlan { plan: &plan, subject }, None, processes)?;
    let files = Files { folder: folder.path().to_owned(), stem: "training".to_owned() };
    let record = session.run(Role::WarmUp, 1, &files, |_| {})?;
    if record.verdict.status != Status::Valid {
        return Err(failed(format!("its run was not valid: {}", record.verdict.messages())));
    }
    let errors = session.end_server_within(WRITE_TIMEOUT);
    match archive.is_file() {
        true => Ok(Some((platform.trained(&archive), folder))),
        false => Err(failed(format!("the server wrote no archive; {errors}"))),
    }
}
