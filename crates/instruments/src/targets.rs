//! The processes that instruments observe.

use klatch_record::observed::Sides;

/// Process ids on this machine; either list is empty if that side runs elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Processes of the server.
    pub servers: Vec<u32>,
    /// Processes of the crowds.
    pub crowds: Vec<u32>,
}

/// The server or the crowd, as `enum` in klatch.bpf.h numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The processes of [`Targets::servers`].
    Server = 1,
    /// The processes of [`Targets::crowds`].
    Crowd = 2,
}

impl Targets {
    /// The side of a process; `None` for others.
    pub(crate) fn side_of(&self, pid: u32) -> Option<Side> {
        match () {
            () if self.servers.contains(&pid) => Some(Side::Server),
            () if self.crowds.contains(&pid) => Some(Side::Crowd),
            () => None,
        }
    }

    /// Results of `read` for each side that has processes on this machine.
    pub(crate) fn sides<T, E>(&self, mut read: impl FnMut(Side) -> Result<T, E>) -> Result<Sides<T>, E> {
        let server = (!self.servers.is_empty()).then(|| read(Side::Server)).transpose()?;
        let crowd = (!self.crowds.is_empty()).then(|| read(Side::Crowd)).transpose()?;
        Ok(Sides { server, crowd })
    }
}
