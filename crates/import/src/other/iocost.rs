//! The line that `iocost_coef_gen.py` prints and `io.cost.model` takes: six rates. The workloads
//! are those of the script (Linux, tools/cgroup): 120 s each of sequential I/O in blocks of 128
//! MiB, of sequential and of random 4 KiB I/Os at depth 64, direct, in a file of 16 GiB.

use assay_units::Nanos;

use super::{job, of_rates};
use crate::{Job, Parsed};

/// The first of the coefficients, by which a line is recognised.
pub const KEY: &[u8] = b"rseqiops=";

const SECONDS: u64 = 120;

/// Key, operation, block size, depth.
const TESTS: [(&str, &str, u64, u32); 6] = [
    ("rbps", "read", 128 << 20, 1),
    ("rseqiops", "read", 4096, 64),
    ("rrandiops", "randread", 4096, 64),
    ("wbps", "write", 128 << 20, 1),
    ("wseqiops", "write", 4096, 64),
    ("wrandiops", "randwrite", 4096, 64),
];

/// The jobs of every such line. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let mut jobs = Vec::new();
    for line in text.lines() {
        let value = |key: &str| -> Option<f64> {
            let mut words = line.split_whitespace();
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
        };
        jobs.extend(TESTS.iter().filter_map(|test| of_test(test, value(test.0)?)));
    }
    match jobs.is_empty() {
        true => Err("no line has the coefficients of io.cost.model".to_owned()),
        false => Ok(Parsed { tool: "iocost_coef_gen.py".to_owned(), jobs }),
    }
}

fn of_test(&(key, rw, bs_bytes, iodepth): &(&str, &str, u64, u32), value: f64) -> Option<Job> {
    let options = [
        ("rw", rw.to_owned()),
        ("bs", bs_bytes.to_string()),
        ("iodepth", iodepth.to_string()),
        ("numjobs", "1".to_owned()),
        ("ioengine", "libaio".to_owned()),
        ("direct", "1".to_owned()),
        ("size", "16g".to_owned()),
        ("runtime", SECONDS.to_string()),
    ];
    let mut job = job(key, options);
    job.elapsed = Nanos::from_secs(SECONDS);
    let bytes = match key.ends_with("bps") {
        true => value,
        false => value * bs_bytes as f64,
    };
    let direction = of_rates(bytes / bs_bytes as f64, bytes, job.elapsed);
    match rw.contains("read") {
        true => job.read = direction,
        false => job.write = direction,
    }
    (value > 0.0).then_some(job)
}
