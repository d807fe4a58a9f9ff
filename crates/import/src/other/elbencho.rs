//! elbencho's CSV file (docs/csv-docs.md of elbencho): a row per phase, of which reads and writes
//! count, as of the end of the last thread. Of a mix the row has the writes, and the reads in the
//! columns "rwmix read". Latencies are mean and extremes in microseconds.

use assay_units::Nanos;

use super::{job, of_rates, set_mean};
use crate::{Job, Parsed};

/// A column by which a file is recognised.
pub const KEY: &[u8] = b"time ms [last]";

/// The jobs. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut parsed = Parsed::default();
    for row in reader.records().filter_map(Result::ok) {
        let text = |name: &str| {
            let column = header.iter().position(|known| known.trim() == name)?;
            row.get(column).map(str::trim).filter(|value| !value.is_empty())
        };
        parsed.jobs.extend(of_row(&text));
        if let Some(version) = text("version") {
            parsed.tool = format!("elbencho {version}");
        }
    }
    match parsed.jobs.is_empty() {
        true => Err("no row is of reads or writes".to_owned()),
        false => Ok(parsed),
    }
}

fn of_row<'a>(text: &dyn Fn(&str) -> Option<&'a str>) -> Option<Job> {
    let number = |name: &str| -> Option<f64> { text(name)?.parse().ok() };
    let operation = match text("operation")? {
        "READ" => "read",
        "WRITE" | "RWMIX" => "write",
        _ => return None,
    };
    let reads_too = number("rwmix read IOPS [last]").filter(|iops| *iops > 0.0);
    let kind = if reads_too.is_some() { "rw" } else { operation };
    let random = if text("random") == Some("1") { "rand" } else { "" };
    let threads = number("threads")? * number("hosts").unwrap_or(1.0).max(1.0);
    let whole = |value: f64| format!("{}", value.max(0.0) as u64);
    let mut options = vec![
        ("rw", format!("{random}{kind}")),
        ("bs", whole(number("block size")?)),
        ("iodepth", whole(number("IO depth").unwrap_or(1.0).max(1.0))),
        ("numjobs", whole(threads)),
        ("size", whole(number("file size").unwrap_or(0.0))),
        ("ioengine", "libaio".to_owned()),
    ];
    if let Some(direct) = text("direct IO") {
        options.push(("direct", direct.to_owned()));
    }
    let mut job = job(text("label").unwrap_or(operation), options);
    job.workload.rwmixread = None;
    let elapsed_ms = number("time ms [last]")?.max(0.0);
    job.elapsed = Nanos((elapsed_ms * 1e6) as u64);
    let side = |prefix: &str| {
        let of = |name: &str| number(&format!("{prefix}{name}")).unwrap_or(0.0);
        let rate = of("MiB/s [last]") * f64::from(1 << 20);
        let mut direction = of_rates(of("IOPS [last]"), rate, job.elapsed);
        set_mean(&mut direction, of("IO lat us [avg]"));
        let latency = &mut direction.summary.latency_ns;
        latency.min = (of("IO lat us [min]") * 1e3) as u64;
        latency.max = (of("IO lat us [max]") * 1e3) as u64;
        direction
    };
    let own = side("");
    let reads = reads_too.map(|_| side("rwmix read "));
    match operation {
        "read" => job.read = own,
        _ => job.write = own,
    }
    if let Some(reads) = reads {
        job.read = reads;
    }
    (job.ios() > 0).then_some(job)
}
