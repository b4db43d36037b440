//! Drafts of cells: what each value of an axis changes in a plan.

use klatch_platforms::{PlatformError, PlatformRequest, Setting};
use klatch_record::{
    ConnectingSetting, InstrumentName, RunOptions, Subprotocol, Workload, WorkloadError, WorkloadKind,
};
use klatch_runner::{CrowdKind, Plan, PlatformPlan, Subject, make_volanomark};
use klatch_schedulers::SchedulerSpec;

use crate::file::Levels;
use crate::plan::StudyBase;

/// A cell before all axes have been applied.
#[derive(Clone)]
pub(crate) struct Draft {
    platform: PlatformPlan,
    crowd: CrowdKind,
    crowd_settings: Vec<Setting>,
    crowd_loops: usize,
    shards: u32,
    sysctls: Vec<Setting>,
    scheduler: Option<SchedulerSpec>,
    workload: Workload,
    kind: WorkloadKind,
    /// Name and value of each setting of the workload so far.
    given: Vec<(&'static str, String)>,
    /// Settings without a meaning in this cell.
    pub(crate) unused: Vec<WorkloadError>,
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
    /// A setting of how the crowd connects, and its value, which it can have.
    Connecting(&'static ConnectingSetting, String),
    Subprotocol(Subprotocol),
    /// Number of CPUs for server and crowd, counted from the first.
    Cpus(u32),
}

impl Draft {
    pub(crate) fn new(base: &StudyBase, name: &str, kind: WorkloadKind) -> Draft {
        let request = PlatformRequest { name: Some(name.to_owned()), ..base.platforms.clone() };
        let defaults = RunOptions::default();
        Draft {
            platform: PlatformPlan::new(request),
            crowd: CrowdKind::Native,
            crowd_settings: Vec::new(),
            crowd_loops: defaults.crowd_loops as usize,
            shards: defaults.shards,
            sysctls: Vec::new(),
            scheduler: None,
            workload: Workload::default(),
            kind,
            given: Vec::new(),
            unused: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        let server = &mut self.platform.request.settings;
        match change {
            Change::Workload(name, value) => self.given.push((name, value.clone())),
            Change::Server(setting) => server.push(setting.clone()),
            Change::Crowd(setting) => self.crowd_settings.push(setting.clone()),
            Change::Sysctl(setting) => self.sysctls.push(setting.clone()),
            Change::Scheduler(spec) => self.scheduler.clone_from(spec),
            Change::CrowdKind(kind) => self.crowd = *kind,
            Change::Servers(servers) => self.platform.servers = *servers,
            Change::Shards(shards) => self.shards = *shards,
            Change::Connecting(setting, value) => {
                let set = setting.set(&mut self.platform.connecting, value);
                debug_assert!(set.is_ok(), "{value} was checked");
            }
            Change::Subprotocol(subprotocol) => self.platform.subprotocol = subprotocol.clone(),
            Change::CrowdLoops(loops) => self.crowd_loops = *loops,
            Change::Cpus(count) => {
                let setting = Setting { name: "cpus".to_owned(), value: format!("first:{count}") };
                server.push(setting.clone());
                if self.kind.has_server() {
                    self.crowd_settings.push(setting);
                }
            }
        }
    }

    /// Makes this the VolanoMark test.
    ///
    /// # Errors
    /// The platform does not exist, or is none of the VolanoMark test.
    pub(crate) fn make_volanomark(&mut self) -> Result<(), PlatformError> {
        self.crowd = make_volanomark(&mut self.platform.request, &mut self.crowd_settings)?;
        Ok(())
    }

    /// The plan of the cell.
    pub(crate) fn plan(self, base: &StudyBase, instruments: &[InstrumentName]) -> Plan {
        let Draft { crowd, crowd_settings, crowd_loops, shards, sysctls, scheduler, workload, .. } = self;
        Plan {
            crowd,
            crowd_settings,
            crowd_loops,
            shards,
            sysctls,
            scheduler,
            workload,
            instruments: instruments.to_vec(),
            label: base.label.clone(),
            ..Plan::new(Subject::Platform(self.platform), base.out.clone(), base.build.clone())
        }
    }

    /// Makes the workload, and drops the axes that belong to another value of another axis, such as a window without pacing rounds.
    pub(crate) fn finish(mut self, at: &mut Levels) -> Result<Draft, WorkloadError> {
        loop {
            let given: Vec<(&str, &str)> =
                self.given.iter().map(|(name, value)| (*name, value.as_str())).collect();
            match self.kind.workload(&given) {
                Ok(workload) => self.workload = workload,
                Err(WorkloadError::Unused { setting, owner }) => {
                    self.given.retain(|(name, _)| *name != setting);
                    at.remove(setting);
                    self.unused.push(WorkloadError::Unused { setting, owner });
                    continue;
                }
                Err(error) => return Err(error),
            }
            return Ok(self);
        }
    }
}
