//! What workloads `trade` and `orders` have beside server and crowd: a database, the ledgers of the crowds, and the command of the audit.

use std::path::PathBuf;
use std::time::Duration;

use klatch_host::privileges::temporary_folder;
use klatch_platforms::{Launch, Processes, ResolvedPlatform, RunningDatabase};
use klatch_record::{Audit, Workload};
use tempfile::TempDir;

use crate::audit::{AuditError, Audited, audit};
use crate::error::RunError;
use crate::plan::PlatformPlan;

pub(crate) struct Brokerage {
    pub(crate) database: RunningDatabase,
    platform: ResolvedPlatform,
    workload: Audited,
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
        let Some(audited) = Audited::of(workload) else { return Ok(None) };
        let catalog = plan.request.catalog.as_deref();
        let database = RunningDatabase::start(workload, catalog, processes, plan.ready_timeout)?;
        let Some(database) = database else { return Ok(None) };
        let platform = platform.clone();
        audit_command(&platform, &database)?;
        let ledgers = temporary_folder().map_err(RunError::Ledgers)?;
        let ready_timeout = plan.ready_timeout;
        Ok(Some(Brokerage { database, platform, workload: audited, ready_timeout, ledgers }))
    }

    /// Compares the database with the ledgers of the crowds, which are numbered from 0. A database that has died is started again on its
    /// data.
    ///
    /// # Errors
    /// The database cannot be started again, or see [`audit`].
    pub(crate) fn audit(&mut self, crowds: usize, processes: &Processes) -> Result<Audit, AuditError> {
        let ledgers: Vec<PathBuf> = (0..crowds).map(|crowd| self.ledger(crowd)).collect();
        let recovered = self.database.recover(processes, self.ready_timeout).map_err(RunError::from);
        let command = recovered.and_then(|_| audit_command(&self.platform, &self.database));
        let command = command.map_err(|error| AuditError::Database(error.to_string()))?;
        audit(&command, &self.workload, &ledgers, processes)
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
