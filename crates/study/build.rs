//! Rebuilds when a file is added to `studies/`, which is compiled into the program.

fn main() {
    println!("cargo::rerun-if-changed=../../studies");
}
