//! Warnings about a run and its cells.

use std::collections::BTreeMap;

use assay_analysis::steady_state;
use assay_device::identity::PcieLink;
use assay_device::nvme::probe::Probe;
use assay_device::session::DriveSession;
use assay_stats::HostLoad;
use assay_stats::knee::chance_share;
use assay_store::StoreError;
use assay_store::model::warning::limit;
use assay_store::model::{CellKind, CellResult, Entry, OFFERED_IOPS};
use assay_store::read::Run;
use assay_workload::run::DriveOutcome;

use super::Runner;
use super::journal::CriticalWarnings;
use super::results::bad_blocks;
use crate::expand::{Cell, UnsupportedBlockSize};
use crate::warn::RunWarning;

impl Runner<'_> {
    pub(super) fn warn(
        &mut self,
        warning: &RunWarning,
        cell: Option<&str>,
        drive: Option<usize>,
    ) -> Result<(), StoreError> {
        let record = warning.record(cell, drive);
        self.progress.warned(&record);
        self.writer.append(&Entry::Warning(record))
    }

    pub(super) fn warn_about_run(&mut self) -> Result<(), StoreError> {
        if self.plan.scale != 1.0 {
            self.warn(
                &RunWarning::Scaled {
                    scale: self.plan.scale,
                },
                None,
                None,
            )?;
        }
        // Times of a simulated drive do not come from this clock.
        let host_clock = self.drives.iter().any(|drive| !drive.info().simulated);
        if host_clock && self.audit.clock_drift_ppm.abs() > limit::DRIFT_PPM {
            self.warn(
                &RunWarning::ClockDrift {
                    ppm: self.audit.clock_drift_ppm,
                },
                None,
                None,
            )?;
        }
        for (step, drive, unsupported_block) in unsupported_mixes(&self.plan.cells) {
            self.warn(
                &RunWarning::BlockMixUnsupported {
                    step,
                    unsupported_block,
                },
                None,
                Some(drive),
            )?;
        }
        for drive in 0..self.drives.len() {
            if !self.drives[drive].info().direct_io {
                self.warn(&RunWarning::Buffered, None, Some(drive))?;
            }
            for warning in about_drive(&self.drives[drive]) {
                self.warn(&warning, None, Some(drive))?;
            }
        }
        Ok(())
    }

    /// Warn about drives on which every measuring cell was skipped: an empty report must be distinguishable from one without findings.
    pub(super) fn warn_nothing_measured(
        &mut self,
        finished: &BTreeMap<String, Vec<CellResult>>,
        failed_cells: usize,
    ) -> Result<(), StoreError> {
        for drive in 0..self.drives.len() {
            let plan = self.plan;
            let measures = |cell: &&Cell| {
                let kind = cell.plan.kind;
                cell.plan.drives.contains(&drive)
                    && matches!(
                        kind,
                        CellKind::Measure | CellKind::Soak | CellKind::Concurrent
                    )
            };
            let cells = || plan.cells.iter().filter(measures);
            if cells().count() == 0 || cells().any(|c| finished.contains_key(&c.plan.id)) {
                continue;
            }
            // Failed cells are reported already.
            if failed_cells > 0 && !cells().all(|c| c.plan.skipped.is_some()) {
                continue;
            }
            let reason = cells().find_map(|c| c.plan.skipped.clone());
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            let warning = RunWarning::NothingMeasured {
                why: format!("all of its {} cells were skipped{reason}", cells().count()),
                advice: "the verdict cannot evaluate it; read the reason of each skipped cell",
            };
            self.warn(&warning, None, Some(drive))?;
        }
        Ok(())
    }

    /// Critical warnings in the drives' health logs before the run: reported once, not again when a cell reads them.
    pub(super) fn initial_critical_warnings(&self) -> CriticalWarnings {
        let mut critical_warnings = CriticalWarnings::default();
        for (drive, session) in self.drives.iter().enumerate() {
            if let Some(Ok(probe)) = session.probe() {
                critical_warnings.take_new(drive, &probe.health.critical_warnings);
            }
        }
        critical_warnings
    }

    /// Steady-state check of a finished cell, from the run folder, by the rule that reports and verdicts use.
    pub(super) fn warn_unless_steady(&mut self, cell: &Cell) -> Result<(), StoreError> {
        if !steady_state::claims_steady_state(&cell.plan) {
            return Ok(());
        }
        self.writer.sync()?;
        let run = Run::open(self.writer.path())?;
        let record = run.cells.iter().find(|c| c.plan.id == cell.plan.id);
        for &drive in &cell.plan.drives {
            if let Some(why) =
                record.and_then(|record| steady_state::not_steady_reason(&run, record, drive))
            {
                self.warn(
                    &RunWarning::NotSteady { why },
                    Some(&cell.plan.id),
                    Some(drive),
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn warn_about(
        &mut self,
        cell: &Cell,
        job: &DriveOutcome,
        result: &CellResult,
        host: Option<HostLoad>,
    ) -> Result<(), StoreError> {
        let simulated = self.drives[job.drive].info().simulated;
        let null = cell.plan.workload.engine == "null";
        let idle_pct = host.map(|h| h.idle_pct + h.iowait_pct);
        let mut warnings = Vec::new();
        if result.errors() > 0 {
            let mut causes = result.read.causes.clone();
            causes.merge(&result.write.causes);
            warnings.push(RunWarning::IoErrors {
                errors: result.errors(),
                causes,
            });
        }
        if job.end.unanswered > 0 {
            warnings.push(RunWarning::Unanswered {
                ios: job.end.unanswered,
            });
        }
        if let Some(gave_up) = job.end.gave_up {
            warnings.push(RunWarning::GaveUp {
                errors: gave_up.errors,
                span_s: gave_up.span.as_secs_f64(),
            });
        }
        if !simulated && !null && cell.plan.kind != CellKind::Prepare {
            let busy = job.busiest_thread_pct >= limit::BUSY_THREAD_PCT;
            if busy || idle_pct.is_some_and(|idle| idle < limit::IDLE_HOST_PCT) {
                warnings.push(RunWarning::HostLimited {
                    busiest_thread_pct: job.busiest_thread_pct,
                    idle_pct,
                });
            }
            let ceiling = self.audit.null_iops_per_thread * f64::from(cell.plan.workload.numjobs);
            let share_pct = if ceiling > 0.0 {
                result.iops() / ceiling * 100.0
            } else {
                0.0
            };
            if share_pct > limit::ENGINE_SHARE_PCT {
                warnings.push(RunWarning::EngineLimited { share_pct });
            }
        }
        let done = result.read.ios + result.write.ios;
        let workload = &cell.plan.workload;
        let ends_itself = workload.runtime_ns == 0 && job.end.gave_up.is_none();
        if workload.ramp_ns > 0 && ends_itself && done == 0 && result.errors() == 0 {
            warnings.push(RunWarning::NothingMeasured {
                why: "the workload ended during the ramp".to_owned(),
                advice: "give --runtime, or shorten --ramp_time",
            });
        }
        let offered_iops = result
            .values
            .get(OFFERED_IOPS)
            .copied()
            .unwrap_or(cell.plan.workload.rate_iops);
        let chance = chance_share(offered_iops, result.elapsed.as_secs_f64());
        if result.iops() < offered_iops * (limit::RATE_REACHED_PCT / 100.0 - chance) {
            warnings.push(RunWarning::RateNotReached {
                offered_iops,
                done_iops: result.iops(),
            });
        }
        let overflow = result.read.latency_ns.overflow + result.write.latency_ns.overflow;
        if overflow > 0 {
            warnings.push(RunWarning::Overflow { values: overflow });
        }
        let blocks = bad_blocks(job);
        if blocks > 0 {
            warnings.push(RunWarning::VerifyFailed { blocks });
        }
        for warning in warnings {
            self.warn(&warning, Some(&cell.plan.id), Some(job.drive))?;
        }
        Ok(())
    }
}

/// Steps with an unsupported block mix, each once: (step, drive, size).
fn unsupported_mixes(cells: &[Cell]) -> Vec<(String, usize, UnsupportedBlockSize)> {
    let mut found: Vec<(String, usize, UnsupportedBlockSize)> = Vec::new();
    for cell in cells {
        let Some((unsupported_block, &drive)) =
            cell.unsupported_block.zip(cell.plan.drives.first())
        else {
            continue;
        };
        let known = |(step, of, _): &(String, usize, UnsupportedBlockSize)| {
            *step == cell.plan.step && *of == drive
        };
        if !found.iter().any(known) {
            found.push((cell.plan.step.clone(), drive, unsupported_block));
        }
    }
    found
}

/// Link and controller settings that affect the figures.
fn about_drive(session: &DriveSession) -> Vec<RunWarning> {
    let info = session.info();
    let mut warnings = Vec::new();
    if let (false, Some(link)) = (info.simulated, &info.pcie)
        && let Some((now, possible)) = below_capability(link)
    {
        warnings.push(RunWarning::LinkBelow { now, possible });
    }
    // A simulated drive is configured on purpose.
    if let (false, Some(Ok(probe))) = (info.simulated, session.probe()) {
        about_probe(probe, &mut warnings);
    }
    warnings
}

fn about_probe(probe: &Probe, warnings: &mut Vec<RunWarning>) {
    let health = &probe.health;
    if !health.critical_warnings.is_empty() {
        let names = health.critical_warnings.join(", ");
        warnings.push(RunWarning::CriticalWarning { names });
    }
    if let Some(warning_c) = probe.thermal.warning_c
        && health.composite_c >= warning_c - limit::HOT_MARGIN_K
    {
        warnings.push(RunWarning::HotBefore {
            celsius: health.composite_c,
            warning_c,
        });
    }
    if probe.write_cache_on == Some(false) {
        warnings.push(RunWarning::WriteCacheOff);
    }
    if let Some(autonomous) = probe.autonomous_power.as_ref().filter(|a| a.enabled) {
        let wake = |state: &u8| {
            probe
                .power_states
                .iter()
                .find(|p| p.state == *state)?
                .exit_us
        };
        let slept = autonomous.transitions.iter().map(|(_, _, to)| to);
        let wake_us = slept.filter_map(wake).max();
        let after_ms = autonomous.transitions.iter().map(|(_, ms, _)| *ms).min();
        if let Some(after_ms) = after_ms {
            warnings.push(RunWarning::FallsAsleep { after_ms, wake_us });
        }
    }
}

/// Current and supported link, if the current one is slower or narrower.
fn below_capability(link: &PcieLink) -> Option<(String, String)> {
    // `8.0 GT/s PCIe`: the number decides.
    let speed = |text: &Option<String>| -> Option<f64> {
        text.as_ref()?.split_whitespace().next()?.parse().ok()
    };
    let (now, most) = (speed(&link.speed)?, speed(&link.max_speed)?);
    let (lanes, most_lanes) = (link.width?, link.max_width?);
    let text = |speed: f64, lanes: u32| format!("{speed} GT/s x{lanes}");
    (now < most || lanes < most_lanes).then(|| (text(now, lanes), text(most, most_lanes)))
}

#[cfg(test)]
#[path = "../../tests/unit/execute/warnings.rs"]
mod tests;
