use super::*;
use assay_ssd::Profile;
use assay_units::Nanos;

#[test]
fn a_cost_scales_the_current_host() {
    let bench = Profile::builtin("samsung-951").unwrap().bench;
    let of = |ns| HostCosts::new(HostChoice::Cost(Nanos(ns)), &bench);
    assert_eq!(of(2_300), YEAR_2025);
    assert_eq!(of(0), HostCosts::default());
    let double = of(4_600);
    assert_eq!(double.work_ns(2, 4096), 4_600);
    assert_eq!((double.sync_io_ns, double.wake_ns), (3_000, 1_400));
}

#[test]
fn depth_1_is_synchronous_and_long_blocks_cost_more() {
    let host = YEAR_2025;
    assert_eq!(host.work_ns(1, 4096), 1_620);
    assert_eq!(host.work_ns(128, 4096), 2_300);
    assert_eq!(host.work_ns(2, 131_072), 2_180 + 128 * 30);
}

/// No publication, no other host.
#[test]
fn profiles_from_facts_alone_have_the_current_host_as_bench() {
    let from_facts = Profile::names();
    let from_facts = from_facts.iter().filter(|name| Profile::is_from_facts_alone(name));
    for name in from_facts.filter(|name| **name != "mle-brief-960gb") {
        let bench = Profile::builtin(name).unwrap().bench;
        assert_eq!(HostCosts::of_bench(&bench), YEAR_2025, "{name}");
    }
}
