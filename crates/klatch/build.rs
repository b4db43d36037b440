//! Passes the commit of the source and the profile of the build to the program.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // The commit changes with HEAD, and "-dirty" with the index. Cargo cannot detect either by itself.
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/index");
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).map(|commit| {
        let changed =
            git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|list| !list.is_empty());
        if changed { commit + "-dirty" } else { commit }
    });
    println!("cargo::rustc-env=KLATCH_COMMIT={}", commit.unwrap_or_default());
    // Cargo's own variable PROFILE is `release` for all profiles that inherit from it; the folder has the real name:
    // PROFILE/build/klatch-HASH/out.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let profile = out.ancestors().nth(3).and_then(Path::file_name).expect("the folder of a profile");
    println!("cargo::rustc-env=KLATCH_PROFILE={}", profile.display());
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
