//! Drafts of cells: what each value of an axis changes in a plan.

use klatch_platforms::Setting;
use klatch_record::{WorkloadError, WorkloadKind};
use klatch_runner::{CrowdKind, Plan};
use klatch_schedulers::SchedulerSpec;

/// A cell before all axes have been applied.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) plan: Plan,
    kind: WorkloadKind,
    /// Name and value of each setting of the workload so far.
    given: Vec<(&'static str, String)>,
    /// Settings without a meaning in this cell.
    pub(crate) unused: Vec<WorkloadError>,
    /// Name and value of each axis so far.
    pub(crate) at: Vec<(String, String)>,
}

/// What one value of an axis changes in a plan.
#[derive(Clone)]
pub(crate) enum Change {
    /// Name and value of a setting of the workload.
    Workload(&'static str, String),
    Server(Setting),
    Crowd(Setting),
    Sysctl(Setting),
    Scheduler(Option<SchedulerSpec>),
    CrowdKind(CrowdKind),
    CrowdLoops(usize),
    /// Number of server processes.
    Servers(u32),
    /// Number of crowd processes.
    Shards(u32),
    /// Number of CPUs for server and crowd, counted from the first.
    Cpus(u32),
}

impl Draft {
    pub(crate) fn new(plan: &Plan, kind: WorkloadKind) -> Draft {
        Draft { plan: plan.clone(), kind, given: Vec::new(), unused: Vec::new(), at: Vec::new() }
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        let platform = &mut self.plan.platform;
        match change {
            Change::Workload(name, value) => self.given.push((name, value.clone())),
            Change::Server(setting) => platform.settings.push(setting.clone()),
            Change::Crowd(setting) => self.plan.crowd_settings.push(setting.clone()),
            Change::Sysctl(setting) => self.plan.sysctls.push(setting.clone()),
            Change::Scheduler(spec) => self.plan.scheduler.clone_from(spec),
            Change::CrowdKind(kind) => self.plan.crowd = *kind,
            Change::Servers(servers) => self.plan.servers = *servers,
            Change::Shards(shards) => self.plan.shards = *shards,
            Change::CrowdLoops(loops) => self.plan.crowd_loops = *loops,
            Change::Cpus(count) => {
                let setting = Setting { name: "cpus".to_owned(), value: format!("first:{count}") };
                platform.settings.push(setting.clone());
                if self.kind.has_server() {
                    self.plan.crowd_settings.push(setting);
                }
            }
        }
    }

    /// Makes the workload, and drops the axes that belong to another value of another axis, such as a window without pacing rounds.
    pub(crate) fn finish(mut self) -> Result<Draft, WorkloadError> {
        loop {
            let given: Vec<(&str, &str)> =
                self.given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            match self.kind.workload(&given) {
                Ok(workload) => self.plan.workload = workload,
                Err(WorkloadError::Unused { setting, owner }) => {
                    self.given.retain(|(name, _)| *name != setting);
                    self.at.retain(|(axis, _)| axis != setting);
                    self.unused.push(WorkloadError::Unused { setting, owner });
                    continue;
                }
                Err(error) => return Err(error),
            }
            return Ok(self);
        }
    }
}
