//! Values of per-CPU BPF maps.
//!
//! The kernel writes one value for each CPU that it can have, however long the buffer is. libbpf takes that number from
//! `/sys/devices/system/cpu/possible`, and what a container puts there may have fewer CPUs or more. So the kernel is asked.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use libbpf_rs::{Error, MapCore, MapHandle, MapType, Result};
use libbpf_sys::{bpf_map_create_opts, bpf_map_lookup_elem, bpf_map_update_elem};

/// More CPUs than a kernel of any architecture can be built for.
const CPUS_MAX: usize = 16_384;

/// CPUs that this kernel can have, including those that can be plugged in later, by its own count.
///
/// # Errors
/// The kernel refuses to make a map: this process may not use BPF.
pub fn possible_cpus() -> Result<usize> {
    static CPUS: OnceLock<usize> = OnceLock::new();
    if let Some(cpus) = CPUS.get() {
        return Ok(*cpus);
    }
    let cpus = count_cpus()?;
    Ok(*CPUS.get_or_init(|| cpus))
}

/// Sets a per-CPU value to 1 on every CPU, and counts how many the kernel returns.
fn count_cpus() -> Result<usize> {
    let options = bpf_map_create_opts { sz: size_of::<bpf_map_create_opts>() as _, ..Default::default() };
    let bytes = (size_of::<u32>() as u32, size_of::<u64>() as u32);
    let map = MapHandle::create(MapType::PercpuArray, Some("klatch_cpus"), bytes.0, bytes.1, 1, &options)?;
    update(map.as_fd(), 0, &vec![1; CPUS_MAX])?;
    let mut values = vec![0; CPUS_MAX];
    lookup(map.as_fd(), 0, &mut values)?;
    Ok(values.iter().take_while(|value| **value == 1).count())
}

/// The 64-bit words of the value under `key`, one list for each CPU of the kernel. The key of the map has four bytes.
///
/// # Errors
/// The map has no such key, or the kernel refuses to read it.
pub fn per_cpu_numbers(map: &(impl MapCore + ?Sized), key: u32) -> Result<Vec<Vec<u64>>> {
    let words = (map.value_size() as usize).div_ceil(size_of::<u64>());
    let mut values = vec![0; possible_cpus()? * words];
    lookup(map.as_fd(), key, &mut values)?;
    Ok(values.chunks_exact(words.max(1)).map(<[u64]>::to_vec).collect())
}

/// Copies the value of each CPU into `values`, which must be long enough for all of them.
fn lookup(map: BorrowedFd<'_>, key: u32, values: &mut [u64]) -> Result<()> {
    // SAFETY: the kernel reads a key of four bytes, and writes the values of its CPUs, for which the callers have made room.
    let returned =
        unsafe { bpf_map_lookup_elem(map.as_raw_fd(), (&raw const key).cast(), values.as_mut_ptr().cast()) };
    check(returned)
}

/// Sets the value of each CPU from `values`, which must be long enough for all of them.
fn update(map: BorrowedFd<'_>, key: u32, values: &[u64]) -> Result<()> {
    // SAFETY: the kernel reads a key of four bytes and the values of its CPUs, of which the caller has enough.
    let returned =
        unsafe { bpf_map_update_elem(map.as_raw_fd(), (&raw const key).cast(), values.as_ptr().cast(), 0) };
    check(returned)
}

/// libbpf returns the negative error number.
fn check(returned: i32) -> Result<()> {
    if returned < 0 { Err(Error::from_raw_os_error(-returned)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs};

    use super::*;

    #[test]
    fn the_kernel_has_at_least_the_cpus_of_this_process() {
        needs!(Need::Bpf);
        let cpus = possible_cpus().unwrap();
        assert!(cpus >= std::thread::available_parallelism().unwrap().get() && cpus < CPUS_MAX, "{cpus}");
        assert_eq!(cpus, libbpf_rs::num_possible_cpus().unwrap(), "does something cover its file?");
    }
}
