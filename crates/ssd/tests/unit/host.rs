use super::*;
use crate::Profile;
use crate::sourced::assumed;

fn cpus(cores: Option<u16>, threads: u32) -> HostCpus {
    let mut bench = Profile::builtin("samsung-951").unwrap().bench;
    bench.host_overhead_ns.value = 10;
    bench.host_cores = cores.map(assumed);
    HostCpus::new(&bench, threads, Nanos(100))
}

#[test]
fn threads_with_processors_of_their_own_do_not_wait_for_each_other() {
    for cores in [None, Some(4)] {
        let mut own = cpus(cores, 4);
        let served = [0, 1, 2, 3].map(|thread| own.hand_over(thread, 0, Nanos(100)));
        assert_eq!(served, [Some(Nanos(110)); 4]);
        let after = own.hand_over(3, 0, Nanos(105));
        assert_eq!(after, Some(Nanos(120)), "one I/O after the other");
        assert_eq!((own.next(), own.take(Nanos::MAX)), (Nanos::MAX, None));
    }
}

#[test]
fn threads_that_share_processors_come_out_as_these_are_done() {
    let mut shared = cpus(Some(2), 4);
    for thread in 0..2 {
        assert_eq!(shared.hand_over(thread, 7 + thread, Nanos(100)), None);
    }
    assert_eq!(shared.next(), Nanos(110));
    assert_eq!(shared.take(Nanos(109)), None);
    assert_eq!(shared.take(Nanos(110)), Some((Nanos(110), 7)));
    assert_eq!(shared.take(Nanos(110)), Some((Nanos(110), 8)));
    assert_eq!(shared.take(Nanos::MAX), None);
}
