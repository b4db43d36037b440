//! Prepares the emulated machine for ordinary programs, and powers it off.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Mounts the usual file systems and brings the loopback interface up.
pub(super) fn prepare() -> io::Result<()> {
    for (kind, at) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/tmp"),
        ("tmpfs", "/out"),
        ("debugfs", "/sys/kernel/debug"),
    ] {
        match mount(kind, at, kind, MountFlags::empty(), None) {
            // The kernel may have mounted /dev already.
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            // A kernel may be built without it.
            Err(_) if kind == "debugfs" => {}
            Err(errno) => return Err(io::Error::other(format!("cannot mount {at}: {errno}"))),
        }
    }
    loopback_up()
}

/// Loads the modules in a folder, in the order of their names. There may be none.
pub(super) fn load_modules(folder: &Path) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let failed = |errno| io::Error::other(format!("cannot load {}: {errno}", path.display()));
        finit_module(File::open(&path)?, c"", 0).map_err(failed)?;
    }
    Ok(())
}

/// The virtio-serial port for the answer.
pub(super) fn port() -> io::Result<PathBuf> {
    let ports = std::fs::read_dir("/sys/class/virtio-ports")?;
    let first =
        ports.flatten().next().ok_or_else(|| io::Error::other("the machine has no virtio-serial port"))?;
    Ok(PathBuf::from("/dev").join(first.file_name()))
}

/// Time since the boot, µs.
pub(super) fn uptime_us() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// Sleeps until the machine has run for this time, µs.
pub(super) fn sleep_until(us: u64) {
    let at = Timespec { tv_sec: (us / 1_000_000) as i64, tv_nsec: (us % 1_000_000 * 1_000) as i64 };
    // No signal can interrupt the sleep here, and a time in the past returns at once.
    let _ = clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &at);
}

/// Powers the machine off; returns only on an error.
pub(super) fn power_off() -> io::Result<()> {
    rustix::fs::sync();
    Ok(reboot(RebootCommand::PowerOff)?)
}

fn loopback_up() -> io::Result<()> {
    // SAFETY: all zeros is a valid value of this plain C struct; the kernel only reads it, and the socket is closed below.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        let done = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request);
        let error = io::Error::last_os_error();
        libc::close(socket);
        if done < 0 { Err(error) } else { Ok(()) }
    }
}
