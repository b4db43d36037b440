//! Simulated runs against the lab and each other.

mod lab;
mod runs;
