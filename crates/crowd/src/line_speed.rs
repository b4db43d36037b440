//! The speed at which a line takes bytes, as a modem or an access network of that speed would.

/// Bytes that a line reads at a time. A small receive buffer holds about one such sip.
const SIP_BYTES: usize = 16 * 1024;
/// The receive buffer that a line asks for. The kernel doubles it for its own bookkeeping.
pub(crate) const RECEIVE_BUFFER_BYTES: usize = 32 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineSpeed {
    kbit_per_s: u32,
}

impl LineSpeed {
    pub(crate) fn new(kbit_per_s: u32) -> LineSpeed {
        LineSpeed { kbit_per_s }
    }

    /// Most bytes of one read.
    pub(crate) fn sip_bytes(self) -> usize {
        SIP_BYTES
    }

    /// The time that the line needs for these bytes, ns.
    pub(crate) fn ns_for(self, bytes: usize) -> u64 {
        bytes as u64 * 8_000_000 / u64::from(self.kbit_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_needs_its_time_for_its_bytes() {
        assert_eq!(LineSpeed::new(400).ns_for(50_000), 1_000_000_000);
        assert_eq!(LineSpeed::new(56).ns_for(7), 1_000_000);
    }
}
