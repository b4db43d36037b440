//! What the kernel keeps at an address: asked of the kernel itself, which must be one of the lab's: it needs the symbols of variables.

use std::collections::HashMap;

use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Bpf, bpf_error, numbers, object};
use crate::error::InstrumentError;
use crate::kernel::Kernel;

const CODE: &[u8] = object!("places");
/// Addresses of one question, as `ADDRESSES` of places.bpf.c.
const ADDRESSES: usize = 4096;

/// Names of the slab caches that hold these addresses; addresses in no slab are left out.
///
/// # Errors
/// The kernel cannot tell, as those before Linux 6.13.
pub(crate) fn slab_caches(
    kernel: &Kernel,
    addresses: &[u64],
) -> Result<HashMap<u64, String>, InstrumentError> {
    let bpf = Bpf::load(CODE, kernel, &[])?;
    let table = bpf.map("addresses")?;
    let mut names = HashMap::new();
    for part in addresses.chunks(ADDRESSES) {
        for (at, address) in (0_u32..).zip(part) {
            // `struct address`: the address and its answer.
            let mut entry = [0; 40];
            entry[..8].copy_from_slice(&address.to_ne_bytes());
            table.update(&at.to_ne_bytes(), &entry, MapFlags::ANY).map_err(bpf_error)?;
        }
        bpf.call("name_caches", &mut (part.len() as u32).to_ne_bytes())?;
        for (at, address) in (0_u32..).zip(part) {
            let entry =
                table.lookup(&at.to_ne_bytes(), MapFlags::ANY).map_err(bpf_error)?.unwrap_or_default();
            let name = String::from_utf8_lossy(entry.get(8..).unwrap_or_default()).into_owned();
            let name = name.split('\0').next().unwrap_or_default();
            if !name.is_empty() {
                names.insert(*address, name.to_owned());
            }
        }
    }
    Ok(names)
}

/// Addresses of the run queue of each CPU.
///
/// # Errors
/// As [`slab_caches`].
pub(crate) fn run_queues(kernel: &Kernel) -> Result<Vec<u64>, InstrumentError> {
    let bpf = Bpf::load(CODE, kernel, &[])?;
    bpf.call("find_queues", &mut [])?;
    let table = bpf.map("queues")?;
    let mut queues = Vec::new();
    for cpu in table.keys() {
        let address =
            table.lookup(&cpu, MapFlags::ANY).map_err(bpf_error)?.map_or(0, |bytes| numbers(&bytes)[0]);
        queues.push(address);
    }
    queues.retain(|address| *address != 0);
    Ok(queues)
}
