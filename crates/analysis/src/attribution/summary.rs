use assay_store::read::Run;
use serde::Serialize;

use super::{Cause, ObservedCell, RatePhase, Throttling, observe, phases, throttling};

/// Figures for verdicts and tables. Rates in MiB/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CauseSummary {
    /// Lowest over all cells.
    pub throttle_onset_c: Option<f64>,
    /// Runtime of the workload until the onset.
    pub throttle_onset_s: Option<f64>,
    /// Share of the throttled time in the slow state.
    pub throttle_duty_pct: Option<f64>,
    /// Time from one fall to the next.
    pub throttle_period_s: Option<f64>,
    pub rate_before_throttle_mib_per_s: Option<f64>,
    /// Fast and slow states together.
    pub rate_throttled_mib_per_s: Option<f64>,
    /// Largest value of all cells.
    pub slc_cache_bytes: Option<u64>,
    pub rate_in_cache_mib_per_s: Option<f64>,
    pub rate_after_cache_mib_per_s: Option<f64>,
    /// Random writes until garbage collection began.
    #[serde(rename = "collection_after_bytes")]
    pub gc_after_bytes: Option<u64>,
    /// Rate of the last cell that reached steady state.
    #[serde(rename = "collection_steady_iops")]
    pub gc_steady_iops: Option<f64>,
    /// Write amplification in that steady state.
    pub write_amplification: Option<f64>,
    pub host_limited_cells: u32,
    /// Cells with a phase in which the workload asked for no more.
    pub rate_limited_cells: u32,
    /// Cells with a phase limited by a power state.
    pub power_limited_cells: u32,
    pub unexplained_cells: u32,
}

pub fn summary(run: &Run, drive: usize) -> CauseSummary {
    let mut summary = CauseSummary::default();
    for cell in &run.cells {
        if let Some(observed) = observe(run, cell, drive) {
            summary.add(&observed, &phases(&observed));
        }
    }
    summary
}

impl CauseSummary {
    /// The cell with the lowest onset temperature represents the drive.
    fn add_throttling(&mut self, hot: &Throttling) {
        let known = self.throttle_onset_c.zip(hot.onset_c);
        let milder = known.is_some_and(|(least, celsius)| celsius >= least);
        if self.throttle_onset_s.is_none() || !milder {
            self.throttle_onset_c = hot.onset_c;
            self.throttle_onset_s = Some(hot.onset_s);
            self.throttle_duty_pct = Some(hot.duty_pct);
            self.throttle_period_s = hot.period_s;
            self.rate_before_throttle_mib_per_s = hot.before.map(|before| before.mib_per_s);
            self.rate_throttled_mib_per_s = Some(hot.after_mib_per_s);
        }
    }

    fn add(&mut self, observed: &ObservedCell, phases: &[RatePhase]) {
        let any = |of: fn(&Cause) -> bool| u32::from(phases.iter().any(|phase| of(&phase.cause)));
        self.host_limited_cells += any(|cause| matches!(cause, Cause::HostLimited));
        self.rate_limited_cells += any(|cause| matches!(cause, Cause::RateLimited { .. }));
        self.power_limited_cells += any(|cause| matches!(cause, Cause::PowerLimited { .. }));
        self.unexplained_cells += any(|cause| matches!(cause, Cause::Unexplained));
        if let Some(hot) = throttling(observed, phases) {
            self.add_throttling(&hot);
        }
        for (at, phase) in phases.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &phases[at]);
            if let Cause::SlcCacheExhausted { cache_bytes } = phase.cause
                && self.slc_cache_bytes.is_none_or(|known| cache_bytes > known)
            {
                self.slc_cache_bytes = Some(cache_bytes);
                self.rate_in_cache_mib_per_s = before.map(|before| before.mean_mib_per_s);
                self.rate_after_cache_mib_per_s = Some(phase.mean_mib_per_s);
            }
            if phase.cause.is_gc() && before.is_some_and(|before| !before.cause.is_gc()) {
                self.gc_after_bytes = Some(written_until(observed, phase.from_s));
            }
            if let Cause::GcSteady { write_amplification } = phase.cause {
                self.gc_steady_iops = Some(phase.mean_iops);
                self.write_amplification = write_amplification.or(self.write_amplification);
            }
        }
    }
}

fn written_until(observed: &ObservedCell, until_s: f64) -> u64 {
    let samples = observed.intervals.iter().map(|i| &i.sample);
    let before = samples.filter(|s| s.start_s() < until_s);
    before.map(|s| s.write.bytes).sum()
}
