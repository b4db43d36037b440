//! The CPUs of each side where both run at the same time: halves of equal cores, and no core in both.

use klatch_host::machine::{core_classes, cores};
use klatch_record::write_cpu_list;

/// Both halves of the CPUs of this process, as lists; `None` if it has only one.
pub(super) fn halves() -> Option<[String; 2]> {
    let of_class = |class: &(&str, Vec<usize>)| class.1.clone();
    let classes: Vec<Vec<usize>> = core_classes().iter().map(of_class).collect();
    halves_of(&cores(), &classes).map(|halves| halves.map(|cpus| write_cpu_list(&cpus)))
}

/// Deals the cores of each class to the halves in turn; one that is left over is used by neither. `cores` are the CPUs of each core.
fn halves_of(cores: &[Vec<usize>], classes: &[Vec<usize>]) -> Option<[Vec<usize>; 2]> {
    // The CPUs of a single core share it whatever is done.
    let apart: Vec<Vec<usize>>;
    let cores = match cores {
        [core] => {
            apart = core.iter().map(|&cpu| vec![cpu]).collect();
            &apart
        }
        cores => cores,
    };
    let class_of = |core: &&Vec<usize>| classes.iter().position(|class| class.contains(&core[0]));
    let mut halves = [Vec::new(), Vec::new()];
    for class in (0..classes.len()).map(Some).chain([None]) {
        let alike: Vec<&Vec<usize>> = cores.iter().filter(|core| class_of(core) == class).collect();
        for pair in alike.chunks_exact(2) {
            halves.iter_mut().zip(pair).for_each(|(half, core)| half.extend_from_slice(core));
        }
    }
    halves.iter_mut().for_each(|half| half.sort_unstable());
    (!halves[0].is_empty()).then_some(halves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_as_many_cores_of_each_class_and_none_in_common() {
        let single = |cpus: std::ops::Range<usize>| cpus.map(|cpu| vec![cpu]).collect::<Vec<_>>();
        assert_eq!(halves_of(&single(0..4), &[]), Some([vec![0, 2], vec![1, 3]]));
        // A mask that does not begin with 0, and a core that is left over.
        assert_eq!(halves_of(&single(5..8), &[]), Some([vec![5], vec![6]]));
        // Two threads a core: both are in one half.
        let threads = [vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]];
        assert_eq!(halves_of(&threads, &[]), Some([vec![0, 2, 4, 6], vec![1, 3, 5, 7]]));
        // Two big cores and four little ones.
        let classes = [vec![0, 1], vec![2, 3, 4, 5]];
        assert_eq!(halves_of(&single(0..6), &classes), Some([vec![0, 2, 4], vec![1, 3, 5]]));
        assert_eq!(halves_of(&[vec![0, 1]], &[]), Some([vec![0], vec![1]]), "two threads of the only core");
        assert_eq!(halves_of(&[vec![0]], &[]), None);
    }
}
