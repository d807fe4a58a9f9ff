//! `io_properties.yaml` of Seastar's iotune, which ScyllaDB and Redpanda read (seastar,
//! doc/io-properties-file.md and apps/iotune/iotune.cc): four rates per mount point. Sequential I/O
//! is in blocks of 1 MiB; random I/O in the smallest blocks of the file system, which the file does
//! not have, and neither does it have the I/Os in flight.

use assay_fio_job::number;
use assay_units::Nanos;

use super::{job, of_rates};
use crate::{Job, Parsed};

/// A key by which a file is recognised.
pub const KEY: &[u8] = b"read_iops:";

/// Key, operation, block size if it is known, seconds: shares of iotune's default of 120 s.
const TESTS: [(&str, &str, u64, u64); 4] = [
    ("read_iops", "randread", 0, 12),
    ("read_bandwidth", "read", 1 << 20, 12),
    ("write_iops", "randwrite", 0, 12),
    ("write_bandwidth", "write", 1 << 20, 84),
];

/// The jobs. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let (mut place, mut jobs) = (String::new(), Vec::new());
    for line in text.lines() {
        let line = line.trim().trim_start_matches('-').trim_start();
        let (key, value) = line.split_once(':').unwrap_or(("", line));
        let value = value.trim().trim_matches(['"', '\'']);
        match TESTS.iter().find(|(known, ..)| *known == key) {
            Some(test) => jobs.extend(of_test(test, &place, value)),
            None if key == "mountpoint" || value.starts_with('/') => place = value.to_owned(),
            None => {}
        }
    }
    match jobs.is_empty() {
        true => Err("it has no rate of a disk".to_owned()),
        false => Ok(Parsed { tool: "iotune".to_owned(), jobs }),
    }
}

/// `value`: a number, or one with a suffix k, M, G or T of powers of 1000.
fn of_test(
    &(key, rw, bs_bytes, seconds): &(&str, &str, u64, u64),
    place: &str,
    value: &str,
) -> Option<Job> {
    let suffixed = || number::bytes(value, 1000).map(|value| value as f64);
    let value = value.parse().ok().or_else(suffixed)?;
    let options =
        [("rw", rw.to_owned()), ("ioengine", "libaio".to_owned()), ("direct", "1".to_owned())];
    let name = if place.is_empty() { key.to_owned() } else { format!("{key} {place}") };
    let mut job = job(&name, options);
    (job.workload.bs_bytes, job.workload.iodepth) = (bs_bytes, 0);
    job.workload.options = format!("--rw {rw}");
    job.elapsed = Nanos::from_secs(seconds);
    let direction = match bs_bytes {
        0 => of_rates(value, 0.0, job.elapsed),
        _ => of_rates(value / bs_bytes as f64, value, job.elapsed),
    };
    match rw.contains("read") {
        true => job.read = direction,
        false => job.write = direction,
    }
    (job.ios() > 0).then_some(job)
}
