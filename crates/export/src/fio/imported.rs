//! Jobs of imported results, whose figures are those that their file states. It may have no
//! distributions, and what it states counts before what they give.

use assay_stats::summary::PERCENTILES as KNOWN;
use assay_stats::{LatencySummary, OpSummary};
use assay_store::model::CellResult;
use assay_units::KIB;

use super::{Direction, Job, Jobs, Latency, Ordered, PERCENTILES, millis};

/// Adds the jobs without distributions, and corrects the others.
pub(super) fn with_stated((run, jobs): Jobs) -> Jobs {
    if run.manifest.imported.is_none() {
        return (run, jobs);
    }
    let mut known: std::collections::BTreeMap<_, _> = jobs.into_iter().collect();
    let mut all = Vec::new();
    for (cell_at, cell) in run.cells.iter().enumerate() {
        for (place, part) in cell.drives.iter().enumerate() {
            let at = (cell_at, place);
            let Some(result) = part.result.as_ref() else {
                continue;
            };
            let number = all.len();
            let job = known
                .remove(&at)
                .unwrap_or_else(|| Job::default().complete(&run, number, cell, part));
            all.push((at, job.stated(number, result)));
        }
    }
    (run, all)
}

impl Job {
    fn stated(mut self, number: usize, result: &CellResult) -> Job {
        self.groupid = number;
        let directions = [
            (&mut self.read, &result.read),
            (&mut self.write, &result.write),
            (&mut self.trim, &result.discard),
        ];
        for (direction, summary) in directions {
            direction.state(summary, millis(result.elapsed));
        }
        if !result.flush.is_unused() {
            self.sync.total_ios = result.flush.ios;
            self.sync.lat_ns.state(&result.flush.latency_ns);
            self.sync.lat_ns.state_percentiles(&result.flush.latency_ns);
        }
        if result.errors() > 0 {
            self.error = super::EIO;
        }
        self
    }
}

impl Direction {
    fn state(&mut self, summary: &OpSummary, runtime_ms: u64) {
        if summary.is_unused() {
            return;
        }
        let bytes_per_s = summary.mib_per_s * (KIB * KIB) as f64;
        self.io_bytes = summary.bytes;
        self.io_kbytes = summary.bytes / KIB;
        self.bw_bytes = bytes_per_s.round() as u64;
        self.bw = (bytes_per_s / KIB as f64) as u64;
        self.iops = summary.iops;
        self.runtime = runtime_ms;
        self.total_ios = summary.ios;
        self.short_ios = summary.errors;
        let latency = &summary.latency_ns;
        self.lat_ns.state(latency);
        self.clat_ns.state(latency);
        self.clat_ns.state_percentiles(latency);
    }
}

impl Latency {
    fn state(&mut self, latency: &LatencySummary) {
        self.min = latency.min;
        self.max = latency.max;
        self.mean = latency.mean;
        self.stddev = latency.stddev;
        self.n = latency.samples;
    }

    fn state_percentiles(&mut self, latency: &LatencySummary) {
        let from_bins = self.percentile.take();
        let percentile = |per_million: u32| {
            let name = format!("{:.6}", f64::from(per_million) / 1e4);
            let key = KNOWN.iter().find(|(_, known)| *known == per_million);
            let stated = key.and_then(|(key, _)| latency.percentile(key));
            let of_bins = || from_bins.as_ref()?.0.iter().find(|(known, _)| *known == name);
            let ns = stated.map(|ns| ns.0).or_else(|| Some(of_bins()?.1))?;
            Some((name, ns))
        };
        let percentiles: Vec<_> = PERCENTILES.into_iter().filter_map(percentile).collect();
        self.percentile = (!percentiles.is_empty()).then_some(Ordered(percentiles));
    }
}
