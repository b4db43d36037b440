//! Questions to the kernel about addresses. It must be one of the lab's: the programs in BPF need the symbols of its variables.

use std::collections::HashMap;

use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Bpf, bpf_error, numbers, object};
use crate::error::InstrumentError;
use crate::kernel::Kernel;

const CODE: &[u8] = object!("places");
/// Addresses of one question, as `ADDRESSES` of places.bpf.c.
const ADDRESSES: usize = 4096;

/// The programs that ask the kernel.
pub(crate) struct Places(Bpf);

impl Places {
    /// Loads the programs.
    ///
    /// # Errors
    /// The kernel is older than Linux 6.13, or has no symbols of variables.
    pub(crate) fn load(kernel: &Kernel) -> Result<Places, InstrumentError> {
        Ok(Places(Bpf::load(CODE, kernel, &[])?))
    }

    /// Names of the slab caches that hold these addresses; addresses in no slab are left out.
    pub(crate) fn slab_caches(&self, addresses: &[u64]) -> Result<HashMap<u64, String>, InstrumentError> {
        let table = self.0.map("addresses")?;
        let mut names = HashMap::new();
        for part in addresses.chunks(ADDRESSES) {
            for (at, address) in (0_u32..).zip(part) {
                // `struct address`: the address and its answer.
                let mut entry = [0; 40];
                entry[..8].copy_from_slice(&address.to_ne_bytes());
                table.update(&at.to_ne_bytes(), &entry, MapFlags::ANY).map_err(bpf_error)?;
            }
            self.0.call("name_caches", &mut (part.len() as u32).to_ne_bytes())?;
            for (at, address) in (0_u32..).zip(part) {
                let entry = table.lookup(&at.to_ne_bytes(), MapFlags::ANY).map_err(bpf_error)?;
                let entry = entry.unwrap_or_default();
                let name = String::from_utf8_lossy(entry.get(8..).unwrap_or_default());
                if let Some(name) = name.split('\0').next().filter(|name| !name.is_empty()) {
                    names.insert(*address, name.to_owned());
                }
            }
        }
        Ok(names)
    }

    /// Addresses of the run queue of each CPU.
    pub(crate) fn run_queues(&self) -> Result<Vec<u64>, InstrumentError> {
        self.0.call("find_queues", &mut [])?;
        let table = self.0.map("queues")?;
        let mut queues = Vec::new();
        for cpu in table.keys() {
            let address = table.lookup(&cpu, MapFlags::ANY).map_err(bpf_error)?;
            queues.push(address.map_or(0, |bytes| numbers(&bytes)[0]));
        }
        queues.retain(|address| *address != 0);
        Ok(queues)
    }
}
