use super::*;

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
