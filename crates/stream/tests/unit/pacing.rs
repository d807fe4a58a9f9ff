use super::*;

fn times(now_ms: u64, waited: bool) -> ChunkTimes {
    ChunkTimes { wanted_at: Nanos::ZERO, now: Nanos::from_millis(now_ms), waited }
}

/// A chunk is due every 10 ms.
fn pacing() -> StallAccounting {
    let source_rate =
        SourceRate { rate_bytes_per_s: 100_000, deadline: Some(Nanos::from_millis(25)) };
    StallAccounting::new(Some(source_rate), Nanos::ZERO, 1000, None)
}

#[test]
fn waits_form_one_stall_until_the_stream_has_caught_up() {
    let registers = Registers::default();
    let mut pacing = pacing();
    // Chunk 0 in time; chunk 1 waits until 50 ms; 2, 3 and 4 were there by then; 5 comes in time.
    for (chunk, now, waited) in [
        (0, 10, false),
        (1, 50, true),
        (2, 51, false),
        (3, 52, true),
        (4, 53, false),
        (5, 60, false),
    ] {
        pacing.taken(chunk, chunk, times(now, waited), &registers);
    }
    pacing.end(&registers);
    let stalls = &pacing.stalls;
    assert_eq!((stalls.count, stalls.total_ns), (1, 33_000_000));
    assert_eq!((stalls.latest_ns, stalls.over_deadline), (30_000_000, 1));
    assert_eq!(stalls.longest[0].at_ns, 20_000_000);
    assert_eq!((registers.stalls(), registers.stall_time_ns()), (1, 33_000_000));
    // 5000 bytes were delivered by 50 ms, 1000 were on the drive.
    let backlog = pacing.backlog(2000, 1 << 40, None).unwrap();
    assert_eq!(backlog.high_water_bytes, 4000);
}

#[test]
fn a_source_without_a_rate_has_a_stall_per_wait() {
    let registers = Registers::default();
    let mut pacing = StallAccounting::new(None, Nanos::ZERO, 1000, None);
    for (from, to, waited) in [(1, 3, true), (4, 4, true), (5, 9, false)] {
        let times =
            ChunkTimes { wanted_at: Nanos::from_millis(from), now: Nanos::from_millis(to), waited };
        pacing.taken(0, 0, times, &registers);
    }
    assert_eq!((pacing.stalls.count, pacing.stalls.total_ns), (1, 2_000_000));
    assert_eq!(pacing.backlog(1, 1 << 40, None), None);
}
