//! The program `klatch`. Everything is in the library of this crate, so that tests can parse command lines without running them.

use std::process::ExitCode;

fn main() -> ExitCode {
    klatch::main()
}
