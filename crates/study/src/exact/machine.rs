//! The emulated machine of one side of a duet: what it contains, and the run that it makes.

use std::path::Path;

use klatch_lab::{BootKernel, Image, JAVA_FOLDER, LabError, Preparing};
use klatch_platforms::{Java, PlatformRequest, ResolvedPlatform, Setting, resolve};
use klatch_record::Workload;
use klatch_runner::{CrowdKind, Plan, PlatformPlan, Subject};

use super::error::ExactError;
use super::load::shortened;

/// Oldest Java of a Java crowd.
const JAVA_MIN: u32 = 17;
/// Where things are in the machine.
const CATALOG: &str = "/catalog";
/// The users of servers that root starts.
const USERS: [(&str, &str); 2] = [
    ("/etc/passwd", "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"),
    ("/etc/group", "root:x:0:\nnogroup:x:65534:\n"),
];
/// The kernel's module of TLS, and the knob that needs it.
const TLS_MODULE: &str = "tls";
const KTLS: &str = "ktls";

/// The machine of one side.
#[derive(Clone, Debug)]
pub(super) struct SideMachine {
    /// Name of the platform.
    pub(super) name: String,
    pub(super) image: Image,
    pub(super) workload: Workload,
    pub(super) has_java: bool,
    /// The `run` in the machine.
    pub(super) command: Vec<String>,
}

impl SideMachine {
    /// # Errors
    /// The lab cannot run this side, or a part of it is not on this machine.
    pub(super) fn new(
        plan: &Plan,
        kernel: &BootKernel,
        progress: &dyn Fn(Preparing<'_>),
    ) -> Result<SideMachine, ExactError> {
        let (own, platform) = check(plan)?;
        let java = java_of(plan, &own.request, &platform)?;
        let of_java = java.as_ref().map(|java| java.path.as_path());
        let mut image = Image::with_java(kernel.architecture, of_java, progress)?;
        USERS.iter().for_each(|(at, text)| image.add_bytes(at, text.as_bytes().to_vec()));
        for file in platform.files_needed() {
            image.add_in_place(&file)?;
        }
        let has_ktls =
            |settings: &[Setting]| settings.iter().any(|one| one.name == KTLS && one.value == "on");
        let modules = if has_ktls(&own.request.settings) || has_ktls(&plan.crowd_settings) {
            vec![TLS_MODULE.to_owned()]
        } else {
            Vec::new()
        };
        kernel.add_modules(&mut image, &modules, progress)?;
        if let Some(folder) = &own.request.catalog {
            add_catalog(&mut image, folder)?;
        }
        let workload = with_files(shortened(&plan.workload), &mut image)?;
        workload.check()?;
        let has_java = java.is_some();
        let command = command(plan, &own.request, &workload, has_java);
        Ok(SideMachine { name: platform.name.clone(), image, workload, has_java, command })
    }
}

/// Refuses a side that the lab cannot run.
///
/// # Errors
/// The reason.
pub(super) fn check_side(plan: &Plan) -> Result<(), ExactError> {
    check(plan).map(drop)
}

/// What a side starts, if the lab can run it.
fn check(plan: &Plan) -> Result<(&PlatformPlan, ResolvedPlatform), ExactError> {
    let own = match &plan.subject {
        Subject::Platform(own) => own,
        Subject::Target(target) => {
            return Err(ExactError::Target { target: target.target.endpoint.url() });
        }
    };
    let kind = plan.workload.kind();
    if kind.has_database() || !kind.has_server() {
        return Err(ExactError::Workload(kind));
    }
    if !plan.header_values.0.is_empty() {
        return Err(ExactError::HeaderValues);
    }
    let platform = resolve(&own.request, &plan.workload)?;
    if platform.is_built() {
        return Err(ExactError::Built { name: platform.name });
    }
    Ok((own, platform))
}

/// The Java of the server, which is that of a Java crowd too.
fn java_of(
    plan: &Plan,
    request: &PlatformRequest,
    platform: &ResolvedPlatform,
) -> Result<Option<Java>, ExactError> {
    match (&platform.java, plan.crowd) {
        (Some(java), _) => Ok(Some(java.clone())),
        (None, CrowdKind::Java) => Ok(Some(Java::find(request.java.as_deref(), JAVA_MIN)?)),
        (None, CrowdKind::Native | CrowdKind::NativeThreads) => Ok(None),
    }
}

/// Adds the platform files of a folder, without the programs beside them.
fn add_catalog(image: &mut Image, folder: &Path) -> Result<(), LabError> {
    for (at, folder) in
        [(CATALOG.to_owned(), folder.to_owned()), (format!("{CATALOG}/parts"), folder.join("parts"))]
    {
        image.add_files_ending(&at, &folder, "toml")?;
    }
    Ok(())
}

/// The workload with the files that it names at their absolute paths, which are in the image.
fn with_files(mut workload: Workload, image: &mut Image) -> Result<Workload, ExactError> {
    for (setting, value) in workload.settings().into_iter().filter(|(setting, _)| setting.unit == "FILE") {
        let place = image.add_in_place(Path::new(&value))?;
        setting.set(&mut workload, &place.display().to_string())?;
    }
    Ok(workload)
}

/// The `run` of a side in the machine, whose operations are counted.
fn command(plan: &Plan, request: &PlatformRequest, workload: &Workload, has_java: bool) -> Vec<String> {
    let mut words = vec!["run".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), value.to_owned()]);
    if let Some(name) = &request.name {
        // The machine has one Java, whatever its version is.
        option("platform", name.split('@').next().unwrap_or_default());
    }
    if has_java {
        option("java", &format!("{JAVA_FOLDER}/bin/java"));
    }
    if request.catalog.is_some() {
        option("catalog", CATALOG);
    }
    request.settings.iter().for_each(|setting| option("knob", &setting.to_string()));
    option("crowd", plan.crowd.name());
    plan.crowd_settings.iter().for_each(|setting| option("crowd-knob", &setting.to_string()));
    for (name, value) in
        [("seed", plan.seed.to_string()), ("warmups", "0".to_owned()), ("trials", "1".to_owned())]
    {
        option(name, &value);
    }
    words.extend(workload.options());
    words
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use klatch_record::{Build, WorkloadKind};

    fn plan(name: &str, settings: &[&str], workload: Workload) -> Plan {
        let settings = settings.iter().map(|setting| setting.parse().unwrap()).collect();
        let request = PlatformRequest { name: Some(name.to_owned()), settings, ..PlatformRequest::default() };
        let build = Build { version: "1".to_owned(), ..Build::default() };
        Plan { workload, ..Plan::new(Subject::Platform(PlatformPlan::new(request)), PathBuf::new(), build) }
    }

    #[test]
    fn the_run_in_the_machine_is_that_of_the_side() {
        let rr = WorkloadKind::Rr.workload(&[("connections", "3")]).unwrap();
        let plan = plan("java-threads@25", &["yield=on"], rr);
        let Subject::Platform(own) = &plan.subject else { panic!("no platform") };
        let line = command(&plan, &own.request, &shortened(&plan.workload), true).join(" ");
        let start =
            "run --platform java-threads --java /java/bin/java --knob yield=on --crowd native --seed ";
        assert!(line.starts_with(start), "{line}");
        assert!(line.contains(" --warmups 0 --trials 1 --workload rr --connections 3 "), "{line}");
    }

    #[test]
    fn what_the_lab_cannot_run_is_refused_by_its_reason() {
        let reason =
            |name: &str, workload: Workload| check(&plan(name, &[], workload)).unwrap_err().to_string();
        let files = WorkloadKind::Files.usual();
        assert_eq!(reason("native-pread", files), "the lab cannot count files, which needs a disk");
        let trade = WorkloadKind::Trade.usual();
        assert_eq!(reason("jetty", trade), "the lab cannot count trade, which needs a database");
        let chat = WorkloadKind::Chat.usual();
        let target = Subject::Target(klatch_runner::TargetPlan {
            target: "irc://127.0.0.1:6667".parse().unwrap(),
            java: None,
        });
        let plan = Plan { subject: target, ..plan("native-epoll", &[], chat) };
        let text = check(&plan).unwrap_err().to_string();
        assert!(text.contains("irc://127.0.0.1:6667 runs elsewhere"), "{text}");
    }
}
