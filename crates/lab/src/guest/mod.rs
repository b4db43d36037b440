//! Inside the emulated machine, where klatch is the first program: prepares it, does the job, answers, and ends it.

mod system;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::job::{Answer, END, Job, Step};

/// Where the job may leave files; they come back with the answer.
const OUT: &str = "/out";

/// Does what the first program of the machine does; it does not come back.
///
/// # Errors
/// Something is not as in the lab. The machine ends then, too, but without an answer.
pub fn guest() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("klatch lab guest is for the inside of the lab: klatch lab --help"));
    }
    let done = work();
    if let Err(error) = &done {
        eprintln!("klatch: the lab: {error}");
    }
    system::power_off()
}

fn work() -> io::Result<()> {
    system::prepare()?;
    let job: Job = serde_json::from_slice(&std::fs::read("/job.json")?)?;
    if job.commands.is_empty() {
        let mut shell = Command::new("/bin/sh");
        shell.env("PATH", "/bin:/").current_dir(OUT);
        shell.status()?;
        return Ok(());
    }
    system::sleep_until(job.start_us);
    let mut steps = Vec::new();
    for command in job.commands {
        steps.push(step(command)?);
        if steps.last().is_some_and(|step| step.status != Some(0)) {
            break;
        }
    }
    let uptime_us = system::uptime_us();
    let answer = Answer { steps, files: files(Path::new(OUT), "")?, uptime_us };
    let mut port = OpenOptions::new().write(true).open(system::port()?)?;
    port.write_all(&serde_json::to_vec(&answer)?)?;
    port.write_all(END.as_bytes())
}

fn step(command: Vec<String>) -> io::Result<Step> {
    let mut klatch = Command::new("/klatch");
    klatch.args(&command).current_dir(OUT).stdin(Stdio::null()).env("PATH", "/bin:/java/bin:/");
    let output = klatch.output()?;
    Ok(Step {
        command,
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// All that is text below a folder.
fn files(folder: &Path, name: &str) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{name}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            all.append(&mut files(&entry.path(), &format!("{name}/"))?);
        } else if kind.is_file()
            && let Ok(text) = String::from_utf8(std::fs::read(entry.path())?)
        {
            all.insert(name, text);
        }
    }
    Ok(all)
}
