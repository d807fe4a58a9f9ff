use super::*;
use crate::run::early_stop::Stopped;

const AREA: u64 = 1_000_000;
const PASS: Watched = Watched::Collection { area_bytes: AREA };
const PROBE: Watched = Watched::Steadiness { area_bytes: AREA };

/// Writes of a share of the area at a rate, in intervals of a thousandth of it; whether it ended.
fn write(course: &mut WriteCourse, watched: Watched, share: f64, rate: f64) -> bool {
    let intervals = (share * 1000.0) as u64;
    let span = Nanos((AREA as f64 / 1000.0 / rate * 1e9) as u64);
    (0..intervals).any(|_| {
        course.add(watched, AREA / 1000, span);
        course.has_ended(watched)
    })
}

#[test]
fn a_pass_ends_where_the_rate_falls_and_tells_the_spare_space() {
    let mut course = WriteCourse::default();
    // An empty cache, and the flash behind it.
    assert!(!write(&mut course, PASS, 0.3, 3000.0));
    assert!(!write(&mut course, PASS, 0.8625, 1000.0));
    assert!(write(&mut course, PASS, 0.2, 200.0));
    let [(name, spare_pct)] = course.values(PASS)[..] else {
        panic!("one value");
    };
    assert_eq!(name, SPARE_PCT);
    assert!((10.0..10.6).contains(&spare_pct), "{spare_pct}");
    assert_eq!(course.warning(PASS), None);
}

#[test]
fn neither_a_full_cache_nor_a_stall_ends_a_pass() {
    let mut course = WriteCourse::default();
    assert!(!write(&mut course, PASS, 0.5, 3000.0));
    assert!(!write(&mut course, PASS, 0.6, 1000.0));
    assert!(!write(&mut course, PASS, 0.002, 10.0));
    assert!(!write(&mut course, PASS, 0.4, 1000.0));
    assert_eq!(course.values(PASS), []);
    assert!(course.warning(PASS).is_some());
}

#[test]
fn a_probe_ends_after_a_tenth_of_the_area_at_a_steady_rate() {
    let mut course = WriteCourse::default();
    assert!(!write(&mut course, PROBE, 0.02, 1100.0));
    assert!(!write(&mut course, PROBE, 0.078, 1000.0));
    assert!(course.warning(PROBE).is_some());
    assert!(write(&mut course, PROBE, 0.03, 1000.0));
    let values = course.values(PROBE);
    assert_eq!(values[0].0, PROBE_START_PCT);
    assert!((values[0].1 - 110.0).abs() < 3.0, "{values:?}");
}

#[test]
fn only_a_probe_that_has_not_ended_is_not_steady() {
    let stopped = |watched: Watched, rates: &[f64]| {
        let mut course = WriteCourse::default();
        for &rate in rates {
            write(&mut course, watched, 0.02, rate);
        }
        Stopped { written: Some((watched, [(0, course)].into())), ..Stopped::default() }
    };
    let falling = [1000.0, 800.0, 600.0, 500.0, 400.0, 300.0];
    assert!(stopped(PROBE, &falling).is_not_steady(0));
    assert!(!stopped(PROBE, &falling).is_not_steady(1));
    assert!(!stopped(PROBE, &[1000.0; 6]).is_not_steady(0));
    assert!(!stopped(PASS, &falling).is_not_steady(0));
    assert!(!Stopped::default().is_not_steady(0));
}

/// With these write amplifications after 1.1 areas; whether it ended at a level rate.
fn counted(course: &mut WriteCourse, factors: &[(u32, f64)]) -> bool {
    let (mut host, mut media) = (0, 0.0);
    let parts = factors.iter().flat_map(|&(parts, factor)| (0..parts).map(move |_| factor));
    parts.into_iter().any(|factor| {
        course.add_counters(PASS, host, media as u64);
        let ended = write(course, PASS, 0.01, 1000.0);
        (host, media) = (host + AREA / 100, media + factor * (AREA / 100) as f64);
        ended
    })
}

#[test]
fn a_pass_ends_where_the_counters_show_collection_that_the_rate_does_not() {
    let mut course = WriteCourse::default();
    assert!(!counted(&mut course, &[(120, 1.0)]));
    assert!(course.warning(PASS).is_some(), "nothing fell");
    let mut course = WriteCourse::default();
    assert!(counted(&mut course, &[(120, 2.0), (5, 4.5)]), "twice the usual");
    assert_eq!(course.warning(PASS), None);
    let (_, spare_pct) = course.values(PASS)[0];
    assert!((13.0..18.0).contains(&spare_pct), "{spare_pct}");
}

#[test]
fn a_cache_that_gives_back_flash_is_no_end_and_is_warned_of() {
    let mut course = WriteCourse::default();
    assert!(!counted(&mut course, &[(105, 1.0), (10, 1.4)]));
    assert!(write(&mut course, PASS, 0.03, 200.0));
    let warning = course.warning(PASS).unwrap();
    assert!(warning.message.contains("borrows flash"), "{warning:?}");
}
