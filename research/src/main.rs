//! `cargo run --release -p klatch-research -- COMMAND`

use std::process::ExitCode;

fn main() -> ExitCode {
    klatch_research::main()
}
