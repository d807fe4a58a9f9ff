//! Warnings about a run and its cells.

use assay_engine::run::PartOutcome;
use assay_measure::HostLoad;
use assay_store::StoreError;
use assay_store::model::{CellKind, CellResult, Entry, OFFERED_IOPS};

use super::Runner;
use super::results::bad_blocks;
use crate::expand::Cell;
use crate::warn::{self, RunWarning};

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
        if self.audit.clock_drift_ppm.abs() > warn::DRIFT_PPM {
            self.warn(
                &RunWarning::ClockDrift {
                    ppm: self.audit.clock_drift_ppm,
                },
                None,
                None,
            )?;
        }
        for drive in 0..self.drives.len() {
            if !self.drives[drive].info().direct_io {
                self.warn(&RunWarning::Buffered, None, Some(drive))?;
            }
        }
        Ok(())
    }

    pub(super) fn warn_about(
        &mut self,
        cell: &Cell,
        part: &PartOutcome,
        result: &CellResult,
        host: Option<HostLoad>,
    ) -> Result<(), StoreError> {
        let simulated = self.drives[part.drive].info().simulated;
        let null = cell.plan.workload.engine == "null";
        let idle_pct = host.map(|h| h.idle_pct + h.iowait_pct);
        let mut warnings = Vec::new();
        if result.errors() > 0 {
            warnings.push(RunWarning::IoErrors {
                errors: result.errors(),
            });
        }
        if part.end.unanswered > 0 {
            warnings.push(RunWarning::Unanswered {
                ios: part.end.unanswered,
            });
        }
        if let Some(gave_up) = part.end.gave_up {
            warnings.push(RunWarning::GaveUp {
                errors: gave_up.errors,
                span_s: gave_up.span.as_secs_f64(),
            });
        }
        if !simulated && !null && cell.plan.kind != CellKind::Prepare {
            let busy = part.busiest_thread_pct >= warn::BUSY_THREAD_PCT;
            if busy || idle_pct.is_some_and(|idle| idle < warn::IDLE_HOST_PCT) {
                warnings.push(RunWarning::HostLimited {
                    busiest_thread_pct: part.busiest_thread_pct,
                    idle_pct,
                });
            }
            let ceiling = self.audit.null_iops_per_thread * f64::from(cell.plan.workload.numjobs);
            let share_pct = if ceiling > 0.0 {
                result.iops() / ceiling * 100.0
            } else {
                0.0
            };
            if share_pct > warn::ENGINE_SHARE_PCT {
                warnings.push(RunWarning::EngineLimited { share_pct });
            }
        }
        let offered_iops = result
            .values
            .get(OFFERED_IOPS)
            .copied()
            .unwrap_or(cell.plan.workload.rate_iops);
        if result.iops() < offered_iops * warn::RATE_REACHED_PCT / 100.0 {
            warnings.push(RunWarning::RateNotReached {
                offered_iops,
                done_iops: result.iops(),
            });
        }
        let overflow = result.read.latency_ns.overflow + result.write.latency_ns.overflow;
        if overflow > 0 {
            warnings.push(RunWarning::Overflow { values: overflow });
        }
        let blocks = bad_blocks(part);
        if blocks > 0 {
            warnings.push(RunWarning::VerifyFailed { blocks });
        }
        for warning in warnings {
            self.warn(&warning, Some(&cell.plan.id), Some(part.drive))?;
        }
        Ok(())
    }
}
