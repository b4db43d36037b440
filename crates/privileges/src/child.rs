//! Work of a child process between fork and exec.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::invoker::invoker;

/// Runs `work` in the child right before exec, after all work that was added earlier.
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

/// Makes `command` run as the invoking user if Klatch runs under sudo, and end with Klatch.
///
/// Call it last: work that was added to `command` earlier still runs with root's rights.
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
            // Groups first and user last: each step needs rights that the next one gives up.
            // SAFETY: the list lives as long as the process, and its length is given.
            check(unsafe { libc::setgroups(invoker.groups.len(), invoker.groups.as_ptr()) })?;
            let (uid, gid) = (invoker.uid, invoker.gid);
            // SAFETY: the call takes only numbers.
            check(unsafe { libc::setresgid(gid, gid, gid) })?;
            // SAFETY: as above.
            check(unsafe { libc::setresuid(uid, uid, uid) })
        };
        // SAFETY: system calls on numbers and on a list that never changes.
        unsafe { before_exec(command, work) };
    }
    // After the change of user, which resets the signal.
    die_with_parent(command);
}

/// Makes the kernel kill the process when the calling thread ends, for whatever reason.
///
/// For programs that keep root's rights; [`confine`] includes it for all others.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let work = move || {
        // SAFETY: the call takes only numbers.
        check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
        // SAFETY: the call has no arguments.
        match unsafe { libc::getppid() }.cast_unsigned() == parent {
            true => Ok(()),
            // The parent ended before the request, so the kernel will send no signal.
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
    fn a_child_without_its_parent_does_not_start() {
        let mut command = Command::new("true");
        die_with_parent(&mut command);
        // The fork spawns the program, so its parent is another process, as if the expected parent had died.
        // SAFETY: fork in a test of one thread's work; the child makes system calls and execs or exits.
        match unsafe { libc::fork() } {
            0 => {
                let refused = command.spawn().is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
                // SAFETY: ends the copy without running the test harness's exit handlers.
                unsafe { libc::_exit(if refused { 0 } else { 1 }) }
            }
            child => {
                let mut status = -1;
                // SAFETY: the kernel writes only `status`.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
            }
        }
    }
}
