use super::*;
use proptest::prelude::*;

#[test]
fn buffer_size_is_rate_times_pause() {
    let mut buffer_table = BufferTable::new(Nanos::ZERO);
    // 1 GB/s in steps of 1 ms, a pause of 100 ms in the middle.
    for ms in (1..=1000).chain(1101..=2000) {
        buffer_table.taken(Nanos::from_millis(ms), 1_000_000);
    }
    let need = buffer_table.buffer_for(500e6).unwrap() as f64;
    // 101 ms between two steps at the next rate of the grid.
    assert!((50.5e6..=52e6).contains(&need), "{need}");
    let rate = buffer_table.rate_for(need as u64);
    assert!((500_000_000..510_000_000).contains(&rate), "{rate}");
    assert_eq!(buffer_table.rate_for(0), 0);
    assert_eq!(buffer_table.buffer_for(1e12), None);
    assert!((buffer_table.mean_rate() - 950e6).abs() < 1e6);
}

proptest! {
    /// The recursion is the maximum over all pairs of times.
    #[test]
    fn the_recursion_matches_its_definition(steps in prop::collection::vec((1_u64..50_000_000, 0_u64..100_000_000), 1..60)) {
        let mut buffer_table = BufferTable::new(Nanos(7));
        let mut now = 7;
        let mut curve = vec![(now, 0_u64, 0_u64)];
        for (dt, bytes) in steps {
            now += dt;
            buffer_table.taken(Nanos(now), bytes);
            let taken = curve.last().unwrap().2;
            curve.push((now, taken, taken + bytes));
        }
        for at in [0, 200, 500, 800] {
            let rate = buffer_table.rates[at];
            let mut most: f64 = 0.0;
            for (i, &(s, _, after)) in curve.iter().enumerate() {
                for &(t, before, _) in &curve[i + 1..] {
                    most = most.max(rate * (t - s) as f64 / 1e9 - (before - after) as f64);
                }
            }
            let found = buffer_table.most[at];
            prop_assert!((found - most).abs() <= 1e-6 * most.max(1.0), "{found} {most}");
        }
        prop_assert!(buffer_table.most.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}

/// 2 GiB at 2 GB/s end after 1.07 s, of which a drive of 453 MB/s has taken 0.49 GB by then.
#[test]
fn a_stream_that_ends_needs_no_more_than_its_length() {
    let length = 2_u64 << 30;
    let mut table = BufferTable::new(Nanos::ZERO).of_length(Some(length));
    let step = 453_000;
    for ms in 1..=length / step {
        table.taken(Nanos::from_millis(ms), step);
    }
    let need = table.buffer_for(2e9).unwrap() as f64 / 1e9;
    assert!((1.64..1.68).contains(&need), "{need}");
    // However fast: the stream, but for what the drive took meanwhile.
    let most = table.buffer_for(64e9).unwrap();
    assert!(most <= length && most > length / 100 * 97, "{most}");
    let rising = |pair: &[f64]| pair[0] <= pair[1] + 1.0;
    assert!(table.most.windows(2).all(rising));
}
