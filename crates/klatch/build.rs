//! Passes the commit of the source to the program.

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
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
