//! The studies are inside the program, and new files are not seen otherwise.

fn main() {
    println!("cargo::rerun-if-changed=../../studies");
}
