//! Runs as the first program of the emulated machine: mounts file systems, takes its job and runs it, sends the answer, powers off.

mod firmware;
mod system;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use klatch_host::machine::IN_LAB;
use klatch_instruments::counters::Counters;
use klatch_instruments::stop::stop_here;

use self::firmware::FirmwareFile;
use crate::image::MODULES;
use crate::job::{Answer, DELIVERY_FILE, END, JOB_FILE, Job, SETTLED_US, Step};

/// Working folder of the commands; its files return with the answer.
const OUT: &str = "/out";

/// Where programs are looked for. Those of the host are at their paths there.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/java/bin:/";

/// Acts as the first program of the emulated machine, and powers it off at the end.
///
/// # Errors
/// This process is not the first one, or the machine cannot be powered off.
pub fn guest() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other(
            "klatch lab guest runs only inside the emulated machine; `klatch help lab` describes it",
        ));
    }
    if let Err(error) = run_job() {
        eprintln!("klatch: the lab: {error}");
    }
    system::power_off()
}

fn run_job() -> io::Result<()> {
    system::prepare()?;
    system::load_modules(Path::new(MODULES))?;
    let job = take_job()?;
    take_delivery().map_err(|error| io::Error::other(format!("the files of the job: {error}")))?;
    if let Some(counters) = Counters::detect() {
        // From the first process on, so that every call is known when counting begins.
        counters.track().map_err(io::Error::other)?;
        // Shows the addresses in /proc/vmallocinfo to this machine's root, who names missed data by them.
        std::fs::write("/proc/sys/kernel/kptr_restrict", "1")?;
    }
    if job.commands.is_empty() {
        let mut shell = Command::new("/bin/sh");
        shell.env("PATH", SEARCH_PATH).current_dir(OUT);
        shell.status()?;
        return Ok(());
    }
    system::sleep_until(job.start_us);
    let mut steps = Vec::new();
    for command in job.commands {
        steps.push(run_step(command)?);
        if steps.last().is_some_and(|step| step.status != Some(0)) {
            break;
        }
    }
    let (files, binary_files) = (BTreeMap::new(), BTreeMap::new());
    let mut answer = Answer { steps, files, binary_files, uptime_us: system::uptime_us() };
    add_files(&mut answer, Path::new(OUT), "")?;
    let mut port = OpenOptions::new().write(true).open(system::port()?)?;
    port.write_all(&serde_json::to_vec(&answer)?)?;
    port.write_all(END.as_bytes())
}

/// The job of this machine. One that is booted for a snapshot has none yet: it stops, and goes on as another one that has.
fn take_job() -> io::Result<Job> {
    let job = || -> io::Result<Option<Job>> {
        Ok(serde_json::from_reader(BufReader::new(FirmwareFile::open(JOB_FILE)?))?)
    };
    if let Some(job) = job()? {
        return Ok(job);
    }
    system::sleep_until(SETTLED_US);
    stop_here();
    job()?.ok_or_else(|| io::Error::other("it went on without a job"))
}

/// Puts the files that came with the job in their places.
fn take_delivery() -> io::Result<()> {
    let mut archive = tar::Archive::new(FirmwareFile::open(DELIVERY_FILE)?);
    archive.set_preserve_mtime(false);
    archive.unpack("/")
}

fn run_step(command: Vec<String>) -> io::Result<Step> {
    let (program, arguments) = match command.split_first() {
        Some((program, arguments)) if program.starts_with('/') => (program.as_str(), arguments),
        _ => ("/klatch", &command[..]),
    };
    let mut program = Command::new(program);
    program.args(arguments).current_dir(OUT).stdin(Stdio::null());
    program.env("PATH", SEARCH_PATH).env(IN_LAB, "1");
    let output = program.output()?;
    Ok(Step {
        command,
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Adds every file below a folder, by its path there.
fn add_files(answer: &mut Answer, folder: &Path, name: &str) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(answer, &entry.path(), &format!("{name}/"))?;
        } else if kind.is_file() {
            match String::from_utf8(std::fs::read(entry.path())?) {
                Ok(text) => answer.files.insert(name, text),
                Err(other) => answer.binary_files.insert(name, BASE64.encode(other.as_bytes())),
            };
        }
    }
    Ok(())
}
