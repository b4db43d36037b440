//! The sysctls that Klatch may change, with their allowed values.

/// The allowed values of a sysctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// This number of integers within the range, separated by spaces.
    Numbers(usize, i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The name of a kernel module without its prefix, such as `cubic`.
    Name,
}

use Values::{Name, Numbers, OneOf};

const FLAG: Values = Numbers(1, 0, 1);
const INT: Values = Numbers(1, 0, i32::MAX as i64);
const LONG: Values = Numbers(1, 0, i64::MAX);
const PERCENT: Values = Numbers(1, 0, 100);
const BYTES_OF_THREE: Values = Numbers(3, 1, i32::MAX as i64);

/// Names with their allowed values, sorted. A sysctl that names programs, paths or modules, or that weakens the protection
/// of the machine, must not be listed.
const SYSCTLS: &[(&str, Values)] = &[
    ("fs.file-max", LONG),
    ("fs.nr_open", INT),
    ("kernel.numa_balancing", Numbers(1, 0, 3)),
    ("kernel.pid_max", Numbers(1, 301, 1 << 22)),
    ("kernel.sched_autogroup_enabled", FLAG),
    ("kernel.sched_cfs_bandwidth_slice_us", INT),
    ("kernel.sched_child_runs_first", FLAG),
    ("kernel.sched_energy_aware", FLAG),
    ("kernel.sched_latency_ns", INT),
    ("kernel.sched_migration_cost_ns", INT),
    ("kernel.sched_min_granularity_ns", INT),
    ("kernel.sched_nr_migrate", INT),
    ("kernel.sched_rr_timeslice_ms", INT),
    ("kernel.sched_rt_period_us", INT),
    ("kernel.sched_rt_runtime_us", Numbers(1, -1, i32::MAX as i64)),
    ("kernel.sched_schedstats", FLAG),
    ("kernel.sched_wakeup_granularity_ns", INT),
    ("kernel.threads-max", INT),
    ("kernel.timer_migration", FLAG),
    ("net.core.busy_poll", INT),
    ("net.core.busy_read", INT),
    ("net.core.default_qdisc", Name),
    ("net.core.netdev_budget", INT),
    ("net.core.netdev_budget_usecs", INT),
    ("net.core.netdev_max_backlog", INT),
    ("net.core.rmem_default", INT),
    ("net.core.rmem_max", INT),
    ("net.core.somaxconn", INT),
    ("net.core.wmem_default", INT),
    ("net.core.wmem_max", INT),
    ("net.ipv4.ip_default_ttl", Numbers(1, 1, 255)),
    ("net.ipv4.ip_local_port_range", Numbers(2, 1, 65_535)),
    ("net.ipv4.tcp_autocorking", FLAG),
    ("net.ipv4.tcp_comp_sack_delay_ns", LONG),
    ("net.ipv4.tcp_congestion_control", Name),
    ("net.ipv4.tcp_fin_timeout", INT),
    ("net.ipv4.tcp_limit_output_bytes", INT),
    ("net.ipv4.tcp_low_latency", FLAG),
    ("net.ipv4.tcp_max_syn_backlog", INT),
    ("net.ipv4.tcp_max_tw_buckets", INT),
    ("net.ipv4.tcp_mem", Numbers(3, 0, i64::MAX)),
    ("net.ipv4.tcp_min_tso_segs", INT),
    ("net.ipv4.tcp_moderate_rcvbuf", FLAG),
    ("net.ipv4.tcp_no_metrics_save", FLAG),
    ("net.ipv4.tcp_notsent_lowat", Numbers(1, 0, u32::MAX as i64)),
    ("net.ipv4.tcp_rmem", BYTES_OF_THREE),
    ("net.ipv4.tcp_sack", FLAG),
    ("net.ipv4.tcp_slow_start_after_idle", FLAG),
    ("net.ipv4.tcp_syncookies", Numbers(1, 0, 2)),
    ("net.ipv4.tcp_timestamps", Numbers(1, 0, 2)),
    ("net.ipv4.tcp_tw_reuse", Numbers(1, 0, 2)),
    ("net.ipv4.tcp_window_scaling", FLAG),
    ("net.ipv4.tcp_wmem", BYTES_OF_THREE),
    ("vm.compaction_proactiveness", PERCENT),
    ("vm.max_map_count", INT),
    ("vm.nr_hugepages", INT),
    ("vm.nr_overcommit_hugepages", INT),
    ("vm.overcommit_memory", Numbers(1, 0, 2)),
    ("vm.overcommit_ratio", INT),
    ("vm.stat_interval", INT),
    ("vm.swappiness", Numbers(1, 0, 200)),
    ("vm.zone_reclaim_mode", Numbers(1, 0, 7)),
];

/// Files of `/sys/kernel/debug/sched`, sorted.
const OF_SCHEDULER: &[(&str, Values)] = &[
    ("base_slice_ns", INT),
    ("latency_ns", INT),
    ("migration_cost_ns", INT),
    ("min_granularity_ns", INT),
    ("nr_migrate", INT),
    ("preempt", OneOf(&["none", "voluntary", "full", "lazy"])),
    ("tunable_scaling", Numbers(1, 0, 2)),
    ("wakeup_granularity_ns", INT),
];

/// The allowed values of a sysctl; `None` if Klatch does not change it.
pub(super) fn values(name: &str) -> Option<Values> {
    let among = |table: &[(&str, Values)], name| {
        table.iter().find(|(listed, _)| *listed == name).map(|(_, values)| *values)
    };
    if name == "thp" {
        return Some(OneOf(&["always", "madvise", "never"]));
    }
    match name.strip_prefix("sched.") {
        // The features differ by kernel. SystemKnob::read refuses one that this kernel does not list.
        Some(rest) if is_feature(rest) => Some(OneOf(&["on", "off"])),
        Some(rest) => among(OF_SCHEDULER, rest),
        None => among(SYSCTLS, name),
    }
}

/// All names except the features of the scheduler, for an error message.
pub(super) fn known_names() -> String {
    let names = SYSCTLS.iter().map(|(name, _)| (*name).to_owned());
    let of_scheduler = OF_SCHEDULER.iter().map(|(name, _)| format!("sched.{name}"));
    names.chain(of_scheduler).collect::<Vec<_>>().join(", ")
}

/// Whether this is a feature of the scheduler, such as `WAKEUP_PREEMPTION`, rather than a file.
pub(super) fn is_feature(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

impl Values {
    pub(super) fn allow(self, text: &str) -> bool {
        match self {
            OneOf(words) => words.contains(&text),
            Name => {
                (1..=15).contains(&text.len())
                    && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
            }
            Numbers(count, least, most) => {
                let words: Vec<&str> = text.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
                let fits =
                    |word: &&str| word.parse().is_ok_and(|number: i64| (least..=most).contains(&number));
                words.len() == count && words.iter().all(fits)
            }
        }
    }
}

impl std::fmt::Display for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OneOf(words) => f.write_str(&words.join(" or ")),
            Name => f.write_str("a name of at most 15 letters, digits, _ and -"),
            Numbers(1, least, most) => write!(f, "a whole number of {least} to {most}"),
            Numbers(count, least, most) => write!(f, "{count} whole numbers of {least} to {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_of_the_right_shape_are_allowed() {
        for (name, good, bad) in [
            ("vm.nr_hugepages", "160", "-1"),
            ("vm.swappiness", "60", "201"),
            ("net.ipv4.ip_local_port_range", "40000\t41000", "40000"),
            ("net.ipv4.tcp_congestion_control", "cubic", "../x"),
            ("kernel.sched_rt_runtime_us", "-1", "-2"),
            ("thp", "madvise", "sometimes"),
            ("sched.WAKEUP_PREEMPTION", "on", "1"),
            ("sched.preempt", "lazy", "full\nnone"),
            ("vm.overcommit_memory", "1", "1\n2"),
        ] {
            let values = values(name).unwrap();
            assert!(values.allow(good) && !values.allow(bad) && !values.allow(""), "{name}");
        }
    }

    #[test]
    fn settings_that_run_programs_or_lower_protection_are_unknown() {
        for name in ["kernel.core_pattern", "kernel.modprobe", "kernel.randomize_va_space", "vm.drop_caches"]
        {
            assert_eq!(values(name), None, "{name}");
        }
        for name in ["sched.", "sched.debug", "sched.../x", "sched._/../x", "kernel.sched_x", ""] {
            assert_eq!(values(name), None, "{name}");
        }
    }

    #[test]
    fn the_tables_are_sorted_without_repeats() {
        for table in [SYSCTLS, OF_SCHEDULER] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
