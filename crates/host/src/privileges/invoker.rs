//! The invoking user: the one that ran sudo to start Klatch.

use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::geteuid;
use thiserror::Error;

use crate::privileges::system::{groups, set_file_gid, set_file_uid, set_groups, user};

static INVOKER: OnceLock<Option<Invoker>> = OnceLock::new();

/// The user who started this process through sudo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invoker {
    /// User id, from `SUDO_UID`; never 0.
    pub uid: u32,
    /// Primary group id, from `SUDO_GID`.
    pub gid: u32,
    /// All groups, the primary one included.
    pub groups: Vec<u32>,
    /// Login name; `None` if the user database has no entry for the id.
    pub name: Option<String>,
    /// Home folder; `None` if the user database has no entry for the id.
    pub home: Option<PathBuf>,
}

/// The rights of the invoking user cannot be assumed.
#[derive(Debug, Error)]
pub enum InvokerError {
    /// `SUDO_UID` or `SUDO_GID` holds no id.
    #[error("{name} is {value:?}, which is not a numeric id; run klatch through sudo, or unset {name}")]
    Variable {
        /// Name of the environment variable.
        name: &'static str,
        /// Its value, which is no id.
        value: String,
    },
    /// A system call failed.
    #[error("cannot {what} of the invoking user {uid}")]
    System {
        /// The failed operation, as a verb phrase.
        what: &'static str,
        /// Id of the invoking user.
        uid: u32,
        /// The error of the system call.
        #[source]
        source: std::io::Error,
    },
}

/// Gives all file accesses of this process the rights of the invoking user; does nothing without sudo.
///
/// Call it before the first thread starts: threads inherit these rights. The effective user stays root, so [`as_root`] and
/// capabilities that do not concern files keep working.
///
/// # Errors
/// `SUDO_UID` or `SUDO_GID` is malformed, or the kernel refuses the change.
pub fn act_as_invoker() -> Result<(), InvokerError> {
    let invoker = if geteuid().is_root() { from_sudo(|name| std::env::var(name).ok())? } else { None };
    if let Some(invoker) = &invoker {
        let failed = |what, source: std::io::Error| InvokerError::System { what, uid: invoker.uid, source };
        set_groups(&invoker.groups).map_err(|error| failed("assume the groups", error))?;
        assume(invoker.uid, invoker.gid);
        if file_uid() != invoker.uid {
            return Err(failed("assume the file rights", Errno::PERM.into()));
        }
    }
    // A second call reads the same variables.
    let _ = INVOKER.set(invoker);
    Ok(())
}

/// The invoking user, as determined by [`act_as_invoker`].
pub fn invoker() -> Option<&'static Invoker> {
    INVOKER.get()?.as_ref()
}

/// Whether every [`Program`](crate::privileges::Program) runs as root.
pub fn programs_run_as_root() -> bool {
    geteuid().is_root() && invoker().is_none()
}

/// Runs `work` with root's rights over files, on the calling thread only.
pub fn as_root<T>(work: impl FnOnce() -> T) -> T {
    struct Restore<'a>(&'a Invoker);
    impl Drop for Restore<'_> {
        fn drop(&mut self) {
            assume(self.0.uid, self.0.gid);
        }
    }
    let _restore = invoker().map(|invoker| {
        assume(0, 0);
        Restore(invoker)
    });
    work()
}

/// The user whose rights this thread's file accesses have, by id.
pub fn file_uid() -> u32 {
    // An invalid id changes nothing, and the call returns the current one.
    set_file_uid(u32::MAX)
}

/// Login name of a user; `None` if the user database has no entry for the id, or one that is no text.
pub fn user_name(uid: u32) -> Option<String> {
    user(uid).ok()??.name.into_string().ok()
}

/// Sets user and group for file accesses; the group first, because changing it needs rights that the user may lack.
fn assume(uid: u32, gid: u32) {
    set_file_gid(gid);
    set_file_uid(uid);
}

fn from_sudo(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Invoker>, InvokerError> {
    let id = |name: &'static str| {
        let Some(value) = variable(name) else { return Ok(None) };
        // The largest id means "no change" to the kernel.
        match value.parse::<u32>() {
            Ok(id) if id != u32::MAX => Ok(Some(id)),
            _ => Err(InvokerError::Variable { name, value }),
        }
    };
    let (Some(uid), gid) = (id("SUDO_UID")?, id("SUDO_GID")?) else { return Ok(None) };
    if uid == 0 {
        return Ok(None);
    }
    let failed = |source| InvokerError::System { what: "read the groups and home", uid, source };
    let user = user(uid).map_err(failed)?;
    let gid = gid.or(user.as_ref().map(|user| user.gid)).unwrap_or(uid);
    let groups = match &user {
        Some(user) => groups(&user.name, gid).map_err(failed)?,
        None => vec![gid],
    };
    Ok(Some(Invoker {
        uid,
        gid,
        groups,
        name: user.as_ref().map(|user| user.name.to_string_lossy().into_owned()),
        home: user.map(|user| user.home),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sudo(uid: &str, gid: Option<&str>) -> Result<Option<Invoker>, String> {
        let variable = |name: &str| match name {
            "SUDO_UID" => Some(uid.to_owned()),
            _ => gid.map(str::to_owned),
        };
        from_sudo(variable).map_err(|error| error.to_string())
    }

    #[test]
    fn sudo_names_the_invoker_and_the_user_database_adds_home_and_groups() {
        let nobody = sudo("65534", Some("65534")).unwrap().unwrap();
        assert_eq!((nobody.uid, nobody.gid, nobody.name.as_deref()), (65534, 65534, Some("nobody")));
        assert_eq!(nobody.groups, [65534]);
        let unknown = sudo("3999999999", Some("7")).unwrap().unwrap();
        assert_eq!((unknown.gid, unknown.groups, unknown.home), (7, vec![7], None));
    }

    #[test]
    fn root_and_absence_are_no_invoker() {
        assert_eq!(from_sudo(|_| None).unwrap(), None);
        assert_eq!(sudo("0", Some("0")).unwrap(), None);
    }

    #[test]
    fn malformed_ids_are_refused() {
        for wrong in ["", "-1", "4294967295", "4294967296", "ann", "1 2"] {
            assert!(sudo(wrong, Some("1")).unwrap_err().contains("SUDO_UID"), "{wrong}");
        }
        assert!(sudo("65534", Some("wheel")).unwrap_err().contains("SUDO_GID"));
    }
}
