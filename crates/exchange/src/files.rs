//! The contents of the files of workload `files`: each page is a function of the seed, the file and the page's number, so a reader
//! checks it without a copy. Definition: `docs/reference/files.md`.

use crate::random::{Part, output, part_seed};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
/// Bytes at the beginning of a page that name its file and its number.
const HEAD: usize = 16;
/// Places in the table at which the rest of a page may begin. A power of two.
const PLACES: u64 = 8192;
/// The table is small enough for a second-level cache, so that checks use little of the cache that reading uses.
const TABLE_BYTES: usize = PLACES as usize * 8 + PAGE_BYTES;

/// The contents of all files of a seed.
#[derive(Clone)]
pub struct Pages {
    seed: u64,
    table: Box<[u8]>,
}

impl Pages {
    /// The contents for this seed.
    pub fn new(seed: u64) -> Pages {
        let of_table = part_seed(seed, Part::Table);
        let words = (0..TABLE_BYTES as u64 / 8).flat_map(|word| output(of_table, word).to_le_bytes());
        Pages { seed: part_seed(seed, Part::Pages), table: words.collect() }
    }

    /// Writes the page of a file into `page`.
    ///
    /// # Panics
    /// `page` does not have [`PAGE_BYTES`].
    pub fn write(&self, file: u32, number: u32, page: &mut [u8]) {
        let (head, rest) = page.split_at_mut(HEAD);
        let (name, place) = self.page(file, number);
        head.copy_from_slice(&name);
        rest.copy_from_slice(&self.table[place..][..PAGE_BYTES - HEAD]);
    }

    /// The number of the first page that is not as it must be, among the whole pages of `block`, which begins with page `first` of
    /// the file.
    pub fn first_wrong(&self, file: u32, first: u32, block: &[u8]) -> Option<u32> {
        let wrong = block.chunks(PAGE_BYTES).zip(first..).find(|(page, number)| {
            let (name, place) = self.page(file, *number);
            page.len() != PAGE_BYTES
                || page[..HEAD] != name
                || page[HEAD..] != self.table[place..][..PAGE_BYTES - HEAD]
        });
        wrong.map(|(_, number)| number)
    }

    /// The first bytes of a page, and where its rest begins in the table.
    fn page(&self, file: u32, number: u32) -> ([u8; HEAD], usize) {
        let name = u64::from(file) << 32 | u64::from(number);
        let hash = output(self.seed, name);
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&name.to_le_bytes());
        head[8..].copy_from_slice(&hash.to_le_bytes());
        (head, (hash % PLACES) as usize * 8)
    }
}

/// The name of a file within the folder of the files.
pub fn file_name(file: u32) -> String {
    format!("file{file:04}")
}

/// The blocks that a reader reads, in order. It never ends.
pub struct BlockOrder {
    random: bool,
    seed: u64,
    drawn: u64,
    blocks: u64,
    next: u64,
    per_file: u64,
}

/// The place of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the file, from 0.
    pub file: u32,
    /// Number of the block within the file, from 0.
    pub block: u32,
}

impl BlockOrder {
    /// The order of reader number `reader` over `files` files of `per_file` blocks each. A sequential reader begins with file number
    /// `reader` modulo the number of files.
    pub fn new(seed: u64, reader: u32, files: u32, per_file: u64, random: bool) -> BlockOrder {
        BlockOrder {
            random,
            seed: output(part_seed(seed, Part::Readers), reader.into()),
            drawn: 0,
            blocks: u64::from(files) * per_file,
            next: u64::from(reader % files) * per_file,
            per_file,
        }
    }
}

impl Iterator for BlockOrder {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        let index = if self.random {
            let bits = output(self.seed, self.drawn);
            self.drawn += 1;
            // The upper bits of a product are a number below `blocks`.
            ((u128::from(bits) * u128::from(self.blocks)) >> 64) as u64
        } else {
            let index = self.next;
            self.next = (index + 1) % self.blocks;
            index
        };
        Some(Place { file: (index / self.per_file) as u32, block: (index % self.per_file) as u32 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(pages: &Pages, file: u32, first: u32, count: usize) -> Vec<u8> {
        let mut block = vec![0; count * PAGE_BYTES];
        for (page, number) in block.chunks_mut(PAGE_BYTES).zip(first..) {
            pages.write(file, number, page);
        }
        block
    }

    proptest! {
        #[test]
        fn any_changed_bit_is_found_with_its_page(
            file in 0_u32..1000, first in 0_u32..1 << 20, count in 1_usize..5, at in any::<usize>(), bit in 0..8,
        ) {
            let pages = Pages::new(7);
            let mut bytes = block(&pages, file, first, count);
            prop_assert_eq!(pages.first_wrong(file, first, &bytes), None);
            prop_assert_eq!(pages.first_wrong(file + 1, first, &bytes), Some(first));
            prop_assert_eq!(pages.first_wrong(file, first + 1, &bytes), Some(first + 1));
            let at = at % bytes.len();
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(pages.first_wrong(file, first, &bytes), Some(first + (at / PAGE_BYTES) as u32));
        }
    }

    #[test]
    fn a_short_block_is_wrong() {
        let pages = Pages::new(1);
        let bytes = block(&pages, 0, 0, 2);
        assert_eq!(pages.first_wrong(0, 0, &bytes[..PAGE_BYTES + 1]), Some(1));
    }

    #[test]
    fn random_order_reaches_every_block_about_as_often() {
        let mut counts = [0_u32; 32];
        for place in BlockOrder::new(1, 3, 4, 8, true).take(32_000) {
            counts[(place.file * 8 + place.block) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn sequential_readers_begin_with_files_of_their_own() {
        let order = |reader| -> Vec<(u32, u32)> {
            BlockOrder::new(1, reader, 2, 2, false).take(5).map(|place| (place.file, place.block)).collect()
        };
        assert_eq!(order(0), [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0)]);
        assert_eq!(order(3), [(1, 0), (1, 1), (0, 0), (0, 1), (1, 0)]);
    }
}
