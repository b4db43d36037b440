//! Lets a program that Klatch starts have an open file.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd;

use klatch_host::privileges::Program;

/// Leaves the file open in the program, which must be started before the file is dropped. Returns its descriptor there.
pub(crate) fn inherit(program: &mut Program, file: &File) -> i32 {
    let fd = file.as_raw_fd();
    let work = move || {
        // SAFETY: the call takes only numbers.
        match unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: one system call on numbers.
    unsafe { program.before_exec(work) };
    fd
}
