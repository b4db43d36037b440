//! The user database and the rights of threads over files, by the C library: rustix offers neither.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr};
use std::io::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Largest entry of the user database that is read, in bytes.
const ENTRY_BYTES_MAX: usize = 1 << 20;

/// An entry of the user database.
pub(crate) struct User {
    pub(crate) name: CString,
    /// Id of the primary group.
    pub(crate) gid: u32,
    pub(crate) home: PathBuf,
}

/// The entry of user `uid`; `None` if there is none.
pub(crate) fn user(uid: u32) -> Result<Option<User>> {
    let mut buffer: Vec<libc::c_char> = vec![0; 1024];
    loop {
        let mut result = std::ptr::null_mut();
        // SAFETY: all zeros is a valid value of this plain C struct.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        // SAFETY: all pointers are valid during the call, and the buffer has the given length.
        let error = unsafe {
            libc::getpwuid_r(uid, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut result)
        };
        match error {
            0 if result.is_null() => return Ok(None),
            0 => {
                // SAFETY: after success both fields point to strings in `buffer`, which still exists.
                let (name, home) = unsafe { (CStr::from_ptr(entry.pw_name), CStr::from_ptr(entry.pw_dir)) };
                let home = PathBuf::from(OsStr::from_bytes(home.to_bytes()));
                return Ok(Some(User { name: name.to_owned(), gid: entry.pw_gid, home }));
            }
            libc::ERANGE if buffer.len() < ENTRY_BYTES_MAX => buffer.resize(buffer.len() * 2, 0),
            error => return Err(Error::from_raw_os_error(error)),
        }
    }
}

/// User id and id of the primary group of the user `name`; `None` if there is none.
pub(crate) fn user_named(name: &CStr) -> Result<Option<(u32, u32)>> {
    let mut buffer: Vec<libc::c_char> = vec![0; 1024];
    loop {
        let mut result = std::ptr::null_mut();
        // SAFETY: all zeros is a valid value of this plain C struct.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        // SAFETY: all pointers are valid during the call, and the buffer has the given length.
        let error = unsafe {
            libc::getpwnam_r(
                name.as_ptr(),
                &raw mut entry,
                buffer.as_mut_ptr(),
                buffer.len(),
                &raw mut result,
            )
        };
        match error {
            0 if result.is_null() => return Ok(None),
            0 => return Ok(Some((entry.pw_uid, entry.pw_gid))),
            libc::ERANGE if buffer.len() < ENTRY_BYTES_MAX => buffer.resize(buffer.len() * 2, 0),
            error => return Err(Error::from_raw_os_error(error)),
        }
    }
}

/// All groups of the user `name`, including `gid`.
pub(crate) fn groups(name: &CStr, gid: u32) -> Result<Vec<u32>> {
    // The kernel allows at most 65,536 groups.
    let mut groups = vec![0; 1 << 16];
    let mut count = groups.len() as libc::c_int;
    // SAFETY: `name` is a C string, and `groups` has room for `count` ids.
    if unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut count) } < 0 {
        return Err(Error::other("the user is in more than 65,536 groups"));
    }
    groups.truncate(count as usize);
    Ok(groups)
}

/// Sets the supplementary groups of all threads of this process.
pub(crate) fn set_groups(groups: &[u32]) -> Result<()> {
    // SAFETY: the kernel reads `groups`, whose length is given.
    if unsafe { libc::setgroups(groups.len(), groups.as_ptr()) } < 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}

/// Sets the user id for file accesses of the calling thread. Returns the previous one, also if the kernel refuses.
pub(crate) fn set_file_uid(uid: u32) -> u32 {
    // SAFETY: the call takes only a number.
    unsafe { libc::setfsuid(uid) }.cast_unsigned()
}

/// Sets the group id for file accesses of the calling thread.
pub(crate) fn set_file_gid(gid: u32) {
    // SAFETY: the call takes only a number.
    unsafe { libc::setfsgid(gid) };
}
