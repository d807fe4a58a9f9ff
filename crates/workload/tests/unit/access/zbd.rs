use super::*;

const ZONE: u64 = 1 << 20;

/// Two conventional zones, then six that are written at their pointers up to half of them.
fn drive() -> Vec<ZoneReport> {
    let zone = |index: u64| ZoneReport {
        start_bytes: index * ZONE,
        capacity_bytes: if index < 2 { ZONE } else { ZONE / 2 },
        written_to: if index < 2 { (index + 1) * ZONE } else { index * ZONE },
        is_conventional: index < 2,
        is_offline: index == 5,
        is_open: false,
    };
    (0..8).map(zone).collect()
}

fn part(job: ZoneJob) -> ZonePart {
    let job = ZoneJob { zone_bytes: ZONE, ..job };
    let table = Arc::new(ZoneTable::of_drive(&job, &drive()));
    ZonePart::new(table, job, (0, 8 * ZONE))
}

fn place(random: bool) -> Place {
    Place { base_bytes: 0, area_bytes: 8 * ZONE, least_bytes: 4096, random, verifies: false }
}

/// An I/O that is issued and completes: its offset, length, and whether its zone was reset.
fn done(zones: &mut ZonePart, write: bool, io: (u64, u64)) -> Option<(u64, u64, bool)> {
    match zones.adjust(write, io, Stage::New, &place(true)) {
        Adjusted::Io { offset_bytes, len_bytes, resets } => {
            zones.issued(write, offset_bytes, len_bytes);
            zones.completed(write, offset_bytes, len_bytes);
            Some((offset_bytes, len_bytes, resets))
        }
        Adjusted::Wait(_) => panic!("nothing is in flight"),
        Adjusted::End => None,
    }
}

#[test]
fn conventional_zones_take_writes_anywhere_up_to_their_end() {
    let mut zones = part(ZoneJob::default());
    let at = 700 << 10;
    assert_eq!(done(&mut zones, true, (at, 8192)), Some((at, 8192, false)));
    assert_eq!(done(&mut zones, false, (at, 8192)), Some((at, 8192, false)));
    // Across the border of two conventional zones, but not into a sequential one.
    let across = ZONE - 4096;
    assert_eq!(done(&mut zones, true, (across, 8192)), Some((across, 8192, false)));
    let last = 2 * ZONE - 8192;
    assert_eq!(done(&mut zones, true, (last, 16384)), Some((last, 8192, false)));
}

#[test]
fn writes_go_to_the_pointer_and_full_zones_are_reset() {
    let mut zones = part(ZoneJob::default());
    let io = (3 * ZONE + 4096, 256 << 10);
    let third = 3 * ZONE;
    assert_eq!(done(&mut zones, true, io), Some((third, io.1, false)));
    assert_eq!(done(&mut zones, true, io), Some((third + io.1, io.1, false)));
    assert_eq!(done(&mut zones, true, io), Some((third, io.1, true)));
    // The rest of what can be written of it, in whole blocks.
    let longer = (io.0, 300 << 10);
    assert_eq!(done(&mut zones, true, longer), Some((third + io.1, io.1, false)));
}

#[test]
fn an_offline_zone_is_replaced_by_another() {
    let mut zones = part(ZoneJob::default());
    let io = (5 * ZONE, 4096);
    assert_eq!(done(&mut zones, true, io), Some((6 * ZONE, 4096, false)));
    assert_eq!(done(&mut zones, false, io), Some((6 * ZONE, 4096, false)));
}

#[test]
fn no_more_zones_are_open_than_allowed() {
    let mut zones = part(ZoneJob { max_open: 2, ..ZoneJob::default() });
    let written: std::collections::BTreeSet<u64> = (0..40)
        .map(|io| done(&mut zones, true, ((2 + io % 6) * ZONE, 4096)).unwrap().0 / ZONE)
        .collect();
    assert_eq!(written.len(), 2, "{written:?}");
}

#[test]
fn a_zone_belongs_to_the_thread_that_has_an_io_in_it() {
    let job = ZoneJob { zone_bytes: ZONE, ..ZoneJob::default() };
    let table = Arc::new(ZoneTable::of_drive(&job, &drive()));
    let mut both = [(); 2].map(|()| ZonePart::new(Arc::clone(&table), job, (0, 8 * ZONE)));
    let adjust = |zones: &mut ZonePart, write, stage| {
        zones.adjust(write, (3 * ZONE, 4096), stage, &place(true))
    };
    let written = Adjusted::Io { offset_bytes: 3 * ZONE, len_bytes: 4096, resets: false };
    assert_eq!(adjust(&mut both[0], true, Stage::New), written);
    both[0].issued(true, 3 * ZONE, 4096);
    // The own next write waits at its pointer, that of another thread before it has chosen.
    let waits = Adjusted::Wait(Stage::Chosen(3));
    assert_eq!(adjust(&mut both[0], true, Stage::New), waits);
    assert_eq!(adjust(&mut both[1], true, Stage::New), Adjusted::Wait(Stage::New));
    both[0].completed(true, 3 * ZONE, 4096);
    let next = Adjusted::Io { offset_bytes: 3 * ZONE + 4096, len_bytes: 4096, resets: false };
    assert_eq!(adjust(&mut both[1], true, Stage::New), Adjusted::Wait(Stage::New));
    assert_eq!(adjust(&mut both[0], true, Stage::Chosen(3)), next);
}
