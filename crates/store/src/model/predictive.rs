use serde::{Deserialize, Serialize};

use super::warning::limit;
use super::{CellPlan, CellResult, DriveRecord, WorkloadRecord};

/// Kind of the percentiles of a latency.
pub const LATENCY_PERCENTILE: &str = "latency_percentile";

/// Probability of the recorded intervals.
pub const PREDICTIVE_LEVEL: f64 = 0.9;

/// 90 % predictive interval: where the real drive's figure is expected, relative to the simulated
/// one. Estimated from figures that no fit had seen, without the sampling noise of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictiveFactors {
    /// Kind of figure, such as `random_read` (rate of random reads) or [`LATENCY_PERCENTILE`].
    pub figure: String,
    /// I/Os in flight for which it holds; none: any other number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// The fit knew `this_drive`, `another_block`, `another_depth`, `other_kinds` or `facts_only`.
    pub situation: String,
    /// Drives from whose figures it was estimated; 0 in run folders of earlier versions.
    #[serde(default)]
    pub drives: u32,
    /// Multiple of the simulated figure below which 5 % are.
    pub low: f64,
    /// 5 % are above.
    pub high: f64,
}

/// A modelled host: nanoseconds per I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledHost {
    /// `2017`, `2025`, `bench` (the test bench of the profile's source) or the processor time of an
    /// asynchronous 4 KiB I/O.
    pub name: String,
    /// Processor time of a thread with several in flight.
    pub async_io_ns: u64,
    /// Processor time of a thread that waits for each.
    pub sync_io_ns: u64,
    /// Interrupt to running thread, where the thread slept.
    pub wake_ns: u64,
    /// Added processor time per KiB.
    pub kib_ns: u64,
    /// Processors that threads share; none: one per thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u16>,
    /// Real hosts differ by this factor either way, nine times in ten.
    pub spread: f64,
}

impl PredictiveFactors {
    /// Interval of a rate, in its unit.
    pub fn of_rate(&self, simulated: f64) -> [f64; 2] {
        [simulated * self.low, simulated * self.high]
    }

    /// Interval of a mean latency: with a fixed number in flight, the inverse of the rate's
    /// (Little's law).
    pub fn of_mean_latency(&self, simulated: f64) -> [f64; 2] {
        [simulated / self.high, simulated / self.low]
    }
}

impl DriveRecord {
    /// Intervals of a cell's rate and latency percentiles; `None` of a real drive, and where no
    /// figure of the kind was ever predicted: mixed and buffered workloads, several drives at once,
    /// jobs beside others, rates that the host limits.
    pub fn predictive(&self, plan: &CellPlan) -> [Option<&PredictiveFactors>; 2] {
        let workload = &plan.workload;
        let is_plain = plan.drives.len() == 1
            && plan.job.is_none()
            && plan.load.is_none()
            && !workload.is_rate_limited();
        let Some(kind) = workload.figure_kind().filter(|_| is_plain) else {
            return [None; 2];
        };
        [kind, LATENCY_PERCENTILE].map(|figure| self.factors(figure, workload.in_flight()))
    }

    /// [`DriveRecord::predictive`] of a result, its rate at most what the link carries. `None`
    /// where the host, not the drive, set the rate: such a figure says nothing of another drive.
    pub fn predictive_of(
        &self,
        plan: &CellPlan,
        result: &CellResult,
    ) -> [Option<PredictiveFactors>; 2] {
        if result.is_set_by_host() {
            return [None, None];
        }
        let [rate, percentiles] = self.predictive(plan);
        let most = self.most_by_link(result);
        let limited = |f: &PredictiveFactors| PredictiveFactors {
            high: f.high.min(most),
            low: f.low.min(most),
            ..f.clone()
        };
        [rate.map(limited), percentiles.cloned()]
    }

    /// Multiple of a result's rate that the link of a simulated drive carries, at least 1.
    pub fn most_by_link(&self, result: &CellResult) -> f64 {
        let simulated = result.mib_per_s() * f64::from(1 << 20);
        let most = self.link_bytes_per_second.filter(|_| simulated > 0.0);
        most.map_or(f64::INFINITY, |link| (link as f64 / simulated).max(1.0))
    }

    /// Where the modelled host set the rate: 90 % interval of that of real hosts, as factors, and
    /// the host. It says nothing of the drive.
    pub fn host_interval(
        &self,
        plan: &CellPlan,
        result: &CellResult,
    ) -> Option<([f64; 2], &ModelledHost)> {
        let host = self.host.as_ref().filter(|_| result.is_set_by_host())?;
        if plan.drives.len() != 1 || plan.workload.is_rate_limited() {
            return None;
        }
        let high = host.spread.min(self.most_by_link(result));
        Some(([1.0 / host.spread, high], host))
    }

    fn factors(&self, figure: &str, in_flight: u32) -> Option<&PredictiveFactors> {
        let of_kind = || self.predictive.iter().filter(|f| f.figure == figure);
        let at_depth = of_kind().find(|f| f.in_flight == Some(in_flight));
        at_depth.or_else(|| of_kind().find(|f| f.in_flight.is_none()))
    }
}

impl CellResult {
    /// Whether a processor of the host was busy all the time.
    pub fn is_set_by_host(&self) -> bool {
        self.busiest_thread_pct.is_some_and(|busy| busy >= limit::BUSY_THREAD_PCT)
    }
}

impl WorkloadRecord {
    /// Kind of the rate; `None` of mixed reads and writes, and of I/O through the page cache.
    pub fn figure_kind(&self) -> Option<&'static str> {
        if !self.direct {
            return None;
        }
        match self.rw.as_str() {
            "randread" => Some("random_read"),
            "read" => Some("sequential_read"),
            "write" => Some("sequential_write"),
            "randwrite" => Some("random_write"),
            _ => None,
        }
    }

    /// Whether the host limits the rate: an open loop, or a closed one with a highest rate or with
    /// pauses between its I/Os.
    pub fn is_rate_limited(&self) -> bool {
        const LIMITS: [&str; 3] = ["--rate", "--rate_iops", "--rate_bw"];
        let mut words = self.options.split_whitespace();
        let pauses = self.bursts.is_some() || self.idle_before_io_ns.is_some_and(|ns| ns > 0);
        pauses || self.rate_iops > 0.0 || words.any(|word| LIMITS.contains(&word))
    }

    /// I/Os in flight, all threads together.
    pub fn in_flight(&self) -> u32 {
        self.iodepth.max(1).saturating_mul(self.numjobs.max(1))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/model/predictive.rs"]
mod tests;
