//! The lab: a pinned kernel in an emulated machine whose clock counts instructions, and what runs in it.

mod boot;
mod cpio;
mod elf;
mod error;
mod fetch;
mod guest;
mod image;
mod java;
mod kernels;
mod mirror;
mod probe;
mod study;

pub use boot::{Boot, Job, START_US, boot, shell};
pub use error::LabError;
pub use fetch::kernel_file;
pub use guest::{Answer, Step, guest};
pub use image::Image;
pub use java::java_runtime;
pub use kernels::Kernel;
pub use probe::{Probe, ProbeError, ProbeResult};
pub use study::{
    Configuration, Costs, Distribution, Group, Mean, Outcome, Study, StudyError, configurations, costs,
    distribution, groups, shipped, summary,
};
