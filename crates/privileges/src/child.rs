//! What a child process does between fork and exec.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;

use crate::invoker::invoker;

/// Has `work` done in the child, right before its program begins and after all work that was added before.
///
/// # Safety
///
/// The child is a copy of one thread of a process that may have had many. `work` must only make system calls that are safe
/// after fork: it must not allocate, take a lock, panic, or use memory that another thread may have been changing.
pub unsafe fn before_exec(command: &mut Command, work: impl Fn() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the caller promises what `pre_exec` asks for.
    unsafe {
        command.pre_exec(work);
    }
}

/// Starts the program as the invoking user when Klatch runs under sudo, and lets it die with Klatch.
///
/// Call it last: everything added to `command` before is still done with root's rights.
pub fn confine(command: &mut Command) {
    if let Some(invoker) = invoker() {
        match &invoker.home {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        for variable in ["USER", "LOGNAME"] {
            command.env(variable, invoker.name.clone().unwrap_or_else(|| invoker.uid.to_string()));
        }
        let work = || {
            // The groups first and the user last: each step takes rights that the next gives up.
            // SAFETY: the list lives as long as the process, and its length is its own.
            check(unsafe { libc::setgroups(invoker.groups.len(), invoker.groups.as_ptr()) })?;
            let (uid, gid) = (invoker.uid, invoker.gid);
            // SAFETY: these calls take numbers only.
            check(unsafe { libc::setresgid(gid, gid, gid) })?;
            // SAFETY: as above.
            check(unsafe { libc::setresuid(uid, uid, uid) })
        };
        // SAFETY: system calls on numbers and on a list that never changes.
        unsafe { before_exec(command, work) };
    }
    // After the change of user, which makes the kernel forget the signal.
    die_with_parent(command);
}

/// Has the kernel kill the process when the calling thread ends, however it ends. For a program that keeps root's rights;
/// every other one is started by way of [`confine`].
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let work = move || {
        // SAFETY: the call takes numbers only.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
        // SAFETY: the call takes nothing.
        match unsafe { libc::getppid() }.cast_unsigned() == parent {
            true => Ok(()),
            // The parent died before the request, so no signal will come.
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: two system calls on numbers.
    unsafe { before_exec(command, work) };
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_whose_parent_is_gone_already_does_not_begin() {
        let mut command = Command::new("true");
        die_with_parent(&mut command);
        // Spawned by a fork, the program finds a parent other than the one that asked: as if that one had died.
        // SAFETY: fork in a test of one thread's work; the child makes system calls and execs or exits.
        match unsafe { nix::unistd::fork() }.unwrap() {
            nix::unistd::ForkResult::Child => {
                let refused = command.spawn().is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
                // SAFETY: ends the copy without running the test harness's exit handlers.
                unsafe { libc::_exit(if refused { 0 } else { 1 }) }
            }
            nix::unistd::ForkResult::Parent { child } => {
                let status = nix::sys::wait::waitpid(child, None).unwrap();
                assert!(matches!(status, nix::sys::wait::WaitStatus::Exited(_, 0)), "{status:?}");
            }
        }
    }
}
