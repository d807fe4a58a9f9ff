//! The series of a cell as statistics take them.

use assay_store::read::CellDrive;

/// What a drive did in one interval, reads and writes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Second {
    /// Where it starts, seconds since the cell's start.
    pub start_s: f64,
    /// How long it was, seconds.
    pub elapsed_s: f64,
    /// Completions per second.
    pub iops: f64,
    /// MiB (2^20 bytes) per second.
    pub mib_per_s: f64,
    /// Mean latency, nanoseconds; 0 where nothing completed.
    pub latency_mean_ns: f64,
    /// Bytes written in it.
    pub written_bytes: u64,
}

/// The intervals of a drive in a cell in time order, reads and writes added up, the ramp left out, and a last one that is shorter than
/// half of the longest.
pub fn seconds(drive: &CellDrive) -> Vec<Second> {
    let measured = || drive.series.iter().filter(|p| !p.ramp);
    let longest = measured().map(|p| p.elapsed()).max().unwrap_or_default();
    let mut seconds: Vec<(u32, u64, Second)> = Vec::new();
    for point in measured() {
        let ios = point.ios;
        let latency_ns = point.latency.mean * point.latency.samples as f64;
        let written = if point.op == assay_units::Op::Write {
            point.bytes
        } else {
            0
        };
        match seconds.last_mut() {
            Some((index, all, second)) if *index == point.index => {
                second.iops += point.iops();
                second.mib_per_s += point.mib_per_s();
                second.latency_mean_ns += latency_ns;
                second.written_bytes += written;
                *all += ios;
            }
            _ => seconds.push((
                point.index,
                ios,
                Second {
                    start_s: point.start.as_secs_f64(),
                    elapsed_s: point.elapsed().as_secs_f64(),
                    iops: point.iops(),
                    mib_per_s: point.mib_per_s(),
                    latency_mean_ns: latency_ns,
                    written_bytes: written,
                },
            )),
        }
    }
    if seconds
        .last()
        .is_some_and(|(_, _, s)| s.elapsed_s * 2.0 < longest.as_secs_f64())
    {
        seconds.pop();
    }
    for (_, ios, second) in &mut seconds {
        second.latency_mean_ns = match *ios {
            0 => 0.0,
            ios => second.latency_mean_ns / ios as f64,
        };
    }
    seconds.into_iter().map(|(_, _, second)| second).collect()
}

#[cfg(test)]
#[path = "../tests/unit/series.rs"]
mod tests;
