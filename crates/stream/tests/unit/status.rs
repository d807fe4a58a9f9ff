use super::*;

#[test]
fn the_longest_stalls_are_kept_in_order_of_time() {
    let mut stalls = Stalls::default();
    for n in 0..1000_u64 {
        let stall = Stall {
            at_ns: n,
            duration_ns: (n * 7919) % 1000,
            late_ns: (n * 7919) % 1000,
            chunk: n,
        };
        stalls.add(stall, Some(989));
    }
    assert_eq!((stalls.count, stalls.longest_ns), (1000, 999));
    assert_eq!(stalls.total_ns, 999 * 1000 / 2);
    assert_eq!(stalls.over_deadline, 10);
    assert_eq!(stalls.longest.len(), STALLS_KEPT);
    assert!(stalls.longest.iter().all(|s| s.duration_ns >= 1000 - STALLS_KEPT as u64));
    assert!(stalls.longest.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
}
