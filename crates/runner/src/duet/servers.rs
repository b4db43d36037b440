//! Two servers, each with its own crowd: the sides of an ordinary duet.

use klatch_record::{Slice, SlicePair};

use crate::RunError;
use crate::duet::observe::{Observer, Observing};
use crate::duet::placement::Placement;
use crate::duet::sides::{Measured, Sides};

/// Two servers, each with its own crowd.
pub(crate) struct Servers<'a, 'o> {
    pub(crate) sides: [Measured<'a>; 2],
    /// Who observes them, if somebody does.
    pub(crate) observer: Option<&'o mut Observer>,
    pub(crate) observing: Option<Observing>,
}

impl Sides for Servers<'_, '_> {
    fn begin_slice(&mut self, side: usize, placement: Option<Placement>) -> Result<(), RunError> {
        self.sides[side].begin_slice(placement);
        Ok(())
    }

    fn end_slice(&mut self, side: usize) -> Result<Option<Slice>, RunError> {
        self.sides[side].end_slice()
    }

    fn warmed_up(&mut self) {
        self.observing = self.observer.as_mut().and_then(|observer| observer.begin(&self.sides));
    }

    fn cpu_ns(&self, side: usize) -> u64 {
        self.sides[side].cpu_ns()
    }

    fn all_cpu_ns(&self) -> u64 {
        self.sides.iter().map(Measured::cpu_ns).sum()
    }
}

impl Servers<'_, '_> {
    /// Ends the observation of a start, if there is one, after the last of these pairs.
    ///
    /// # Errors
    /// The user interrupted Klatch, or a crowd hangs.
    pub(crate) fn observed(&mut self, pairs: &[SlicePair]) -> Result<(), RunError> {
        let Some((observer, observing)) = self.observer.take().zip(self.observing.take()) else {
            return Ok(());
        };
        observer.end(observing, &mut self.sides, pairs)
    }
}
