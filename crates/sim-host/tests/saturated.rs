//! Percentiles of saturated drives: random reads by several threads with 128 in flight each (fio,
//! libaio; BU-DiSC/SSD-Benchmark, `results/p4510` and `results/p4800x`).

use assay_ssd::Profile;

use crate::capacity::{p4510, reads};

/// Simulated percentiles of these shares, in microseconds, within 30 % of the published ones.
fn check(profile: &Profile, block: u64, threads: u32, published: &[(f64, f64)]) {
    let (_, latencies) = reads(profile, block, None, threads);
    for (share, published) in published {
        let at = (latencies.len() as f64 * share) as usize;
        let simulated = latencies[at].0 as f64 / 1000.0;
        println!("{block} bytes, {threads} threads, {share}: {simulated:.0} of {published} us");
        let error = simulated / published - 1.0;
        assert!(error.abs() < 0.3, "{simulated:.0} us of {published}");
    }
}

/// Beyond its slots, reads wait in their queues, all for as long: tails grow by the mean, and not
/// in proportion to it. The slots are fitted to odd numbers of threads; these are predicted.
#[test]
fn the_slots_of_a_p4510_of_1_tb_bound_its_tails() {
    let small = p4510(1_000_204_886_016);
    for (block, threads, [p50, p99, p99_9]) in [
        (4096, 4, [906.0, 3523.0, 5145.0]),
        (4096, 6, [1467.0, 3654.0, 5244.0]),
        (4096, 8, [2024.0, 4228.0, 5604.0]),
        (4096, 10, [2540.0, 4818.0, 6325.0]),
        (8192, 8, [4015.0, 7701.0, 10_159.0]),
        (8192, 10, [5014.0, 8979.0, 11_207.0]),
    ] {
        let published = [(0.5, p50), (0.99, p99), (0.999, p99_9)];
        check(&small, block, threads, &published);
    }
}

/// With an odd number of threads, those of the smaller bank wait for less long: half of the reads
/// have the latency of a thread less, half that of a thread more.
#[test]
fn the_banks_of_a_p4800x_have_latencies_of_their_own() {
    let profile = Profile::builtin("intel-optane-p4800x").expect("a built-in profile");
    for (threads, [p50, p99]) in [
        (3, [437.0, 898.0]),
        (4, [865.0, 906.0]),
        (5, [873.0, 1336.0]),
        (7, [1319.0, 1778.0]),
        (9, [1762.0, 2212.0]),
    ] {
        check(&profile, 4096, threads, &[(0.49, p50), (0.99, p99)]);
    }
}
