//! What this machine has of what the cells of a study need.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use klatch_lab::{Architecture, BootKernel, Image, LabError, Preparing, machine_image, require_programs};
use klatch_record::lab::Configuration;
use klatch_schedulers::SchedulerSpec;
use thiserror::Error;

use crate::computed::ComputedCell;

/// No kernel or scheduler of a study is on this machine; the lines are those of [`leave_out`].
#[derive(Debug, Error)]
#[error("nothing is left to boot; {}", .0.join("; "))]
pub struct NothingToBoot(Vec<String>);

/// Removes the cells whose kernel or scheduler is not on this machine. Returns a line for each kernel and scheduler, with the way to get it.
///
/// # Errors
/// No cell is left.
pub fn leave_out(cells: &mut Vec<ComputedCell<Configuration>>) -> Result<Vec<String>, NothingToBoot> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    cells.retain(|cell| {
        let missing = missing_kernel(&cell.job.kernel).or_else(|| missing_scheduler(&cell.job.scheduler));
        let is_here = missing.is_none();
        missing.into_iter().for_each(|line| *lines.entry(line).or_default() += 1);
        is_here
    });
    let line = |(line, count): (String, usize)| {
        let cells = if count == 1 { "cell is" } else { "cells are" };
        format!("{count} {cells} left out: {line}")
    };
    let lines = lines.into_iter().map(line).collect();
    if cells.is_empty() { Err(NothingToBoot(lines)) } else { Ok(lines) }
}

fn missing_kernel(name: &str) -> Option<String> {
    if BootKernel::check(name).is_err() {
        return Some(format!("there is no kernel {name} here; get it by `klatch lab get-kernel {name}`"));
    }
    // Without the own one nothing at all could be booted, which is an error.
    let other = Some(Architecture::of_kernel_name(name)).filter(|one| *one != Architecture::default());
    other.and_then(|architecture| require_programs(architecture).err()).map(|error| error.to_string())
}

fn missing_scheduler(name: &str) -> Option<String> {
    let Ok(SchedulerSpec::Program(program)) = name.parse() else { return None };
    program.path().err()?;
    let name = &program.program;
    // Names without a folder are those of the sched_ext project, which are crates.
    let way = match name.contains('/') {
        true => "build it there".to_owned(),
        false => format!(
            "get it by `cargo install {name}`, which needs clang 18 or newer, and put it on the search path"
        ),
    };
    Some(format!("there is no scheduler {name} here; {way}"))
}

/// The kernels of a study by their names, and an image for each architecture.
type Prepared = (BTreeMap<String, BootKernel>, BTreeMap<Architecture, Image>);

/// The kernels of these cells, and the images to boot them with: klatch, and a Java runtime that is made of the JDK of `java`. `progress`
/// receives what is downloaded or built.
///
/// # Errors
/// A kernel, a scheduler or a part of an image is not on this machine and cannot be got.
pub fn prepare(
    cells: &[ComputedCell<Configuration>],
    java: Option<&Path>,
    progress: &dyn Fn(Preparing<'_>),
) -> Result<Prepared, LabError> {
    // Download kernels before the first boot, so that parallel boots do not download the same one.
    let mut kernels = BTreeMap::new();
    for cell in cells {
        if let Entry::Vacant(new) = kernels.entry(cell.job.kernel.clone()) {
            let found = BootKernel::find_bootable(&cell.job.kernel, None, progress)?;
            // It downloads the configuration, if a scheduler needs it.
            machine_image(&Image::empty(found.architecture), &found, &cell.job.scheduler)?;
            new.insert(found);
        }
    }
    let mut images = BTreeMap::new();
    for found in kernels.values() {
        if let Entry::Vacant(new) = images.entry(found.architecture) {
            new.insert(Image::with_java(found.architecture, java, progress)?);
        }
    }
    Ok((kernels, images))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kernel: &str, scheduler: &str) -> ComputedCell<Configuration> {
        let job = Configuration {
            id: String::new(),
            kernel: kernel.to_owned(),
            cpus: 1,
            machine: None,
            scheduler: scheduler.to_owned(),
            varied: Vec::new(),
            seed: 1,
            commands: Vec::new(),
        };
        ComputedCell { id: String::new(), at: BTreeMap::new(), job }
    }

    #[test]
    fn cells_of_what_is_not_here_are_left_out_with_the_way_to_get_it() {
        let mut cells = vec![
            cell("6.18", "kernel"),
            cell("0.1", "kernel"),
            cell("0.1", "o1"),
            cell("6.18", "scx_nowhere --slow"),
            cell("6.18", "./no/scx_mine"),
        ];
        let lines = leave_out(&mut cells).unwrap();
        assert_eq!(cells.len(), 1);
        let expected = [
            "2 cells are left out: there is no kernel 0.1 here; get it by `klatch lab get-kernel 0.1`",
            "1 cell is left out: there is no scheduler ./no/scx_mine here; build it there",
            "1 cell is left out: there is no scheduler scx_nowhere here; get it by `cargo install scx_nowhere`, which needs \
             clang 18 or newer, and put it on the search path",
        ];
        assert_eq!(lines, expected);
        let error = leave_out(&mut vec![cell("0.1", "o1")]).unwrap_err().to_string();
        assert!(error.starts_with("nothing is left to boot; 1 cell is left out"), "{error}");
    }
}
