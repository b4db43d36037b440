//! How far the numbers of this machine can be trusted now.

use std::path::Path;

use klatch_host::machine::{core_classes, environment};
use klatch_record::{SERVER_CPU, write_cpu_list};
use klatch_runner::load_noise;

use super::finding::Finding;

const TOPIC: &str = "Noise";
/// Above this load average other programs are part of what is measured.
const LOAD_MAX: f64 = 0.3;
/// Above this share of CPU time other machines on the same hardware are.
const STEAL_MAX: f64 = 0.01;
/// What Linux names the rule by which it chooses the clock of the first CPU.
const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

pub(super) fn findings() -> Vec<Finding> {
    let machine = environment([].into());
    let load = machine.load_1min.map(|load| {
        let state = format!("{load:.2} over the last minute");
        judged("load average", state, load <= LOAD_MAX, "stop other programs; top shows them")
    });
    let steal = machine.steal_share_since_boot.map(|share| {
        let state = format!("{:.1} % of the CPU time since boot went to other machines", share * 100.0);
        let remedy = "a dedicated machine; klatch duet compares in spite of it";
        judged("steal", state, share <= STEAL_MAX, remedy)
    });
    let governor = std::fs::read_to_string(Path::new(GOVERNOR)).ok().map(|text| {
        let governor = text.trim();
        let remedy = "cpupower frequency-set --governor performance";
        judged("CPU clock", format!("governor {governor}"), governor == "performance", remedy)
    });
    let calibration = match load_noise() {
        Some(noise) => {
            let shown = noise.between_starts.get(SERVER_CPU);
            let of_cpu = shown.map_or_else(String::new, |part| {
                format!(": two starts differ by up to {:.1} % in server CPU per message", part * 100.0)
            });
            Finding::works(TOPIC, "calibration", format!("of {}{of_cpu}", noise.measured_at))
        }
        None => Finding::gap(TOPIC, "calibration", "never measured on this machine", "klatch calibrate"),
    };
    let quota = machine.cpu_quota.map(|quota| {
        let state = format!("{quota:.2} of {} CPUs: a run that needs more is held back", machine.cpus);
        Finding::gap(
            TOPIC,
            "CPU quota",
            state,
            "raise cpu.max of the control group, or --cpus of the container",
        )
    });
    let classes = core_classes();
    let unlike = (!classes.is_empty()).then(|| {
        let listed = classes.iter().map(|(name, cpus)| format!("{name} {}", write_cpu_list(cpus)));
        let state = format!("not all equally fast: {}", listed.collect::<Vec<_>>().join(", "));
        Finding::gap(TOPIC, "cores", state, "--knob cpus=big --crowd-knob cpus=big, or little")
    });
    [load, steal, governor, unlike, quota].into_iter().flatten().chain([calibration]).collect()
}

fn judged(name: &str, state: String, works: bool, remedy: &str) -> Finding {
    if works { Finding::works(TOPIC, name, state) } else { Finding::gap(TOPIC, name, state, remedy) }
}
