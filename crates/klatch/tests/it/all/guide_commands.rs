//! The commands of README and guide that take long.

#[test]
fn long_commands_of_readme_and_guide_work_when_shortened() {
    crate::guide_commands::run_long_ones();
}
