//! Instruments compared with what programs of known behaviour did. One test runs at a time: see `shared::exclusive`.

mod jvm;
mod processes;
mod scheduling;
mod shared;
