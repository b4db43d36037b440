//! What workloads `trade` and `orders` have beside server and crowd: a database, the ledgers of the crowds, and the command of the audit.

use std::path::PathBuf;
use std::time::Duration;

use klatch_host::privileges::temporary_folder;
use klatch_platforms::{Launch, Processes, ResolvedPlatform, RunningDatabase};
use klatch_record::Workload;
use tempfile::TempDir;

use crate::error::RunError;
use crate::plan::PlatformPlan;

pub(crate) struct Brokerage {
    pub(crate) database: RunningDatabase,
    platform: ResolvedPlatform,
    /// Longest time until a database that has died runs again.
    ready_timeout: Duration,
    ledgers: TempDir,
}

impl Brokerage {
    /// Starts the database of the workload; `None` without one.
    ///
    /// # Errors
    /// The database or its audit cannot be used.
    pub(crate) fn open(
        plan: &PlatformPlan,
        platform: &ResolvedPlatform,
        workload: &Workload,
        processes: &Processes,
    ) -> Result<Option<Brokerage>, RunError> {
        let catalog = plan.request.catalog.as_deref();
        let database = RunningDatabase::start(workload, catalog, processes, plan.ready_timeout)?;
        let Some(database) = database else { return Ok(None) };
        let platform = platform.clone();
        audit_command(&platform, &database)?;
        let ledgers = temporary_folder().map_err(RunError::Ledgers)?;
        Ok(Some(Brokerage { database, platform, ready_timeout: plan.ready_timeout, ledgers }))
    }

    /// The command of the audit, and how it is started, once the database runs: one that has died is started again on its data.
    ///
    /// # Errors
    /// The database cannot be started again.
    pub(crate) fn audit_command(&mut self, processes: &Processes) -> Result<(Vec<String>, Launch), RunError> {
        self.database.recover(processes, self.ready_timeout)?;
        audit_command(&self.platform, &self.database)
    }

    /// The file in which the crowd with this number keeps its ledgers.
    pub(crate) fn ledger(&self, crowd: usize) -> PathBuf {
        self.ledgers.path().join(format!("ledger-{crowd}.json"))
    }
}

fn audit_command(
    platform: &ResolvedPlatform,
    database: &RunningDatabase,
) -> Result<(Vec<String>, Launch), RunError> {
    Ok(platform.with_database(&database.audit_access).audit_command()?)
}
