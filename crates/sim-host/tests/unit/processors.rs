use super::*;
use assay_ssd::{Profile, Provenance, Sourced};

fn processors(cores: Option<u16>, threads: u32) -> HostProcessors {
    let mut bench = Profile::builtin("samsung-951").unwrap().bench;
    bench.host_overhead_ns.value = 10;
    bench.host_cores = cores.map(|value| Sourced {
        value,
        provenance: Provenance::Assumed,
        source: "a test".to_owned(),
    });
    HostProcessors::new(&bench, threads, Nanos(100))
}

#[test]
fn threads_on_separate_cpus_do_not_wait_for_each_other() {
    for cores in [None, Some(4)] {
        let mut own = processors(cores, 4);
        let served = [0, 1, 2, 3].map(|thread| own.submit(thread, 0, Nanos(100)));
        assert_eq!(served, [Some(Nanos(110)); 4]);
        let after = own.submit(3, 0, Nanos(105));
        assert_eq!(after, Some(Nanos(120)), "one I/O after the other");
        assert_eq!((own.next_event(), own.pop(Nanos::MAX)), (Nanos::MAX, None));
    }
}

#[test]
fn threads_on_shared_cpus_match_the_reference_schedule() {
    let mut shared = processors(Some(2), 4);
    for thread in 0..2 {
        assert_eq!(shared.submit(thread, 7 + thread, Nanos(100)), None);
    }
    assert_eq!(shared.next_event(), Nanos(110));
    assert_eq!(shared.pop(Nanos(109)), None);
    assert_eq!(shared.pop(Nanos(110)), Some((Nanos(110), 7)));
    assert_eq!(shared.pop(Nanos(110)), Some((Nanos(110), 8)));
    assert_eq!(shared.pop(Nanos::MAX), None);
}
