//! Simulated runs against the lab, papers and each other.

mod lab;
mod papers;
mod runs;
