//! Carrying out a plan, cell by cell, into a run folder.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::audit::HostAudit;
use assay_engine::plan::Workload;
use assay_engine::run::{Bed, Observer, Outcome as RunOutcome, Part, PartOutcome, run_together};
use assay_engine::session::{DriveSession, SessionError};
use assay_measure::{HostLoad, Interval};
use assay_store::model::{Audit, CellKind, CellPlan, CellResult, Entry, Outcome, Warning};
use assay_store::read::{CellState, Run};
use assay_store::{RunWriter, StoreError};
use assay_target::Nanos;
use assay_target::host::wall_clock;
use assay_target::open::OpenDrive;

use crate::SuiteError;
use crate::expand::{Cell, RunPlan};
use crate::inspect::{self, COMPRESSIBLE_RATIO};
use crate::verdict;
use crate::warn::{self, RunWarning};

mod journal;
mod results;

use journal::{Ignore, Journal};
use results::{bad_blocks, compare, result_of, with_verify_seed};

/// Who is told how it goes.
pub trait Progress {
    /// A cell begins: number `index` of `total`.
    fn cell_started(&mut self, index: usize, total: usize, cell: &Cell);
    /// An interval of the cell: how far its clock and bytes are.
    fn interval(&mut self, drive: usize, at: Nanos, bytes: u64, interval: &Interval);
    /// A cell is done.
    fn cell_finished(&mut self, plan: &CellPlan, results: &[CellResult]);
    /// A cell could not be done.
    fn cell_failed(&mut self, plan: &CellPlan, message: &str);
    /// A warning was recorded.
    fn warned(&mut self, warning: &Warning);
}

/// What is left to do of a run that was cut off.
#[derive(Debug, Default)]
pub struct Resume {
    finished: BTreeMap<String, Vec<CellResult>>,
}

impl Resume {
    /// From the folder of the earlier run.
    ///
    /// # Errors
    /// When the plan made now is not the plan of that run.
    pub fn from_run(run: &Run, plan: &RunPlan) -> Result<Resume, SuiteError> {
        let before: Vec<&CellPlan> = run.cells.iter().map(|c| &c.plan).collect();
        let now: Vec<&CellPlan> = plan.cells.iter().map(|c| &c.plan).collect();
        if before != now {
            let which = before.iter().zip(&now).find(|(b, n)| b != n).map_or_else(
                || format!("it has {} cells, there would be {} now", before.len(), now.len()),
                |(b, n)| {
                    format!(
                        "cell {} differs from the plan made then (is {} the same drive, with the same permission?)",
                        n.id,
                        if b.id == n.id { "it" } else { b.id.as_str() }
                    )
                },
            );
            return Err(SuiteError::NotTheSame {
                run: run.path.display().to_string(),
                why: which,
            });
        }
        let finished = run
            .cells
            .iter()
            .filter(|cell| cell.state == CellState::Finished)
            .map(|cell| {
                let results = cell
                    .drives
                    .iter()
                    .filter_map(|d| d.result.clone())
                    .collect();
                (cell.plan.id.clone(), results)
            })
            .collect();
        Ok(Resume { finished })
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// Complete or interrupted.
    pub outcome: Outcome,
    /// Cells that failed.
    pub failed_cells: usize,
    /// I/Os that failed.
    pub io_errors: u64,
    /// Blocks that verification found wrong.
    pub bad_blocks: u64,
}

/// Everything a run works with.
pub struct Runner<'a> {
    /// What to do.
    pub plan: &'a RunPlan,
    /// On what.
    pub drives: &'a mut [DriveSession],
    /// Where to.
    pub writer: RunWriter,
    /// The host's ceiling.
    pub audit: HostAudit,
    /// Set to end early.
    pub stop: &'a AtomicBool,
    /// Who is told.
    pub progress: &'a mut dyn Progress,
}

impl Runner<'_> {
    /// Run every cell that is not finished, draw conclusions, close the folder.
    ///
    /// A cell that fails is recorded as failed and the run goes on; the run itself fails only when its folder cannot be written.
    ///
    /// # Errors
    /// When the run folder cannot be written.
    pub fn run(mut self, resume: &Resume) -> Result<Ending, SuiteError> {
        let mut ending = Ending {
            outcome: Outcome::Complete,
            failed_cells: 0,
            io_errors: 0,
            bad_blocks: 0,
        };
        let resumed = self.writer.resumed();
        self.writer.append(&Entry::Start {
            at: wall_clock(),
            resumed,
        })?;
        self.writer
            .append(&Entry::Audit(audit_record(&self.audit)))?;
        if resumed == 0 {
            self.warn_about_run()?;
        }
        let mut results: BTreeMap<String, Vec<CellResult>> = resume.finished.clone();
        let total = self.plan.cells.len();
        for (index, cell) in self.plan.cells.iter().enumerate() {
            if cell.plan.skipped.is_some() {
                continue;
            }
            if resume.finished.contains_key(&cell.plan.id) {
                self.restore_simulated(cell)?;
                continue;
            }
            if self.stop.load(Ordering::Relaxed) {
                ending.outcome = Outcome::Interrupted;
                break;
            }
            self.progress.cell_started(index, total, cell);
            self.writer.append(&Entry::CellStart {
                cell: cell.plan.id.clone(),
                at: wall_clock(),
            })?;
            match self.run_cell(cell, &results) {
                Ok(done) if self.stop.load(Ordering::Relaxed) && !done.whole => {
                    // Its intervals are kept; the cell itself is left unfinished, to be done again by --resume.
                    ending.outcome = Outcome::Interrupted;
                    break;
                }
                Ok(done) => {
                    self.writer.append(&Entry::CellFinish {
                        cell: cell.plan.id.clone(),
                        at: wall_clock(),
                        results: done.results.clone(),
                    })?;
                    self.progress.cell_finished(&cell.plan, &done.results);
                    ending.io_errors += done.results.iter().map(CellResult::errors).sum::<u64>();
                    ending.bad_blocks += done.bad_blocks;
                    results.insert(cell.plan.id.clone(), done.results);
                }
                Err(SuiteError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    let message = error.to_string();
                    self.writer.append(&Entry::CellFailed {
                        cell: cell.plan.id.clone(),
                        at: wall_clock(),
                        message: message.clone(),
                    })?;
                    self.progress.cell_failed(&cell.plan, &message);
                    ending.failed_cells += 1;
                }
            }
            self.writer.sync()?;
        }
        if ending.outcome == Outcome::Complete
            && let Some(rules) = &self.plan.suite.verdict
        {
            self.writer.sync()?;
            let run = Run::open(self.writer.path())?;
            for drive in 0..self.drives.len() {
                let verdict = verdict::judge(rules, &run, drive);
                self.writer.append(&Entry::Verdict { drive, verdict })?;
            }
        }
        self.writer.finish(ending.outcome, &wall_clock())?;
        Ok(ending)
    }

    fn warn(
        &mut self,
        warning: &RunWarning,
        cell: Option<&str>,
        drive: Option<usize>,
    ) -> Result<(), StoreError> {
        let record = warning.record(cell, drive);
        self.progress.warned(&record);
        self.writer.append(&Entry::Warning(record))
    }

    fn warn_about_run(&mut self) -> Result<(), StoreError> {
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

    /// A simulated drive forgets everything when the program ends: what finished cells wrote is written again, unrecorded.
    fn restore_simulated(&mut self, cell: &Cell) -> Result<(), SuiteError> {
        let simulated = cell
            .plan
            .drives
            .iter()
            .all(|&d| self.drives[d].info().simulated);
        if simulated && cell.workloads.iter().any(Workload::writes) {
            execute(self.drives, cell, self.stop, &mut Ignore)?;
        }
        Ok(())
    }

    fn run_cell(
        &mut self,
        cell: &Cell,
        earlier: &BTreeMap<String, Vec<CellResult>>,
    ) -> Result<Done, SuiteError> {
        if cell.plan.kind == CellKind::Inspect {
            return self.inspect_cell(cell);
        }
        if cell.drop_cache {
            self.drop_caches(cell)?;
        }
        let mut journal = Journal {
            cell: &cell.plan.id,
            writer: &mut self.writer,
            progress: &mut *self.progress,
            stop: self.stop,
            bytes: BTreeMap::new(),
            hottest_c: BTreeMap::new(),
            host: Vec::new(),
            failure: None,
        };
        let outcome = execute(self.drives, cell, self.stop, &mut journal);
        let Journal {
            hottest_c,
            host,
            failure,
            ..
        } = journal;
        if let Some(error) = failure {
            return Err(error.into());
        }
        let outcome = outcome?;
        let mut done = Done {
            results: Vec::new(),
            // A cell that was stopped is whole only if its workload was done anyway.
            whole: outcome.parts.iter().all(|part| !part.end.stopped),
            bad_blocks: 0,
        };
        let host = HostLoad::mean(&host);
        for part in &outcome.parts {
            let simulated = self.drives[part.drive].info().simulated;
            let mut result = result_of(part, &outcome, host, simulated);
            if let Some(celsius) = hottest_c.get(&part.drive) {
                result
                    .values
                    .insert("temperature_max_c".to_owned(), *celsius);
            }
            compare(cell, part.drive, earlier, &mut result);
            done.bad_blocks += bad_blocks(part);
            self.warn_about(cell, part, &result, host)?;
            done.results.push(result);
        }
        Ok(done)
    }

    fn inspect_cell(&mut self, cell: &Cell) -> Result<Done, SuiteError> {
        let mut results = Vec::new();
        for &drive in &cell.plan.drives {
            let span_bytes = cell.plan.workload.span_bytes;
            let result = inspect::inspect(&self.drives[drive], drive, span_bytes, self.plan.seed)?;
            let ratio = result.values.get("zstd_ratio").copied().unwrap_or(1.0);
            let zero_share_pct = result.values.get("zero_share_pct").copied().unwrap_or(0.0);
            // What will be overwritten before it is measured needs no warning.
            let kept = !self.plan.cells.iter().any(|c| {
                c.plan.skipped.is_none()
                    && c.plan.drives == [drive]
                    && c.workloads.iter().any(Workload::writes)
            });
            if kept && (ratio > COMPRESSIBLE_RATIO || zero_share_pct > 0.0) {
                let warning = RunWarning::DataCompressible {
                    ratio,
                    zero_share_pct,
                };
                self.warn(&warning, Some(&cell.plan.id), Some(drive))?;
            }
            results.push(result);
        }
        Ok(Done {
            results,
            whole: true,
            bad_blocks: 0,
        })
    }

    fn drop_caches(&mut self, cell: &Cell) -> Result<(), SuiteError> {
        for &drive in &cell.plan.drives {
            let open = OpenDrive::open(self.drives[drive].info(), false, None)
                .map_err(SessionError::from)?;
            if !open.drop_cached() {
                self.warn(
                    &RunWarning::CacheNotDropped,
                    Some(&cell.plan.id),
                    Some(drive),
                )?;
            }
        }
        Ok(())
    }

    fn warn_about(
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
        let offered_iops = cell.plan.workload.rate_iops;
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

struct Done {
    results: Vec<CellResult>,
    whole: bool,
    bad_blocks: u64,
}

/// Lend the drives of a cell, run its workloads, take the drives back.
fn execute(
    drives: &mut [DriveSession],
    cell: &Cell,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunOutcome, SuiteError> {
    let mut beds: Vec<(usize, Bed)> = Vec::new();
    let mut refused = None;
    for (&drive, workload) in cell.plan.drives.iter().zip(&cell.workloads) {
        match drives[drive].lend(workload) {
            Ok(bed) => beds.push((drive, bed)),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let workloads: Vec<Workload> = cell.workloads.iter().map(with_verify_seed).collect();
    let outcome = match refused {
        Some(error) => Err(error.into()),
        None => {
            let mut parts: Vec<Part<'_>> = beds
                .iter_mut()
                .zip(&workloads)
                .map(|((drive, bed), workload)| Part {
                    drive: *drive,
                    workload,
                    bed,
                })
                .collect();
            run_together(&mut parts, stop, observer).map_err(SuiteError::from)
        }
    };
    for (drive, bed) in beds {
        drives[drive].give_back(bed);
    }
    outcome
}

fn audit_record(audit: &HostAudit) -> Audit {
    Audit {
        null_iops_per_thread: audit.null_iops_per_thread,
        engine_ns_per_io: audit.engine_ns_per_io,
        clock_ns: audit.clock_ns,
        clock_step_ns: audit.clock_step_ns,
        clock_drift_ppm: audit.clock_drift_ppm,
    }
}
