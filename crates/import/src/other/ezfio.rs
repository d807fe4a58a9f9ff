//! The table that ezFIO makes of its runs of fio (`ezfio_tests_*.csv`; ezfio.py, `SetupFiles` and
//! `RunTest`): a row per test with the sum of reads and writes and the mean latency of each. Beside
//! it lie the outputs of fio themselves, which say more: where a folder has them, the table is left
//! out.

use assay_units::Nanos;

use super::{job, of_rates, set_mean};
use crate::{Job, Note, Parsed};

/// The head of the table, a line of its own: ezFIO puts a copy of its script beside it.
pub const KEY: &[u8] = b"\nType,Write %,Block Size,Threads,Queue Depth/Thread,IOPS";

/// ezFIO's duration of a test; of its one long test, which has 256 threads and mixes.
const SECONDS: u64 = 120;
const LONG_SECONDS: u64 = 1200;
/// Mark of tests of a tenth of that (`--quickie`).
const QUICK: &str = "QUICKIE-";

/// The jobs. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let text = String::from_utf8_lossy(text);
    let head = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(','));
        lines.find_map(|(key, value)| (key == name).then_some(value.trim()))
    };
    let quick = head("Drive").is_some_and(|value| value.contains(QUICK));
    let tested = head("TestedCapacity").and_then(|value| value.split([',', ' ']).next());
    let span = tested.and_then(|gib| gib.rsplit('-').next()).map(|gib| format!("{gib}g"));
    let mut jobs: Vec<Job> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if let [kind @ ("Seq" | "Rand"), fields @ ..] = fields.as_slice() {
            jobs.extend(of_row(kind, fields, span.as_deref(), quick));
        }
    }
    match jobs.is_empty() {
        true => Err("it has no row of a test".to_owned()),
        false => Ok(Parsed {
            tool: head("FIOVersion")
                .map_or_else(|| "ezFIO".to_owned(), |fio| format!("ezFIO, {fio}")),
            jobs,
        }),
    }
}

fn of_row(kind: &str, fields: &[&str], span: Option<&str>, quick: bool) -> Option<Job> {
    let [writes, bs, threads, depth, iops, _, read_us, write_us, ..] = fields else {
        return None;
    };
    let writes: u8 = writes.parse().ok()?;
    let operation = match writes {
        0 => "read",
        100 => "write",
        _ => "rw",
    };
    let random = if kind == "Rand" { "rand" } else { "" };
    let mut options = vec![
        ("rw", format!("{random}{operation}")),
        ("bs", (*bs).to_owned()),
        ("numjobs", (*threads).to_owned()),
        ("iodepth", (*depth).to_owned()),
        ("ioengine", "libaio".to_owned()),
        ("direct", "1".to_owned()),
    ];
    options.extend(span.map(|span| ("size", span.to_owned())));
    if operation == "rw" {
        options.push(("rwmixwrite", writes.to_string()));
    }
    let mut job = job(&format!("{random}{operation}"), options);
    let long = operation == "rw" && job.workload.numjobs == 256;
    let seconds = if long { LONG_SECONDS } else { SECONDS };
    job.elapsed = Nanos::from_secs(if quick { seconds / 10 } else { seconds });
    let iops: f64 = iops.parse().ok()?;
    let mut sum = of_rates(iops, iops * job.workload.bs_bytes as f64, job.elapsed);
    let mean = |text: &str| text.parse().unwrap_or(0.0);
    match operation {
        "write" => {
            set_mean(&mut sum, mean(write_us));
            job.write = sum;
        }
        "read" => {
            set_mean(&mut sum, mean(read_us));
            job.read = sum;
        }
        // Of a mix there is one rate and two latencies.
        _ => {
            job.read = sum;
            job.one_sum();
        }
    }
    job.note(Note::Rounded);
    (job.ios() > 0).then_some(job)
}
