//! The symbols of the running kernel.

use std::collections::{HashMap, HashSet};
use std::io;

/// Where the kernel lists its symbols. In an emulated machine each read costs seconds.
pub(crate) const FILE: &str = "/proc/kallsyms";

/// The symbols of the running kernel, its modules and its programs in BPF.
#[derive(Default)]
pub(crate) struct KernelSymbols(String);

/// A symbol of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KernelSymbol<'a> {
    pub(crate) address: u64,
    /// As nm prints it: `t` and `T` are routines.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    /// Whether it is of the kernel's image, and not of a module or a program in BPF.
    pub(crate) is_in_image: bool,
}

impl KernelSymbols {
    /// Asks the kernel. Users without rights see no addresses.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(crate) fn read() -> io::Result<KernelSymbols> {
        Ok(KernelSymbols(std::fs::read_to_string(FILE)?))
    }

    /// All symbols, in the kernel's order.
    pub(crate) fn all(&self) -> impl Iterator<Item = KernelSymbol<'_>> {
        self.0.lines().filter_map(parse)
    }

    /// The addresses of the symbols with these names.
    pub(crate) fn addresses<const N: usize>(&self, names: [&str; N]) -> [Option<u64>; N] {
        let mut found = [None; N];
        for symbol in self.all() {
            if let Some(at) = names.iter().position(|name| *name == symbol.name) {
                found[at].get_or_insert(symbol.address);
            }
        }
        found
    }

    /// Names of the routines that start at these addresses, as far as they have one. A program in BPF is `bpf:NAME`.
    ///
    /// Much cheaper than a symbolizer, which orders all symbols and describes every program in BPF.
    pub(crate) fn names(&self, starts: &HashSet<u64>) -> HashMap<u64, String> {
        let mut names = HashMap::new();
        for symbol in self.all().filter(|symbol| starts.contains(&symbol.address)) {
            // Of several names for an address the first is kept.
            names.entry(symbol.address).or_insert_with(|| without_tag(symbol.name));
        }
        names
    }
}

fn parse(line: &str) -> Option<KernelSymbol<'_>> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let (kind, name) = (words.next()?, words.next()?);
    Some(KernelSymbol { address, kind, name, is_in_image: words.next().is_none() })
}

/// A program in BPF is `bpf_prog_TAG_NAME` to the kernel; the tag changes with every change of the program.
fn without_tag(name: &str) -> String {
    let program = name.strip_prefix("bpf_prog_").and_then(|rest| rest.split_once('_'));
    program.map_or_else(|| name.to_owned(), |(_, program)| format!("bpf:{program}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff82a00000 D runqueues\n\
                        ffffffffc0001000 t bpf_prog_0123456789abcdef_goodness_dispatch\t[bpf]\n\n";

    #[test]
    fn a_line_of_the_symbols_is_read() {
        let symbols = KernelSymbols(TEXT.to_owned());
        let all: Vec<_> = symbols.all().collect();
        assert_eq!(all.len(), 4);
        let start =
            KernelSymbol { address: 0xffff_ffff_8100_0000, kind: "T", name: "_stext", is_in_image: true };
        assert_eq!(all[0], start);
        assert!(!all[3].is_in_image);
        let found = symbols.addresses(["runqueues", "soul", "_text"]);
        assert_eq!(found, [Some(0xffff_ffff_82a0_0000), None, Some(0xffff_ffff_8100_0000)]);
    }

    #[test]
    fn an_address_has_its_first_name_and_a_program_in_bpf_no_tag() {
        let symbols = KernelSymbols(TEXT.to_owned());
        let starts = HashSet::from([0xffff_ffff_8100_0000, 0xffff_ffff_c000_1000, 1]);
        let names = symbols.names(&starts);
        assert_eq!(names.len(), 2);
        assert_eq!(names[&0xffff_ffff_8100_0000], "_stext");
        assert_eq!(names[&0xffff_ffff_c000_1000], "bpf:goodness_dispatch");
    }
}
