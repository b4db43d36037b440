//! The rights that Klatch uses: the invoking user's for files and programs, and root's only where they are necessary.
//!
//! Under sudo, [`act_as_invoker`] makes every file access of this process that of the invoking user, and a [`Program`] runs as
//! that user. [`as_root`] takes root's rights over files back for one piece of work.

mod folder;
mod invoker;
mod manifest;
mod places;
mod plain_file;
mod private;
mod private_group;
mod program;
mod readable;
mod root_program;
mod service_user;
mod system;

pub use folder::{FolderError, PrivateFolder, cannot_write};
pub use invoker::{
    Invoker, InvokerError, act_as_invoker, as_root, file_uid, invoker, programs_run_as_root, user_name,
};
pub use manifest::{
    ManifestError, check_manifest, file_has_sum, file_matches, sha256_hex, sha256_of, write_manifest,
};
pub use places::{cache_folder, cache_path, state_folder};
pub use plain_file::{open_plain, open_plain_in};
pub use private::{create_anew, temporary_folder, temporary_folder_in, write_private};
pub use program::Program;
pub use readable::readable_cache_folder;
pub use root_program::program_for_root;
pub use service_user::{ServiceUser, ServiceUserError};
