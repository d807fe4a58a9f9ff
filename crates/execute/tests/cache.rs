//! Hit rates, rates and latencies of a disk with a cache whose truth is known.

use crate::common;

use assay_store::model::{CACHE_DIRTY_MIB, CACHE_HIT_PCT};
use assay_store::read::Run;

use common::{cells, run_built_in, value};

const SET: [(&str, &str); 5] = [
    ("working_set", "64MiB"),
    ("data_set", "1GiB"),
    ("burst", "4MiB"),
    ("runtime", "5s"),
    ("settle", "1s"),
];

fn hits(run: &Run, step: &str) -> Vec<f64> {
    let cells = cells(run, step);
    cells.iter().map(|cell| value(cell, CACHE_HIT_PCT)).collect()
}

/// Median latency of reads (or writes) of the last cell of a step, milliseconds.
fn median_ms(run: &Run, step: &str) -> f64 {
    let found = cells(run, step);
    let result = found.last().unwrap().drives[0].result.as_ref().unwrap();
    result.latency().p50 as f64 / 1e6
}

/// 256 MiB of cache: the first pass over 64 MiB of 64 KiB blocks misses all, the others hit all; of
/// 1 GiB a cache of a quarter has a quarter.
#[test]
fn hit_rates_are_those_of_the_cache() {
    let spec = "sim:intel-optane-memory-32gb,cache_of=disk-7200,cache_size=256m";
    let (run, _folder) = run_built_in("cache", &SET, spec);
    assert_eq!(hits(&run, "working-set"), [0.0, 100.0, 100.0]);
    assert_eq!(hits(&run, "small"), [100.0]);
    assert!(median_ms(&run, "small") < 0.05);
    // A second with the disk fills 100 blocks of 64 KiB: the cache holds what was read before, of
    // which a quarter at most.
    let larger = hits(&run, "larger")[0];
    assert!((2.0..30.0).contains(&larger), "{larger}");
    assert!(median_ms(&run, "larger") > 3.0);
    let hot = hits(&run, "hot");
    assert!(hot[1] > hot[0] && hot[1] > 30.0, "{hot:?}");
    // Write-back: a burst takes the time of the cache device, and leaves dirty data.
    assert!(median_ms(&run, "write-burst") < 0.2);
    let dirty_mib = value(cells(&run, "write-burst")[0], CACHE_DIRTY_MIB);
    assert!((3.0..=4.0).contains(&dirty_mib), "{dirty_mib}");
    assert!(run.cells.iter().all(|cell| cell.drives[0].result.is_some()));
}

#[test]
fn write_through_waits_for_the_disk_and_a_disk_alone_has_no_hits() {
    let spec =
        "sim:intel-optane-memory-32gb,cache_of=disk-7200,cache_size=256m,cache_mode=writethrough";
    let (run, _folder) = run_built_in("cache", &SET, spec);
    assert_eq!(hits(&run, "working-set"), [0.0, 100.0, 100.0]);
    assert!(median_ms(&run, "write-burst") > 3.0);
    let spec = "sim:intel-optane-memory-32gb,cache_of=disk-7200,cache_mode=none";
    let (run, _folder) = run_built_in("cache", &SET, spec);
    assert_eq!(hits(&run, "working-set"), [0.0; 3]);
    assert!(median_ms(&run, "small") > 3.0);
    assert_eq!(run.manifest.drives[0].profile, None);
    assert_eq!(run.manifest.drives[0].label, "disk-7200");
}
