//! Latency from wake-up to running.

use klatch_record::observed::SideWakeups;
use klatch_record::{InstrumentName, ObservationData};

use crate::bpf::{Histogram, object};
use crate::bpf_instrument::{BpfInstrument, Measurement};
use crate::error::InstrumentError;
use crate::targets::Side;

pub(crate) static WAKEUP_LATENCY: BpfInstrument = BpfInstrument {
    name: InstrumentName::Wakeups,
    description: "from waking to running; preemptions by the woken; migrations",
    object: object!("wakeups"),
    tracepoints: &["sched_waking", "sched_switch", "sched_migrate_task"],
    by_process: true,
    whole_run: &["on_switch"],
    preferred: None,
    read,
};

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    Ok(ObservationData::Wakeups(measurement.targets.sides(|side| read_side(measurement, side))?))
}

fn read_side(measurement: &Measurement<'_>, side: Side) -> Result<SideWakeups, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let numbers = bpf.numbers("wakeups", side as u32)?;
    // `struct wakeups` of wakeups.bpf.c.
    let (latency_ns, counts) = numbers.split_at(Histogram::NUMBERS);
    let &[wakeups, preemptions, migrations] = counts else {
        return Err(InstrumentError("the map of wake-ups has another layout than expected".to_owned()));
    };
    let latency_ns = Histogram::new(latency_ns);
    Ok(SideWakeups {
        wakeups: coverage.scaled(wakeups),
        wakeups_per_s: wakeups as f64 / coverage.open_s(),
        latency_us: latency_ns.distribution(1e-3),
        preemptions: coverage.scaled(preemptions),
        migrations: coverage.scaled(migrations),
        untimed: coverage.scaled(wakeups.saturating_sub(latency_ns.count())),
    })
}
