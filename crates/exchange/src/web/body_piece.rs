//! The parts in which a body is read.

/// The next part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPiece<'a> {
    /// Bytes of the body, at least one.
    Data(&'a [u8]),
    /// The input is used up, and the body continues.
    NeedMore,
    /// The body is complete. The rest of the input belongs to the next response.
    End,
}
