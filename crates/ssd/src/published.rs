//! Published results of the modelled drives: the data of `reference/*.csv`, embedded. The model
//! never reads them; profile numbers were fitted to some of them.

/// Source of the stream rates.
pub const STREAM_SOURCE: &str = "MLE: technical brief on an NVMe streamer";
/// Source of the bandwidths.
pub const BANDWIDTH_SOURCE: &str = "DragonFly: NVMe M.2 bandwidth tests (M. Dillon)";

const RANDOM_READ: &str = include_str!("../../../reference/random_read_bandwidth.csv");
const STREAMS: &str = include_str!("../../../reference/streamer_chunk_sweep.csv");
const SEQUENTIAL_READ: &str = include_str!("../../../reference/sequential_read_bandwidth.csv");

/// A published read bandwidth: one block in flight per thread, on incompressible data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadBandwidth {
    /// Random, or each thread sequential in its own region.
    pub random: bool,
    /// Threads, one I/O in flight each.
    pub threads: u32,
    /// Bytes per I/O.
    pub block_bytes: u32,
    /// All threads together.
    pub mib_per_s: f64,
}

impl ReadBandwidth {
    /// Relative error of a simulated bandwidth in per cent; negative when lower.
    pub fn error_pct(&self, simulated_mib_per_s: f64) -> f64 {
        (simulated_mib_per_s / self.mib_per_s - 1.0) * 100.0
    }
}

/// A published rate of one stream of 128 KiB chunks, first submission to last completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamRate {
    /// Written, or read.
    pub write: bool,
    /// Length of the stream.
    pub stream_bytes: u64,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
    /// MiB/s from the published time (printed rates are truncated).
    pub mib_per_s: f64,
}

/// Published streams of a modelled drive, in the file's order; may be empty.
pub fn stream_rates(profile: &str) -> Vec<StreamRate> {
    of_drive(profile, STREAMS.lines().filter_map(stream_row))
}

/// Published read bandwidths of a modelled drive; may be empty.
pub fn read_bandwidths(profile: &str) -> Vec<ReadBandwidth> {
    let rows = |text: &'static str, random| text.lines().filter_map(move |line| row(line, random));
    of_drive(profile, rows(RANDOM_READ, true).chain(rows(SEQUENTIAL_READ, false)))
}

fn of_drive<T>(profile: &str, rows: impl Iterator<Item = (&'static str, T)>) -> Vec<T> {
    rows.filter(|(name, _)| *name == profile).map(|(_, published)| published).collect()
}

/// `drive,operation,chunks,bytes,nanoseconds,mib_per_s`; `None` for the heading.
fn stream_row(line: &str) -> Option<(&str, StreamRate)> {
    let mut fields = line.trim().split(',');
    let name = fields.next()?;
    let write = match fields.next()? {
        "write" => true,
        "read" => false,
        _ => return None,
    };
    let chunks: u64 = fields.next()?.parse().ok()?;
    let stream_bytes: u64 = fields.next()?.parse().ok()?;
    let seconds = fields.next()?.parse::<f64>().ok()? / 1e9;
    let rate = StreamRate {
        write,
        stream_bytes,
        chunk_bytes: u32::try_from(stream_bytes.checked_div(chunks)?).ok()?,
        mib_per_s: stream_bytes as f64 / (1 << 20) as f64 / seconds,
    };
    Some((name, rate))
}

/// `drive,threads,block_bytes,mib_per_s`; `None` for the heading.
fn row(line: &str, random: bool) -> Option<(&str, ReadBandwidth)> {
    let mut fields = line.trim().split(',');
    let name = fields.next()?;
    let figure = ReadBandwidth {
        random,
        threads: fields.next()?.parse().ok()?,
        block_bytes: fields.next()?.parse().ok()?,
        mib_per_s: fields.next()?.parse().ok()?,
    };
    Some((name, figure))
}

#[cfg(test)]
#[path = "../tests/unit/published.rs"]
mod tests;
