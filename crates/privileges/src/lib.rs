//! The rights that Klatch uses: the invoking user's for files and programs, and root's only where they are necessary.
//!
//! Under sudo, [`act_as_invoker`] makes every file access of this process that of the invoking user. [`confine`] starts
//! programs as that user. [`as_root`] takes root's rights over files back for one piece of work.

mod child;
mod folder;
mod invoker;
mod manifest;
mod places;
mod system;

pub use child::{before_exec, confine, die_with_parent};
pub use folder::{FolderError, PrivateFolder};
pub use invoker::{Invoker, InvokerError, act_as_invoker, as_root, invoker, programs_run_as_root};
pub use manifest::{ManifestError, check_manifest, file_has_sum, file_matches, sha256_hex, write_manifest};
pub use places::{cache_folder, cache_path, state_folder};
