//! A workload, shortened for a machine that is emulated.

use klatch_record::{ChatWorkload, RrWorkload, WebWorkload, Workload};

/// Operations to count; more if parties take turns that are longer.
const OPERATIONS: u64 = 2_000;
/// Most messages of a round, in which each user says one.
const ROUND_MAX: u64 = 5_000;
/// Rounds of a chat at least: the first has the first message of each connection.
const ROUNDS_MIN: u64 = 2;
/// Most users of a room.
const USERS_MAX: u32 = 70;
/// Most connections or lines.
const CONNECTIONS_MAX: u32 = 200;
/// Most directories of a site; each has 5 MB.
const DIRECTORIES_MAX: u32 = 10;
/// Time in which the machine makes some [`OPERATIONS`] as fast as it can, s of its clock.
const BUSY_S: f64 = 0.05;
/// Longest time of a schedule, s of the machine's clock, which hardly takes any where the machine idles.
const PACED_MAX_S: f64 = 10.0;
/// Requests of a line that has a speed, 1/s: 400 kbit/s and 15 kB a reply.
const PER_LINE: f64 = 3.0;

/// The same workload with fewer operations and, where it has many, fewer parties.
pub(super) fn shortened(workload: &Workload) -> Workload {
    // Without stages, as in the duet.
    match workload.endless() {
        Workload::Chat(chat) => Workload::Chat(chat_of(chat)),
        Workload::Rr(rr) => Workload::Rr(rr_of(rr)),
        Workload::Web(web) => Workload::Web(web_of(web)),
        other => other,
    }
}

fn chat_of(chat: ChatWorkload) -> ChatWorkload {
    let users = chat.users.min(USERS_MAX);
    let of_room = u64::from(users).pow(2);
    let rooms = u64::from(chat.rooms).min(ROUND_MAX / of_room).max(1);
    let count = OPERATIONS.div_ceil(rooms * of_room).max(ROUNDS_MIN);
    ChatWorkload { rooms: rooms as u32, users, count: count as u32, ..chat }
}

fn rr_of(rr: RrWorkload) -> RrWorkload {
    let connections = rr.connections.min(CONNECTIONS_MAX);
    let paced_s = rr.rate_per_connection_per_s.map(|rate| time_at(rate * f64::from(connections)));
    RrWorkload { connections, duration_s: paced_s.unwrap_or(BUSY_S), ..rr }
}

fn web_of(web: WebWorkload) -> WebWorkload {
    let lines = web.lines.min(CONNECTIONS_MAX);
    let paced_s = web.line_kbit_per_s.map(|_| time_at(PER_LINE * f64::from(lines)));
    WebWorkload {
        lines,
        directories: web.directories.min(DIRECTORIES_MAX),
        duration_s: paced_s.unwrap_or(2.0 * BUSY_S),
        ..web
    }
}

/// The time that [`OPERATIONS`] take at a rate, s.
fn time_at(per_s: f64) -> f64 {
    (OPERATIONS as f64 / per_s).clamp(BUSY_S, PACED_MAX_S)
}

#[cfg(test)]
mod tests {
    use klatch_record::WorkloadKind;

    use super::*;

    fn short(kind: WorkloadKind, given: &[(&str, &str)]) -> Workload {
        let short = shortened(&kind.workload(given).unwrap());
        short.check().unwrap();
        short
    }

    #[test]
    fn a_chat_keeps_its_rooms_unless_they_are_too_many() {
        let chat = |given: &[(&str, &str)]| {
            let short = short(WorkloadKind::Chat, given);
            let chat = short.chat().unwrap().clone();
            (chat.rooms, chat.users, chat.count, short.messages_expected())
        };
        assert_eq!(chat(&[]), (10, 20, 2, Some(8_000)));
        assert_eq!(chat(&[("rooms", "1"), ("users", "5")]), (1, 5, 80, Some(2_000)));
        assert_eq!(chat(&[("rooms", "500"), ("users", "20")]), (12, 20, 2, Some(9_600)));
        assert_eq!(chat(&[("rooms", "1"), ("users", "1000")]), (1, 70, 2, Some(9_800)));
        assert_eq!(chat(&[("rooms", "1"), ("users", "20"), ("duration", "30")]), (1, 20, 5, Some(2_000)));
    }

    #[test]
    fn a_schedule_lasts_for_its_operations() {
        let rr = |given: &[(&str, &str)]| match short(WorkloadKind::Rr, given) {
            Workload::Rr(rr) => (rr.connections, rr.duration_s),
            other => panic!("{other:?}"),
        };
        assert_eq!(rr(&[("connections", "9000")]), (200, 0.05));
        assert_eq!(rr(&[("connections", "10"), ("rate", "100")]), (10, 2.0));
        assert_eq!(rr(&[("connections", "1"), ("rate", "1")]), (1, 10.0));
        let Workload::Web(web) = short(WorkloadKind::Web, &[]) else { panic!("no web") };
        assert_eq!((web.lines, web.directories, web.duration_s), (10, 10, 10.0));
    }
}
