//! The JSON of yabs.sh: bandwidth and IOPS of one fixed job of fio by four block sizes. Its options
//! are those of the function `disk_test` of the script: 30 s of 50 % reads, two threads at depth
//! 64, direct, in a file of 2 GiB (512 MiB on ARM). "KBps" are KiB/s.

use assay_units::Nanos;
use serde::Deserialize;

use super::{job, of_rates};
use crate::Parsed;

/// Keys by which a document is recognised.
pub const KEYS: [&[u8]; 2] = [b"\"speed_rw\"", b"\"iops_rw\""];

const SECONDS: u64 = 30;

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    version: String,
    #[serde(default)]
    os: Os,
    fio: Vec<Row>,
}

#[derive(Default, Deserialize)]
struct Os {
    #[serde(default)]
    arch: String,
}

#[derive(Deserialize)]
struct Row {
    bs: String,
    speed_r: f64,
    iops_r: f64,
    speed_w: f64,
    iops_w: f64,
}

/// The jobs. The error is the reason why there are none.
pub fn parse(text: &[u8]) -> Result<Parsed, String> {
    let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let size = match document.os.arch.as_str() {
        "aarch64" | "arm" => "512m",
        _ => "2g",
    };
    let elapsed = Nanos::from_secs(SECONDS);
    let jobs = document.fio.iter().map(|row| {
        let options = [
            ("rw", "randrw"),
            ("rwmixread", "50"),
            ("bs", &row.bs),
            ("iodepth", "64"),
            ("numjobs", "2"),
            ("ioengine", "libaio"),
            ("direct", "1"),
            ("size", size),
            ("runtime", "30"),
        ];
        let options = options.map(|(name, value)| (name, value.to_owned()));
        let mut job = job(&format!("rand_rw_{}", row.bs), options);
        job.elapsed = elapsed;
        job.read = of_rates(row.iops_r, row.speed_r * 1024.0, elapsed);
        job.write = of_rates(row.iops_w, row.speed_w * 1024.0, elapsed);
        job
    });
    let jobs = jobs.collect();
    let tool = format!("yabs.sh {}", document.version);
    Ok(Parsed { tool, jobs })
}
