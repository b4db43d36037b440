//! Plans that were checked, with what this machine has of their subjects.

use klatch_platforms::{PlatformError, ResolvedPlatform, resolve};

use crate::plan::{Plan, PlatformPlan, Subject, TargetPlan};

/// A plan that this machine can carry out.
pub struct CheckedPlan<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) subject: ResolvedSubject<'a>,
}

/// The subject of a plan, with what this machine has of it.
pub enum ResolvedSubject<'a> {
    /// A platform, and its variant on this machine.
    Platform(&'a PlatformPlan, Box<ResolvedPlatform>),
    /// An external server.
    Target(&'a TargetPlan),
}

impl CheckedPlan<'_> {
    /// The subject of the plan.
    pub fn subject(&self) -> &ResolvedSubject<'_> {
        &self.subject
    }
}

impl<'a> ResolvedSubject<'a> {
    /// Looks for the platform of a plan on this machine.
    ///
    /// # Errors
    /// The platform cannot run here, or does not carry the workload of the plan.
    pub(crate) fn of(plan: &'a Plan) -> Result<ResolvedSubject<'a>, PlatformError> {
        Ok(match &plan.subject {
            Subject::Platform(own) => {
                ResolvedSubject::Platform(own, Box::new(resolve(&own.request, &plan.workload)?))
            }
            Subject::Target(target) => ResolvedSubject::Target(target),
        })
    }

    /// The platform; `None` for an external server.
    pub(crate) fn platform(&self) -> Option<&ResolvedPlatform> {
        match self {
            ResolvedSubject::Platform(_, platform) => Some(platform),
            ResolvedSubject::Target(_) => None,
        }
    }

    /// The name of the platform, or the address of the external server.
    pub(crate) fn name(&self) -> String {
        match self {
            ResolvedSubject::Platform(_, platform) => platform.name.clone(),
            ResolvedSubject::Target(target) => target.target.endpoint.to_string(),
        }
    }
}
