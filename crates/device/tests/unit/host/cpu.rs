use super::*;
use proptest::prelude::*;

#[test]
fn the_cpu_total_line_is_parsed_and_grouped() {
    let times = CpuTimes::parse("cpu  10 1 20 300 4 5 6 7 8 9\ncpu0 1 1 1 1\nintr 5\n").unwrap();
    let expected = CpuTimes {
        user_ticks: 11,
        system_ticks: 20,
        irq_ticks: 11,
        iowait_ticks: 4,
        idle_ticks: 300,
        steal_ticks: 7,
    };
    assert_eq!(times, expected);
    assert_eq!(CpuTimes::parse("cpu  1 2 3 4\n").unwrap().steal_ticks, 0);
    for bad in ["", "cpu0 1 2 3 4\n", "cpu  1 2 3\n", "cpu  1 2 3 x\n", "cpu  1 2 3 4 5 x\n"] {
        assert_eq!(CpuTimes::parse(bad), None, "{bad:?}");
    }
}

#[test]
fn shares_of_an_interval() {
    let earlier = CpuTimes { user_ticks: 100, iowait_ticks: 50, ..CpuTimes::default() };
    let later = CpuTimes {
        user_ticks: 125,
        system_ticks: 25,
        irq_ticks: 10,
        iowait_ticks: 40,
        idle_ticks: 30,
        steal_ticks: 10,
    };
    let share = later.since(&earlier).unwrap();
    assert_eq!((share.user_pct, share.system_pct, share.irq_pct), (25.0, 25.0, 10.0));
    assert_eq!((share.iowait_pct, share.idle_pct, share.steal_pct), (0.0, 30.0, 10.0));
    assert_eq!(share.busy_pct(), 70.0);
    assert_eq!(later.since(&later), None);
}

#[test]
fn work_shows_in_the_usage_of_this_process() {
    let before = ProcessUsage::read();
    // Until the kernel's microsecond counter moves: this ends as soon as any processor time has
    // been accounted.
    let mut sum = 0u64;
    while ProcessUsage::read().cpu() == before.cpu() {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
    }
    assert!(ProcessUsage::read().cpu() > before.cpu());
}

proptest! {
    #[test]
    fn shares_sum_to_one_hundred_percent(ticks in proptest::array::uniform6(0u64..1_000_000), more in proptest::array::uniform6(0u64..1_000_000)) {
        let times = |t: [u64; 6]| CpuTimes {
            user_ticks: t[0], system_ticks: t[1], irq_ticks: t[2], iowait_ticks: t[3], idle_ticks: t[4], steal_ticks: t[5],
        };
        if let Some(share) = times(std::array::from_fn(|i| ticks[i] + more[i])).since(&times(ticks)) {
            let sum = share.user_pct + share.system_pct + share.irq_pct + share.iowait_pct + share.idle_pct + share.steal_pct;
            prop_assert!((sum - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "(cpu )?[0-9a-z \n]{0,100}") {
        CpuTimes::parse(&text);
    }
}
