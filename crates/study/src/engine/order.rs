//! The order of cells within a block. It is random, so that drift of the machine affects all cells alike, and repeatable
//! for a seed, so that an interrupted study continues in the same order.

/// The numbers 0..count in the order of `block`.
pub(crate) fn order(seed: u64, block: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    fastrand::Rng::with_seed(seed ^ (u64::from(block) << 32)).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_all_cells_in_an_order_of_its_own_that_the_seed_repeats() {
        let blocks: Vec<Vec<usize>> = (1..=20).map(|block| order(7, block, 6)).collect();
        for block in &blocks {
            let mut sorted = block.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        assert!(blocks.iter().any(|block| *block != blocks[0]));
        assert_eq!(blocks[4], order(7, 5, 6));
        assert!((1..=20).any(|block| order(7, block, 6) != order(8, block, 6)));
    }
}
