//! Block caches of the guest's kernel, dm-cache and bcache, in front of a drive whose latency is
//! known: dm-delay delays each of its I/Os.

use crate::fixture::number;
use crate::guest::{Guest, Setup};

/// Delay of an I/O of the slow drive, as dm-delay is told.
const DELAY_MS: f64 = 20.0;
/// What an I/O of the slow drive takes at least. dm-delay counts ticks of 4 ms and the first one is
/// begun: measured in this guest, 256 reads took 17.3 to 27.5 ms.
const SLOW_MS: f64 = DELAY_MS - 4.0;
const MIB: usize = 1 << 20;

/// The slow drive, /dev/mapper/slow, and the path of the fast one.
fn boot(tools: &[&'static str]) -> Option<(Guest, String)> {
    let setup = Setup::new()?;
    let mut guest = setup
        .tools(tools)
        .drive("slow", "SLOW", "slow-image", 128 * MIB)
        .drive("fast", "FAST", "fast-image", 96 * MIB)
        .boot();
    let (slow, fast) = (guest.device("SLOW"), guest.device("FAST"));
    guest.ok(&format!(
        "echo 0 $(blockdev --getsz {slow}) delay {slow} 0 {DELAY_MS} | dmsetup create slow"
    ));
    Some((guest, fast))
}

/// What a job measured.
struct Measured {
    /// Hit rate by assay, percent.
    hit_pct: Option<f64>,
    dirty_mib: f64,
    median_ms: f64,
}

fn job(guest: &mut Guest, words: &str) -> Measured {
    let done = guest.json(&format!("job {words}"));
    let job = &done["jobs"][0];
    let op = if words.contains("write") { "write" } else { "read" };
    assert_eq!(number(job, &format!("/{op}/errors")), 0.0);
    Measured {
        hit_pct: job["values"]["cache_hit_pct"].as_f64(),
        dirty_mib: number(job, "/values/cache_dirty_mib"),
        median_ms: number(job, &format!("/{op}/latency_ns/p50")) / 1e6,
    }
}

/// Whole numbers that a command prints.
fn numbers(guest: &mut Guest, line: &str) -> Vec<f64> {
    let text = guest.ok(line);
    let words = text.split_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Hit rate between two readings of (hits, misses), percent.
fn rate(before: &[f64], after: &[f64]) -> f64 {
    let (hits, misses) = (after[0] - before[0], after[1] - before[1]);
    100.0 * hits / (hits + misses)
}

/// The hit rate of a job is that of dmsetup's counters; a hit takes less than the slow drive needs,
/// a miss does not. The suite `cache` runs on it.
#[test]
fn dm_cache_is_measured_with_the_kernels_own_hit_rate() {
    let Some((mut guest, fast)) = boot(&["dmsetup"]) else {
        return;
    };
    // 4 MiB of metadata, 64 MiB of cache in blocks of 64 KiB.
    guest.ok(&format!(
        "echo 0 8192 linear {fast} 0 | dmsetup create meta && echo 0 131072 linear {fast} 8192 | \
         dmsetup create data"
    ));
    guest
        .ok("echo 0 $(blockdev --getsz /dev/mapper/slow) cache /dev/mapper/meta /dev/mapper/data \
         /dev/mapper/slow 128 1 writeback smq 0 | dmsetup create cached");
    // Read hits and misses are the fifth and sixth field of the status.
    let counters = "dmsetup status cached | cut -d' ' -f 8,9";
    let pass = |guest: &mut Guest| {
        let before = numbers(guest, counters);
        let measured = job(
            guest,
            "/dev/mapper/cached --rw randread --bs 64k --size 16m --io_size 16m \
             --random_distribution cover --iodepth 1",
        );
        let expected = rate(&before, &numbers(guest, counters));
        let found = measured.hit_pct.unwrap();
        assert!((found - expected).abs() < 0.5, "{found} for {expected}");
        (found, measured.median_ms)
    };
    let (cold, median_ms) = pass(&mut guest);
    assert!(cold == 0.0 && median_ms >= SLOW_MS, "{cold} %, {median_ms} ms");
    // smq promotes a share of the blocks at each pass.
    let warm = (0..12).map(|_| pass(&mut guest)).find(|(hits, _)| *hits > 65.0);
    let (_, median_ms) = warm.expect("most blocks are promoted");
    assert!(median_ms < SLOW_MS, "{median_ms} ms");

    let serial = guest.json("probe /dev/mapper/cached")["drive"]["serial"].clone();
    let serial = serial.as_str().unwrap();
    let sizes = "--set working_set=8MiB --set data_set=96MiB --set burst=1MiB --set runtime=2s \
                 --set settle=1s";
    let run = guest.json(&format!("run cache /dev/mapper/cached {sizes} --destroy {serial}"));
    let cells = run["runs"][0]["cells"].as_array().unwrap();
    let of = |step: &str| cells.iter().rfind(|cell| cell["step"] == step).unwrap();
    assert!(cells.iter().all(|cell| cell["state"] == "finished"), "{run:#}");
    let hits = |step: &str| of(step)["values"]["cache_hit_pct"].as_f64();
    assert!(hits("small") > Some(65.0), "{:?}", hits("small"));
    assert!(hits("larger") < hits("small"), "{:?}", hits("larger"));
    assert_eq!(hits("writes"), None, "a cell without reads");
    // Write-back: what is written to cached blocks is dirty.
    assert!(number(of("write-burst"), "/values/cache_dirty_mib") > 0.0);
    guest.end();
}

/// bcache adds its counters up every 13.6 s: a job of 41 s has at least two thirds of its reads in
/// them.
#[test]
fn bcache_is_measured_with_the_kernels_own_hit_rate() {
    let Some((mut guest, fast)) = boot(&["dmsetup", "make-bcache"]) else {
        return;
    };
    guest.ok(&format!(
        "make-bcache --block 4k --bucket 64k -B /dev/mapper/slow -C {fast} && echo \
         /dev/mapper/slow > /sys/fs/bcache/register && echo {fast} > /sys/fs/bcache/register"
    ));
    // Everything is cached, sequential I/O and that of a congested cache as well.
    guest.ok("cd /sys/block/bcache0/bcache && echo 0 > sequential_cutoff && echo 0 > \
         cache/congested_read_threshold_us && echo 0 > cache/congested_write_threshold_us");
    let cold = job(
        &mut guest,
        "/dev/bcache0 --rw randread --bs 64k --size 8m --io_size 8m --random_distribution cover \
         --iodepth 1",
    );
    assert!(cold.median_ms >= SLOW_MS, "{} ms", cold.median_ms);

    let counters =
        "sleep 14; cd /sys/block/bcache0/bcache/stats_total && cat cache_hits cache_misses";
    let before = numbers(&mut guest, counters);
    assert!(before[1] >= 128.0, "all were misses: {before:?}");
    let warm = job(
        &mut guest,
        "/dev/bcache0 --rw randread --bs 64k --size 8m --iodepth 1 --rate_iops 30 --runtime 41s",
    );
    let expected = rate(&before, &numbers(&mut guest, counters));
    let found = warm.hit_pct.unwrap();
    assert!((found - expected).abs() < 1.0 && found > 95.0, "{found} for {expected}");
    assert!(warm.median_ms < SLOW_MS, "{} ms", warm.median_ms);

    // Write-through waits for the slow drive and leaves nothing dirty, write-back does neither.
    let writes = "/dev/bcache0 --rw randwrite --bs 4k --size 8m --number_ios 256 --iodepth 1 \
                  --destroy bcache0";
    let through = job(&mut guest, writes);
    assert!(
        through.median_ms >= SLOW_MS && through.dirty_mib == 0.0,
        "{} ms, {} MiB dirty",
        through.median_ms,
        through.dirty_mib
    );
    assert_eq!(through.hit_pct, None, "no reads");
    guest.ok("echo writeback > /sys/block/bcache0/bcache/cache_mode");
    let back = job(&mut guest, writes);
    assert!(back.median_ms < SLOW_MS, "{} ms", back.median_ms);
    assert!((0.5..=1.1).contains(&back.dirty_mib), "{} MiB", back.dirty_mib);
    guest.end();
}
