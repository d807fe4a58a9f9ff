use std::fs;

use proptest::prelude::*;

use super::*;

const AREA: ReplayArea = ReplayArea {
    offset_bytes: 1 << 20,
    size_bytes: 64 << 10,
    unit_bytes: 4096,
    most_bytes: 4 << 20,
};

/// Alibaba's format: (microseconds, write, offset, length).
type Request = (u64, bool, u64, u64);

fn plan(
    requests: &[Request],
    area: ReplayArea,
    change: impl FnOnce(&mut ReplayOptions),
) -> Result<ReplayPlan, TraceError> {
    let folder = tempfile::tempdir().unwrap().keep();
    let path = folder.join("t.csv");
    let line = |&(micros, write, offset, len): &Request| {
        let letter = if write { "W" } else { "R" };
        format!("1,{letter},{offset},{len},{micros}\n")
    };
    fs::write(&path, requests.iter().map(line).collect::<String>()).unwrap();
    let mut options = ReplayOptions {
        source: TraceSource { path, format: None, device: None },
        skipped: SkippedOps::default(),
        timing: Timing::Closed,
        map: AddressMap::Auto,
        phases: PhaseRule::Shares(4),
        align_bytes: None,
        passes: 1,
    };
    change(&mut options);
    ReplayPlan::new(&options, area)
}

fn ios(plan: &ReplayPlan) -> (Vec<ReplayIo>, ReplayCounts) {
    let mut stream = ReplayStream::open(plan).unwrap();
    let ios: Vec<ReplayIo> = std::iter::from_fn(|| stream.next_io().unwrap()).collect();
    let counts = stream.counts();
    // The thread makes the same.
    let mut feed = ReplayFeed::start(plan).unwrap();
    let fed: Vec<ReplayIo> = std::iter::from_fn(|| {
        let io = feed.peek();
        feed.advance();
        io
    })
    .collect();
    assert_eq!((&fed, feed.counts()), (&ios, counts));
    assert_eq!(feed.error(), None);
    fs::remove_dir_all(plan.options.source.path.parent().unwrap()).unwrap();
    (ios, counts)
}

fn extents(plan: &ReplayPlan) -> (Vec<(u64, u32)>, ReplayCounts) {
    let (ios, counts) = ios(plan);
    let relative = |io: &ReplayIo| (io.offset_bytes - plan.area.offset_bytes, io.len_bytes);
    (ios.iter().map(relative).collect(), counts)
}

#[test]
fn a_trace_that_fits_keeps_its_addresses() {
    let requests = [(0, false, 0, 4096), (1, true, 8192, 16384), (2, false, 6000, 100)];
    let plan = plan(&requests, AREA, |_| {}).unwrap();
    assert_eq!(plan.map, AddressMap::Offset);
    let (extents, counts) = extents(&plan);
    // Widened to the blocks that it touches.
    assert_eq!(extents, [(0, 4096), (8192, 16384), (4096, 4096)]);
    assert_eq!((counts.requests, counts.aligned, counts.clipped), (3, 1, 0));
}

#[test]
fn addresses_beyond_the_area_are_clipped_and_counted() {
    let requests = [(0, false, 60 << 10, 8192), (1, true, 64 << 10, 4096), (2, true, 0, 4096)];
    let plan = plan(&requests, AREA, |o| o.map = AddressMap::Offset).unwrap();
    let (extents, counts) = extents(&plan);
    assert_eq!(extents, [(60 << 10, 4096), (0, 4096)]);
    assert_eq!((counts.clipped, counts.outside), (1, 1));
}

#[test]
fn modulo_continues_at_the_start_of_the_area() {
    let requests = [(0, false, (64 << 10) * 5 + (60 << 10), 8192), (1, true, 1 << 30, 256 << 10)];
    let plan = plan(&requests, AREA, |_| {}).unwrap();
    assert_eq!(plan.map, AddressMap::Modulo);
    let (extents, counts) = extents(&plan);
    // A request longer than the area covers it once.
    assert_eq!(extents, [(60 << 10, 4096), (0, 4096), (0, 64 << 10)]);
    assert_eq!(counts.wrapped, 2);
}

#[test]
fn linear_keeps_the_order_of_addresses() {
    let far = 1 << 40;
    let requests = [
        (0, false, far, 4096),
        (1, false, far + (1 << 30), 4096),
        (2, false, far + (2 << 30) - 4096, 4096),
    ];
    let plan = plan(&requests, AREA, |o| o.map = AddressMap::Linear).unwrap();
    let (extents, counts) = extents(&plan);
    assert_eq!(extents, [(0, 4096), (32 << 10, 4096), (60 << 10, 4096)]);
    assert_eq!((counts.clipped, counts.outside), (0, 0));
}

#[test]
fn division_is_fios_replay_scale() {
    let requests = [(0, false, 1 << 20, 4096), (1, false, 1 << 24, 4096)];
    let plan = plan(&requests, AREA, |o| o.map = AddressMap::Divide(64)).unwrap();
    let (extents, counts) = extents(&plan);
    assert_eq!(extents, [(16 << 10, 4096)]);
    assert_eq!(counts.outside, 1);
}

#[test]
fn long_requests_are_split() {
    let area = ReplayArea { size_bytes: 1 << 30, most_bytes: 64 << 10, ..AREA };
    let plan = plan(&[(0, true, 0, 150 << 10)], area, |_| {}).unwrap();
    let (extents, counts) = extents(&plan);
    assert_eq!(extents, [(0, 64 << 10), (64 << 10, 64 << 10), (128 << 10, 24 << 10)]);
    assert_eq!((counts.requests, counts.split), (1, 1));
}

#[test]
fn times_are_scaled_and_idle_time_is_cut() {
    let requests = [
        (0, false, 0, 4096),
        (1000, false, 0, 4096),
        (101_000, false, 0, 4096),
        (102_000, false, 0, 4096),
    ];
    let due = |scale: Option<&str>, limit: Option<&str>| {
        let plan = plan(&requests, AREA, |o| o.timing = Timing::parse(None, scale, limit).unwrap())
            .unwrap();
        ios(&plan).0.iter().map(|io| io.due.0 / 1000).collect::<Vec<u64>>()
    };
    assert_eq!(due(None, None), [0, 1000, 101_000, 102_000]);
    assert_eq!(due(Some("0.5"), None), [0, 500, 50_500, 51_000]);
    // AnandTech's limit of 25 ms.
    assert_eq!(due(None, Some("25ms")), [0, 1000, 26_000, 27_000]);
    assert_eq!(due(Some("2"), Some("25ms")), [0, 2000, 27_000, 29_000]);
}

#[test]
fn phases_are_equal_shares_or_begin_after_a_gap() {
    let requests: Vec<Request> =
        (0..10).map(|n| (n * 100 + n / 4 * 50_000, false, 0, 4096)).collect();
    let phases = |rule: &str| {
        let plan =
            plan(&requests, AREA, |o| o.phases = PhaseRule::parse(Some(rule)).unwrap()).unwrap();
        ios(&plan).0.iter().map(|io| io.phase).collect::<Vec<u32>>()
    };
    assert_eq!(phases("4"), [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]);
    assert_eq!(phases("gap:40ms"), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
    let many: Vec<Request> = (0..200).map(|n| (n * 1000, false, 0, 4096)).collect();
    let error = plan(&many, AREA, |o| o.phases = PhaseRule::Gap(Nanos(1000))).unwrap_err();
    assert!(error.to_string().contains("200 phases are more than 100"), "{error}");
}

#[test]
fn what_is_skipped_is_not_replayed() {
    let requests = [(0, false, 0, 4096), (1, true, 0, 4096), (2, false, 0, 4096)];
    let reads =
        plan(&requests, AREA, |o| o.skipped = SkippedOps::parse("write,trim").unwrap()).unwrap();
    assert_eq!((reads.requests, reads.read_percent()), (2, 100));
    assert_eq!(ios(&reads).0.len(), 2);
    let mixed = plan(&requests, AREA, |_| {}).unwrap();
    assert_eq!(mixed.read_percent(), 67);
    let none =
        plan(&requests[..1], AREA, |o| o.skipped = SkippedOps::parse("read").unwrap()).unwrap_err();
    assert!(none.to_string().contains("nothing is left"), "{none}");
}

#[test]
fn options_say_what_they_take() {
    for (error, part) in [
        (Timing::parse(Some("fast"), None, None).unwrap_err(), "not one of: timed, closed"),
        (Timing::parse(Some("closed"), Some("2"), None).unwrap_err(), "has no times"),
        (Timing::parse(None, Some("0"), None).unwrap_err(), "0.5 replays twice as fast"),
        (Timing::parse(None, Some("nan"), None).unwrap_err(), "a factor"),
        (Timing::parse(None, None, Some("0")).unwrap_err(), "longer than nothing"),
        (PhaseRule::parse(Some("0")).unwrap_err(), "gap:TIME"),
        (PhaseRule::parse(Some("101")).unwrap_err(), "up to 100"),
        (PhaseRule::parse(Some("gap:0s")).unwrap_err(), "gap:TIME"),
        (AddressMap::parse(Some("divide:0")).unwrap_err(), "divide:N"),
        (SkippedOps::parse("flush").unwrap_err(), "read, write, trim, sync"),
        (parse_align("0").unwrap_err(), "logical block"),
    ] {
        let text = error.to_string();
        assert!(text.contains(part), "{text}");
    }
    let beyond =
        plan(&[(0, false, 1 << 40, 4096)], AREA, |o| o.map = AddressMap::Offset).unwrap_err();
    assert!(beyond.to_string().contains("modulo or linear"), "{beyond}");
}

/// A trace that shrinks after its survey ends the replay with an error.
#[test]
fn a_trace_that_is_damaged_during_a_replay_is_an_error() {
    let plan = plan(&[(0, false, 0, 4096), (5, false, 0, 4096)], AREA, |_| {}).unwrap();
    fs::write(&plan.options.source.path, "1,R,0,4096,0\nnonsense\n").unwrap();
    let mut feed = ReplayFeed::start(&plan).unwrap();
    assert!(feed.peek().is_some());
    feed.advance();
    assert_eq!(feed.peek(), None);
    assert!(feed.error().unwrap().to_string().contains("t.csv:2:"));
}

fn maps() -> impl Strategy<Value = AddressMap> {
    prop_oneof![
        Just(AddressMap::Auto),
        Just(AddressMap::Offset),
        Just(AddressMap::Modulo),
        Just(AddressMap::Linear),
        (1..1000_u64).prop_map(AddressMap::Divide),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the trace, the area and the options: each I/O is in the area and of whole blocks,
    /// due times and phases do not go back, every request is accounted for.
    #[test]
    fn every_io_is_in_the_area(
        requests in prop::collection::vec((0..1_u64 << 40, any::<bool>(), 0..1_u64 << 44, 1..1_u64 << 24), 1..40),
        map in maps(),
        blocks in 1..5000_u64,
        shift in 9..13_u32,
        most_blocks in 1..64_u32,
        scale in 0.001..1000.0_f64,
        align_shift in 0..4_u32,
    ) {
        let unit = 1_u64 << shift;
        let area = ReplayArea { offset_bytes: unit * 7, size_bytes: blocks * unit, unit_bytes: unit, most_bytes: most_blocks << shift };
        let align = unit << align_shift;
        let planned = plan(&requests, area, |o| {
            o.map = map;
            o.timing = Timing::Timed { scale, idle_limit: Some(Nanos::SECOND) };
            o.align_bytes = Some(align);
        });
        let Ok(plan) = planned else { return Ok(()) };
        let (ios, counts) = ios(&plan);
        let mut last = (Nanos::ZERO, 0);
        for io in &ios {
            prop_assert!(io.offset_bytes >= area.offset_bytes);
            prop_assert!(io.offset_bytes + u64::from(io.len_bytes) <= area.offset_bytes + area.size_bytes);
            prop_assert_eq!(io.offset_bytes % unit, 0);
            prop_assert_eq!(u64::from(io.len_bytes) % unit, 0);
            prop_assert!(io.len_bytes > 0 && io.len_bytes <= area.most_bytes);
            prop_assert!((io.due, io.phase) >= (last.0, 0) && io.phase >= last.1);
            last = (io.due, io.phase);
        }
        prop_assert_eq!(counts.requests, requests.len() as u64);
        prop_assert!(counts.requests - counts.outside <= ios.len() as u64);
        prop_assert!(last.1 < 4);
    }
}

/// A repeated trace keeps its rate: between two passes lies the mean time between two requests.
#[test]
fn a_trace_is_repeated() {
    let requests = [(0, false, 0, 4096), (100, true, 4096, 4096), (400, false, 8192, 4096)];
    let repeated = plan(&requests, AREA, |options| {
        options.passes = 3;
        options.timing = Timing::Timed { scale: 1.0, idle_limit: None };
    })
    .unwrap();
    assert_eq!((repeated.requests, repeated.bytes()), (9, 9 * 4096));
    let (ios, counts) = ios(&repeated);
    let due: Vec<u64> = ios.iter().map(|io| io.due.0 / 1_000).collect();
    assert_eq!(due, [0, 100, 400, 600, 700, 1_000, 1_200, 1_300, 1_600]);
    let phases: Vec<u32> = ios.iter().map(|io| io.phase).collect();
    assert_eq!(phases, [0, 0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!(counts.requests, 9);
    assert!(parse_passes(0).is_err());
}
