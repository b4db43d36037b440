//! Facts about the machine, against what its programs say of themselves.

mod gc;
