#!/usr/bin/env bash
# Runs the unit tests of all crates for arm64 on another architecture, under QEMU's user-mode emulation. Ends with how many passed, and
# with those that did not run and why; any failure ends it.
# usage: arm64-tests.sh [FILE]        FILE has what cross.sh arm64 tests printed; by default that is called first
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=${1:-$work/programs}
[ $# -gt 0 ] || scripts/cross.sh arm64 tests >"$programs"
export KLATCH_TEST_NOT_RUN=$work/not-run PROGRAMS=$programs LEFT_OUT=$work/left-out WORK=$work RUST_TEST_THREADS=${RUST_TEST_THREADS:-2}
: >"$KLATCH_TEST_NOT_RUN"

# Crate, test, what the emulation of QEMU 7.2 lacks or why else it does not run.
cat >"$LEFT_OUT" <<'END'
crowd addresses::tests::source_addresses_take_turns_and_are_of_the_family_of_the_server (no IP_BIND_ADDRESS_NO_PORT)
crowd connections::tests::local_users_connect_from_several_addresses (no IP_BIND_ADDRESS_NO_PORT)
crowd readers::tests::a_changed_page_is_a_fault_with_its_file_and_number (no io_uring)
crowd readers::tests::a_pause_stops_the_readers_and_their_clock (no io_uring)
crowd readers::tests::every_model_reads_and_checks_blocks_in_both_orders (no io_uring)
crowd readers::uring::tests::no_read_is_in_flight_after_an_error (no io_uring)
host machine::proc_files::tests::this_process_and_its_threads_are_read (it makes up /proc/PID/stat)
instruments counters::task_struct::tests::the_running_kernel_describes_a_task (the kernel is that of the host)
instruments profile::tests::a_counter_is_sampled_once_per_period (no BPF)
instruments profile::tests::no_stack_of_thousands_is_lost (no BPF)
instruments trace::tests::a_thread_that_ended_before_the_trace_has_its_name (no BPF)
instruments trace::tests::events_lost_to_a_full_ring_are_counted (no BPF)
instruments trace::tests::events_of_a_cpu_without_a_ring_are_lost (no BPF)
platforms launch::tests::transparent_huge_pages_can_be_turned_off (no PR_SET_THP_DISABLE)
runner left_behind::tests::a_process_in_a_session_of_its_own_is_seen_and_ended (no PR_SET_CHILD_SUBREAPER)
schedulers case_tests::the_cases_hold_in_the_kernel (no BPF)
schedulers per_cpu::tests::the_kernel_has_at_least_the_cpus_of_this_process (no BPF)
stats differences::tests::of_rows_without_a_difference_one_is_shown_in_one_case_of_twenty (takes minutes)
stats differences::tests::of_nine_lists_without_a_difference_one_is_shown_in_one_case_of_twenty (takes minutes)
END

# shellcheck disable=SC2016 # the shell in the namespace expands it
scripts/under-arm64.sh bash -c 'set -euo pipefail
passed=0 failed=0
while read -r folder program; do
    crate=${folder##*/} arguments=(--exact)
    while read -r test; do arguments+=(--skip "$test"); done < <(awk -v crate="$crate" "\$1 == crate { print \$2 }" "$LEFT_OUT")
    echo "$crate"
    (cd "$folder" && "$program" "${arguments[@]}") >"$WORK/output" 2>&1 || { failed=1; cat "$WORK/output"; }
    passed=$((passed + $(sed -n "s/^test result: .* \([0-9]*\) passed;.*/\1/p" "$WORK/output")))
done <"$PROGRAMS"
# A test that lacks a requirement says so and passes.
wanting=$(wc -l <"$KLATCH_TEST_NOT_RUN")
echo "arm64-tests.sh: $((passed - wanting)) unit tests passed on arm64, $((wanting + $(wc -l <"$LEFT_OUT"))) did not run:"
exit "$failed"' || { echo "arm64-tests.sh: a test failed: its output is above" >&2; exit 1; }
cat "$LEFT_OUT" "$KLATCH_TEST_NOT_RUN"
