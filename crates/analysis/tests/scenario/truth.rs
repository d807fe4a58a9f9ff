//! Ground truth of a run, from the model's state.

use assay_ssd::Profile;
use assay_ssd::profile::SlcOverflow;
use assay_units::Op;

use super::bench::{Job, Second, mean_iops};
use super::draw::SHOWS;
use super::{Label, Truth};

/// Share of the seconds up to the last throttled one that are, percent; `None` where none is
/// throttled at its end.
fn duty_pct(seconds: &[Second]) -> Option<f64> {
    let throttled = |s: &Second| s.telemetry.throttled;
    let until = 1 + seconds.iter().rposition(throttled)?;
    let count = seconds[..until].iter().filter(|s| throttled(s)).count();
    Some(count as f64 / until as f64 * 100.0)
}

/// Ground truth from the model's state: throttling, SLC cache, garbage collection.
pub fn truths_of(p: &Profile, job: Job, seconds: &[Second], in_place: bool) -> Vec<Truth> {
    let mut out = Vec::new();
    // Visible if the six seconds after are slower than those before.
    let shows = |at: usize| {
        let before = mean_iops(&seconds[at.saturating_sub(6)..at]);
        let after = mean_iops(&seconds[(at + 1).min(seconds.len())..(at + 12).min(seconds.len())]);
        at > 1 && after < before * SHOWS
    };
    let hot = |s: &Second| s.telemetry.throttled || s.telemetry.throttled_time_s > 0;
    if let Some(at) = seconds.iter().position(hot) {
        out.push(Truth {
            duty_pct: duty_pct(&seconds[at..]),
            visible: shows(at),
            ..Truth::from(Label::Thermal, at as f64)
        });
    }
    if job.op != Op::Write || in_place {
        return out;
    }
    let mut folding = false;
    if let Some(slc) = &p.slc {
        let mut written = 0;
        let full = seconds.iter().position(|s| {
            written += s.observed.sample.write.bytes;
            written >= slc.bytes.value
        });
        folding = slc.overflow.as_ref().is_some_and(|o| o.value == SlcOverflow::Fold);
        if let Some(at) = full.filter(|&at| shows(at)) {
            out.push(Truth { cache_bytes: slc.bytes.value, ..Truth::from(Label::Slc, at as f64) });
        }
    }
    let usual = if folding { 1.0 } else { 0.0 };
    let collects = |s: &[Second]| {
        let moved: u64 = s.iter().map(|s| s.relocated_bytes).sum();
        let host: u64 = s.iter().map(|s| s.observed.sample.write.bytes).sum();
        moved as f64 > (usual + 0.15) * host as f64
    };
    // Over five seconds: relocations and writes come in bursts.
    if job.random
        && let Some(at) =
            (0..seconds.len().saturating_sub(4)).find(|&at| collects(&seconds[at..at + 5]))
    {
        let at = at + 2;
        let before = mean_iops(&seconds[at.saturating_sub(10)..at]);
        let low = seconds[at..].windows(20).map(mean_iops).fold(f64::MAX, f64::min);
        // Behind a cache with slower folding than garbage collection, garbage collection does not
        // set the rate.
        if at > 3 && low < before * SHOWS {
            out.push(Truth::from(Label::Collection, at as f64));
        }
    }
    out
}

/// Seconds after the onset of throttling in which its effect is compared.
const COMPARED: usize = 15;

/// Rate from the onset of throttling on, share of that of the same seconds without slower
/// operation; `None` where it never throttles.
pub fn slowed(seconds: &[Second], unslowed: &[Second]) -> Option<f64> {
    let throttled = |s: &Second| s.telemetry.throttled;
    let first = seconds.iter().position(throttled)?;
    let until = (first + COMPARED).min(seconds.len());
    // A throttle that switches within a second is on at the end of some of them only.
    Some(mean_iops(&seconds[first..until]) / mean_iops(&unslowed[first..until]).max(1.0))
}
