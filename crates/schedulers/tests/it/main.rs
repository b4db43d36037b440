//! Policies as ordinary C.

mod cases;
