use super::*;

/// 10 ns per synchronous I/O, 4 per asynchronous one, 1 per KiB.
fn processors(processors: Option<u16>, threads: u32, depth: u32, wake_ns: u64) -> HostProcessors {
    let costs = HostCosts { async_io_ns: 4, sync_io_ns: 10, wake_ns, kib_ns: 1, processors };
    HostProcessors::new(&costs, threads, depth, Nanos(100))
}

#[test]
fn threads_on_separate_cpus_do_not_wait_for_each_other() {
    for cores in [None, Some(4)] {
        let mut own = processors(cores, 4, 1, 0);
        let served = [0, 1, 2, 3].map(|thread| own.submit(thread, 0, 0, Nanos(100)));
        assert_eq!(served, [Some(Nanos(110)); 4]);
        let after = own.submit(3, 0, 0, Nanos(105));
        assert_eq!(after, Some(Nanos(120)), "one I/O after the other");
        assert_eq!((own.next_event(), own.pop(Nanos::MAX)), (Nanos::MAX, None));
    }
}

#[test]
fn threads_on_shared_cpus_match_the_reference_schedule() {
    let mut shared = processors(Some(2), 4, 1, 0);
    for thread in 0..2 {
        assert_eq!(shared.submit(thread, 7 + thread, 0, Nanos(100)), None);
    }
    assert_eq!(shared.next_event(), Nanos(110));
    assert_eq!(shared.pop(Nanos(109)), None);
    assert_eq!(shared.pop(Nanos(110)), Some((Nanos(110), 7)));
    assert_eq!(shared.pop(Nanos(110)), Some((Nanos(110), 8)));
    assert_eq!(shared.pop(Nanos::MAX), None);
}

#[test]
fn asynchronous_ios_cost_less_and_long_ones_more() {
    let mut own = processors(None, 2, 8, 0);
    assert_eq!(own.submit(0, 0, 512, Nanos(100)), Some(Nanos(104)));
    assert_eq!(own.submit(0, 1, 4096, Nanos(100)), Some(Nanos(112)));
    own.set_depth(1, 1, &HostCosts { sync_io_ns: 10, ..HostCosts::default() });
    assert_eq!(own.submit(1, 2, 4096, Nanos(100)), Some(Nanos(114)));
}

/// Of several I/Os that complete at once, the first wakes the thread.
#[test]
fn a_thread_that_slept_is_woken() {
    for depth in [1, 2] {
        let mut own = processors(None, 1, depth, 50);
        let io = own.work(0, 0);
        assert_eq!(own.submit(0, 0, 0, Nanos(100)), Some(Nanos(100) + io));
        let woken = Nanos(250) + io;
        assert_eq!(own.submit(0, 0, 0, Nanos(200)), Some(woken));
        assert_eq!(own.submit(0, 1, 0, Nanos(200)), Some(woken + io));
    }
    let mut shared = processors(Some(1), 2, 2, 50);
    for io in 0..2 {
        shared.submit(0, io, 0, Nanos(200));
    }
    assert_eq!(shared.pop(Nanos::MAX), Some((Nanos(254), 0)));
    assert_eq!(shared.pop(Nanos::MAX), Some((Nanos(258), 1)));
}
