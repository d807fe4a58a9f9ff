//! Warnings about a run and its cells.

use assay_analysis::steady_state;
use assay_device::identity::{Allocation, DriveInfo, DriveKind, PcieLink, allocation, gt_per_s};
use assay_device::nvme::probe::Probe;
use assay_device::session::DriveSession;
use assay_io::uring;
use assay_stats::knee::chance_share;
use assay_stats::{ErrorCauses, HostLoad};
use assay_store::StoreError;
use assay_store::model::warning::limit;
use assay_store::model::{
    AREA_WRITTEN_PCT, CellKind, CellResult, Entry, OFFERED_IOPS, Segment, TraceRecord, Warning,
};
use assay_units::Nanos;
use assay_workload::access::AddressPattern;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveOutcome, RunOutcome};

use super::Executor;
use super::cell::Finished;
use super::early_stop::Stopped;
use super::journal::CriticalWarnings;
use super::results::bad_blocks;
use super::run_log::RunLog;
use crate::events::Events;
use crate::warn::{self, OtherPrograms};
use assay_suite::expand::{Cell, UnsupportedBlockSize};

pub(super) fn record_warning(
    log: &dyn RunLog,
    events: &Events<'_>,
    warning: Warning,
) -> Result<(), StoreError> {
    events.warned(&warning);
    log.append(&Entry::Warning(warning))
}

impl Executor<'_, '_> {
    pub(super) fn warn(
        &mut self,
        warning: Warning,
        drive: Option<usize>,
    ) -> Result<(), StoreError> {
        self.record_warning(warn::about(warning, None, drive))
    }

    pub(super) fn warn_cell(
        &mut self,
        cell: &Cell,
        drive: usize,
        warning: Warning,
    ) -> Result<(), StoreError> {
        self.record_warning(warn::about(warning, Some(&cell.plan.id), Some(drive)))
    }

    fn record_warning(&mut self, warning: Warning) -> Result<(), StoreError> {
        record_warning(self.log, self.events, warning)
    }

    pub(super) fn warn_about_run(&mut self) -> Result<(), StoreError> {
        if self.plan.scale != 1.0 {
            self.warn(warn::scaled(self.plan.scale), None)?;
        }
        // Times of a simulated drive do not come from this clock.
        let host_clock = self.drives.iter().any(|drive| !drive.info().simulated);
        let drift_ppm = self.audit.clock_drift_ppm;
        if host_clock && drift_ppm.abs() > limit::DRIFT_PPM {
            self.warn(warn::clock_drift(drift_ppm), None)?;
        }
        for (step, drive, unsupported) in unsupported_mixes(&self.plan.cells) {
            self.warn(warn::block_mix_unsupported(step, unsupported), Some(drive))?;
        }
        for drive in 0..self.drives.len() {
            if let Some(shrunk) = self.drives[drive].info().shrunk {
                self.warn(warn::shrunk(shrunk.times), Some(drive))?;
            }
            for warning in about_drive(&self.drives[drive]) {
                self.warn(warning, Some(drive))?;
            }
            if let Some(unit_bytes) = self.drives[drive].write_unit_bytes()
                && unit_bytes > limit::COARSE_UNIT_BYTES
                && let Some((cell, grid_bytes)) = first_cut(&self.plan.cells, drive, unit_bytes)
            {
                let warning = warn::writes_cut_units(cell, grid_bytes, unit_bytes);
                self.warn(warning, Some(drive))?;
            }
        }
        Ok(())
    }

    /// An empty report must be distinguishable from one without findings.
    pub(super) fn warn_nothing_measured(
        &mut self,
        finished: &Finished,
        failed_cells: usize,
    ) -> Result<(), StoreError> {
        use CellKind::{Concurrent, Measure, Soak};
        for drive in 0..self.drives.len() {
            let measures = |cell: &&Cell| {
                cell.plan.drives.contains(&drive)
                    && matches!(cell.plan.kind, Measure | Soak | Concurrent)
            };
            let cells: Vec<&Cell> = self.plan.cells.iter().filter(measures).collect();
            // Failed cells are reported already.
            let failed = failed_cells > 0 && !cells.iter().all(|c| c.plan.skipped.is_some());
            let measured = cells.iter().any(|c| finished.contains_key(&c.plan.id));
            if cells.is_empty() || measured || failed {
                continue;
            }
            let reason = cells.iter().find_map(|c| c.plan.skipped.as_ref());
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            let why = format!("all of its {} cells were skipped{reason}", cells.len());
            let advice = "the verdict cannot evaluate it; read the reason of each skipped cell";
            self.warn(warn::nothing_measured(&why, advice), Some(drive))?;
        }
        Ok(())
    }

    pub(super) fn initial_critical_warnings(&self) -> CriticalWarnings {
        let mut critical_warnings = CriticalWarnings::default();
        for (drive, session) in self.drives.iter().enumerate() {
            if let Some(Ok(probe)) = session.probe() {
                critical_warnings.take_new(drive, &probe.health.critical_warnings);
            }
        }
        critical_warnings
    }

    pub(super) fn warn_unless_steady(&mut self, cell: &Cell) -> Result<(), StoreError> {
        if !steady_state::claims_steady_state(&cell.plan) {
            return Ok(());
        }
        let reasons = self.log.not_steady_reasons(&cell.plan.id)?;
        for warning in not_steady(&cell.plan.id, reasons) {
            self.record_warning(warning)?;
        }
        Ok(())
    }

    /// Limits of the host that a result may be one of.
    fn about_host(
        &self,
        cell: &Cell,
        (outcome, job): (&RunOutcome, &DriveOutcome),
        result: &CellResult,
        host: Option<HostLoad>,
        rate_reached: bool,
    ) -> Vec<Warning> {
        if self.drives[job.drive].info().simulated {
            let busiest_pct = result.busiest_thread_pct;
            let busy = busiest_pct.filter(|busy| *busy >= limit::BUSY_THREAD_PCT);
            return busy.map(warn::simulated_host_limited).into_iter().collect();
        }
        let workload = &cell.plan.workload;
        if workload.engine == "null" {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        let busiest_pct = job.busiest_thread_pct;
        let idle_pct = host.map(|h| h.idle_pct + h.iowait_pct);
        let busy = busiest_pct >= limit::BUSY_THREAD_PCT;
        if busy || idle_pct.is_some_and(|idle| idle < limit::IDLE_HOST_PCT) {
            let process = result.process.as_ref();
            let others = OtherPrograms {
                programs: &outcome.beside.other_programs,
                own_pct: process.map_or(0.0, |p| p.cpu_user_pct + p.cpu_system_pct),
            };
            let limited = warn::host_limited(busiest_pct, idle_pct, rate_reached, &others);
            warnings.push(limited);
        }
        let ceiling = self.audit.null_iops_per_thread * f64::from(workload.numjobs);
        let share_pct = result.iops() / ceiling * 100.0;
        if ceiling > 0.0 && share_pct > limit::ENGINE_SHARE_PCT {
            warnings.push(warn::engine_limited(share_pct));
        }
        warnings
    }

    /// What kept figures from being those of the drive alone.
    pub(super) fn warn_about_depth(
        &mut self,
        cell: &Cell,
        job: &DriveOutcome,
        workload: Option<&Workload>,
    ) -> Result<(), StoreError> {
        let target = workload.and_then(|workload| workload.latency_target);
        match target.and_then(|target| warn::latency_target(target, job.found_depth)) {
            Some(warning) => self.warn_cell(cell, job.drive, warning),
            None => Ok(()),
        }
    }

    pub(super) fn warn_about_steady_rate(
        &mut self,
        cell: &Cell,
        drive: usize,
        stopped: &Stopped,
    ) -> Result<(), StoreError> {
        if let Some((watched, courses)) = &stopped.written
            && let Some(course) = courses.get(&drive)
            && (course.has_ended(*watched)
                || cell.plan.segment.as_ref().is_none_or(Segment::is_last))
            && let Some(warning) = course.warning(*watched)
        {
            self.warn_cell(cell, drive, warning)?;
        }
        let why = stopped.steady.get(&drive).and_then(|steady| steady.why.as_ref());
        match (&stopped.rule, why) {
            (Some(rule), Some(why)) => self.warn_cell(cell, drive, warn::never_steady(rule, why)),
            _ => Ok(()),
        }
    }

    pub(super) fn warn_about_real(
        &mut self,
        cell: &Cell,
        (outcome, job): (&RunOutcome, &DriveOutcome),
        workload: Option<&Workload>,
        host: Option<HostLoad>,
    ) -> Result<(), StoreError> {
        let mut warnings = warn::host_stopped(outcome.beside.stopped, host);
        warnings.extend(outcome.beside.others.as_ref().map(warn::other_users));
        if let Some(workload) = workload.filter(|workload| workload.replaces_uring)
            && let Some(why) = uring::refusal()
        {
            warnings.push(warn::engine_replaced(workload.engine.name(), why));
        }
        let info = self.drives[job.drive].info();
        let allocation = workload.and_then(|workload| read_allocation(info, workload));
        warnings.extend(allocation.iter().flat_map(warn::not_from_drive));
        for warning in warnings {
            self.warn_cell(cell, job.drive, warning)?;
        }
        Ok(())
    }

    pub(super) fn warn_about(
        &mut self,
        cell: &Cell,
        (outcome, job): (&RunOutcome, &DriveOutcome),
        result: &CellResult,
        host: Option<HostLoad>,
    ) -> Result<(), StoreError> {
        let workload = &cell.plan.workload;
        let mut warnings = Vec::new();
        if result.errors() > 0 {
            let mut causes = ErrorCauses::default();
            for (_, op) in result.operations() {
                causes.merge(&op.causes);
            }
            warnings.push(warn::io_errors(result.errors(), &causes));
        }
        if job.end.unanswered > 0 {
            warnings.push(warn::unanswered(job.end.unanswered));
        }
        if let Some(gave_up) = job.end.gave_up {
            warnings.push(warn::gave_up(gave_up.errors, gave_up.span));
        }
        let offered = result.values.get(OFFERED_IOPS).copied();
        let offered_iops = offered.unwrap_or(workload.rate_iops);
        let chance = chance_share(offered_iops, result.elapsed.as_secs_f64());
        let least_iops = offered_iops * (limit::RATE_REACHED_PCT / 100.0 - chance);
        let rate_reached = offered_iops > 0.0 && result.iops() >= least_iops;
        if cell.plan.kind != CellKind::Prepare {
            warnings.extend(self.about_host(cell, (outcome, job), result, host, rate_reached));
        }
        let written_pct = result.values.get(AREA_WRITTEN_PCT);
        let written_pct = written_pct.filter(|_| !changes_state(cell));
        if let Some(&written_pct) = written_pct.filter(|pct| **pct < 100.0) {
            warnings.push(warn::area_not_covered(written_pct));
        }
        let done = result.ios();
        let ends_itself = workload.runtime_ns == 0 && job.end.gave_up.is_none();
        if workload.ramp_ns > 0 && ends_itself && done == 0 && result.errors() == 0 {
            let advice = "give --runtime, or shorten --ramp_time";
            warnings.push(warn::nothing_measured("the workload ended during the ramp", advice));
        }
        if result.iops() < least_iops {
            warnings.push(warn::rate_not_reached(offered_iops, result.iops()));
        }
        let operations = result.operations();
        let overflow = operations.iter().map(|(_, op)| op.latency_ns.overflow).sum();
        if overflow > 0 {
            warnings.push(warn::overflow(overflow));
        }
        if let Some(trace) = &result.trace {
            warnings.extend(about_trace(trace, job));
        }
        let blocks = bad_blocks(result);
        if blocks > 0 {
            let layers = &self.drives[job.drive].info().layers;
            warnings.push(warn::verify_failed(blocks, layers));
        }
        warnings.extend(result.verify.as_ref().and_then(warn::verify_not_judged));
        for warning in warnings {
            self.warn_cell(cell, job.drive, warning)?;
        }
        Ok(())
    }
}

/// What of the area of a workload that reads a file is on its drive; `None` for other workloads,
/// and where the file system does not tell.
fn read_allocation(info: &DriveInfo, workload: &Workload) -> Option<Allocation> {
    let path = info.path.as_ref().filter(|_| info.kind == DriveKind::File)?;
    if workload.read_percent == 0 {
        return None;
    }
    allocation(path, workload.area.offset_bytes, workload.area.size_bytes).ok()
}

pub(super) fn not_steady(
    cell: &str,
    reasons: Vec<(usize, String)>,
) -> impl Iterator<Item = Warning> {
    let about = |(drive, why): (usize, String)| {
        warn::about(warn::not_steady(&why), Some(cell), Some(drive))
    };
    reasons.into_iter().map(about)
}

fn about_trace(trace: &TraceRecord, job: &DriveOutcome) -> Vec<Warning> {
    let replayed = job.trace.as_ref();
    let devices = replayed.and_then(|trace| trace.plan.mixed_devices());
    let mut warnings: Vec<Warning> = devices.map(warn::trace_devices).into_iter().collect();
    let (lag, counts) = (trace.lag, trace.counts);
    if trace.late_pct() >= limit::LATE_IOS_PCT {
        let mean = Nanos(lag.mean_ns.round() as u64);
        warnings.push(warn::trace_late(lag.late_ios, counts.ios, mean, lag.max_ns));
    }
    let joined = replayed.and_then(|trace| trace.plan.joined_logs());
    warnings.extend(joined.map(warn::trace_joined));
    let changes = [
        (counts.outside, "outside of the area and left out"),
        (counts.clipped, "shortened at its end"),
        (counts.unusable, "without length or of no known kind"),
    ];
    let changes = changes.iter().filter(|(count, _)| *count > 0);
    let changes: Vec<String> = changes.map(|(n, what)| format!("{n} requests {what}")).collect();
    if !changes.is_empty() {
        warnings.push(warn::trace_changed(&changes.join(", ")));
    }
    warnings
}

/// Steps with an unsupported block mix, each once: (step, drive, size).
fn unsupported_mixes(cells: &[Cell]) -> Vec<(&str, usize, UnsupportedBlockSize)> {
    let mut found: Vec<(&str, usize, UnsupportedBlockSize)> = Vec::new();
    for cell in cells {
        let step = cell.plan.step.as_str();
        if let Some((unsupported, &drive)) = cell.unsupported_block.zip(cell.plan.drives.first())
            && !found.iter().any(|f| (f.0, f.1) == (step, drive))
        {
            found.push((step, drive, unsupported));
        }
    }
    found
}

/// Whether its writes change the state that earlier ones left, in place of covering the area.
fn changes_state(cell: &Cell) -> bool {
    cell.needs_state.is_some() || cell.probes_steadiness
}

/// Sequential writes complete their units one after the other.
fn first_cut(cells: &[Cell], drive: usize, unit_bytes: u64) -> Option<(&str, u64)> {
    let measured = cells.iter().filter(|cell| cell.plan.kind != CellKind::Prepare);
    let mut cuts = measured.filter_map(|cell| {
        let place = cell.plan.drives.iter().position(|d| *d == drive)?;
        let workload = cell.workloads.get(place)?;
        let random = !matches!(workload.access.pattern, AddressPattern::Sequential);
        let grid = u64::from(workload.access.grid_bytes()) | workload.area.offset_bytes;
        let grid_bytes = 1 << grid.trailing_zeros();
        let cuts = random && workload.writes() && !workload.trims && grid_bytes < unit_bytes;
        cuts.then_some((cell.plan.id.as_str(), grid_bytes))
    });
    cuts.next()
}

fn about_drive(session: &DriveSession) -> Vec<Warning> {
    let mut warnings = about_info(session.info());
    if let Some(Ok(probe)) = session.probe().filter(|_| !session.info().simulated) {
        warnings.extend(about_probe(probe));
    }
    warnings
}

fn about_info(info: &DriveInfo) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !info.direct_io {
        warnings.push(warn::buffered());
    }
    // A simulated drive is configured on purpose.
    if info.simulated {
        return warnings;
    }
    warnings.extend(info.costly_scheduler().map(warn::io_scheduler));
    if let Some((now, possible)) = info.pcie.as_ref().and_then(below_capability) {
        warnings.push(warn::link_below(&now, &possible));
    }
    warnings
}

fn about_probe(probe: &Probe) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let health = &probe.health;
    if !health.critical_warnings.is_empty() {
        warnings.push(warn::critical_warning(&health.critical_warnings.join(", ")));
    }
    if let Some(warning_c) = probe.thermal.warning_c
        && health.composite_c >= warning_c - limit::HOT_MARGIN_K
    {
        warnings.push(warn::hot_before(health.composite_c, warning_c));
    }
    if probe.write_cache_on == Some(false) {
        warnings.push(warn::write_cache_off());
    }
    if let Some(autonomous) = probe.autonomous_power.as_ref().filter(|a| a.enabled)
        && let Some(after_ms) = autonomous.transitions.iter().map(|(_, ms, _)| *ms).min()
    {
        let states = &probe.power_states;
        let wake = |to: u8| states.iter().find(|p| p.state == to)?.exit_us;
        let wake_us = autonomous.transitions.iter().filter_map(|t| wake(t.2)).max();
        warnings.push(warn::falls_asleep(after_ms, wake_us));
    }
    warnings
}

/// Current and supported link, if the current one is slower or narrower.
fn below_capability(link: &PcieLink) -> Option<(String, String)> {
    let speed = |text: &Option<String>| gt_per_s(text.as_ref()?);
    let (now, most) = (speed(&link.speed)?, speed(&link.max_speed)?);
    let (lanes, most_lanes) = (link.width?, link.max_width?);
    let text = |speed: f64, lanes: u32| format!("{speed} GT/s x{lanes}");
    (now < most || lanes < most_lanes).then(|| (text(now, lanes), text(most, most_lanes)))
}

#[cfg(test)]
#[path = "../../tests/unit/run/warnings.rs"]
mod tests;
