//! Write amplification and endurance from the counters of the drives. The write amplification of a
//! cell is the growth of the media's counter over that of the host's, between the same two
//! readings: the last one of the ramp (of a real drive without a ramp, one before the first I/O),
//! and the last one. Both counters are about the whole drive: whatever else writes to it counts, as
//! do data that the drive has not yet written to its media at the end. A counter with steps of `u`
//! bytes gives a growth to less than `u` bytes. Bounds of a write amplification follow from both
//! steps; where they are further than [`MAX_ERROR_PCT`] from it there is no figure but the reason
//! ([`NoAmplification`]). A drive's log states how many bytes may be written to its media
//! (Endurance Estimate of log 09h, for a write amplification of 1; NVM Express Base Specification
//! 2.0c, 5.16.1.10). That over the write amplification of a workload is what the host may write
//! with it.

use std::collections::BTreeSet;
use std::fmt;

use assay_store::model::{CellPlan, DriveRecord, SteadyRecord, TelemetryRecord};
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_units::Nanos;
use assay_units::endurance::{CounterOrigin, CounterSource, EnduranceCounters};
use assay_units::text::format_size;

/// Largest distance of the bounds from a write amplification that is shown.
pub const MAX_ERROR_PCT: f64 = 5.0;
/// Suite parameter with the years of the warranty, for drive writes per day.
pub const WARRANTY_YEARS: &str = "warranty_years";
/// JESD218 and data sheets.
const DAYS_PER_YEAR: f64 = 365.0;
/// Step of the host's counter in the health log (Base 2.0c, 5.16.1.3).
const DATA_UNIT_BYTES: u64 = 512_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoAmplification {
    /// The drive does not report what it writes to its media.
    NoCounter,
    OneReading,
    Decreased,
    NothingWritten,
    /// The counters' steps are too coarse for what was written.
    Coarse {
        /// Growth of the host's counter.
        host_bytes: u64,
        /// Steps of the host's and the media's counters.
        unit_bytes: (u64, u64),
    },
}

impl fmt::Display for NoAmplification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAmplification::NoCounter => {
                f.write_str("the drive does not report what it writes to its media")
            }
            NoAmplification::OneReading => f.write_str("fewer than two readings of its counters"),
            NoAmplification::Decreased => f.write_str(
                "a counter of bytes written decreased: another drive, or counters that were reset",
            ),
            NoAmplification::NothingWritten => f.write_str("nothing was written by its own count"),
            NoAmplification::Coarse { host_bytes, unit_bytes: (host, media) } => write!(
                f,
                "{} written are too few for counters with steps of {} (host) and {} (media): the \
                 error would exceed {MAX_ERROR_PCT} %",
                format_size(*host_bytes),
                format_size(*host),
                format_size(*media),
            ),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    pub host_bytes: u64,
    pub media_bytes: u64,
    /// Pairs of readings in the sum, each with the error of one step.
    pub pairs: u64,
}

impl Growth {
    fn plus(self, other: Growth) -> Growth {
        Growth {
            host_bytes: self.host_bytes.saturating_add(other.host_bytes),
            media_bytes: self.media_bytes.saturating_add(other.media_bytes),
            pairs: self.pairs + other.pairs,
        }
    }
}

/// Media bytes per host byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteAmplification {
    pub factor: f64,
    pub low: f64,
    pub high: f64,
    pub growth: Growth,
}

impl WriteAmplification {
    /// Distance of the further bound.
    pub fn error_pct(&self) -> f64 {
        let above = self.high / self.factor - 1.0;
        let below = 1.0 - self.low / self.factor;
        above.max(below) * 100.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origins {
    pub media: CounterOrigin,
    pub host: CounterOrigin,
}

/// Run folders of earlier versions do not have them: then the only log was C0h.
pub fn origins(drive: &DriveRecord) -> Option<Origins> {
    let origin = |source, unit_bytes| CounterOrigin { source, unit_bytes };
    match drive.endurance {
        Some(EnduranceCounters { media: Some(media), host, .. }) => Some(Origins { media, host }),
        Some(_) => None,
        None if drive.simulated => {
            let model = origin(CounterSource::Simulated, 1);
            Some(Origins { media: model, host: model })
        }
        None => Some(Origins {
            media: origin(CounterSource::OcpSmart, 1),
            host: origin(CounterSource::Smart, DATA_UNIT_BYTES),
        }),
    }
}

/// Readings of two counters over a span: here bytes written by the host and to the media.
#[derive(Clone, Copy, Debug, Default)]
pub struct CounterSpan {
    first: Option<(u64, u64)>,
    last: Option<(u64, u64)>,
    decreased: bool,
}

impl CounterSpan {
    /// A reading of the ramp takes the place of those before.
    pub fn add(&mut self, ramp: bool, counters: Option<(u64, u64)>) {
        let Some(now) = counters else {
            return;
        };
        match self.last.or(self.first) {
            Some(before) if !ramp => {
                self.decreased |= now.0 < before.0 || now.1 < before.1;
                self.last = Some(now);
            }
            _ => *self = CounterSpan { first: Some(now), ..CounterSpan::default() },
        }
    }

    /// Growth from the first to the last reading.
    pub fn grown(&self) -> Result<(u64, u64), NoAmplification> {
        let first = self.first.ok_or(NoAmplification::NoCounter)?;
        let last = self.last.ok_or(NoAmplification::OneReading)?;
        let grown = last.0.checked_sub(first.0).zip(last.1.checked_sub(first.1));
        grown.filter(|_| !self.decreased).ok_or(NoAmplification::Decreased)
    }

    /// Growth from the first to the last reading.
    pub fn growth(&self) -> Result<Growth, NoAmplification> {
        let (host_bytes, media_bytes) = self.grown()?;
        Ok(Growth { host_bytes, media_bytes, pairs: 1 })
    }
}

pub fn amplification(
    growth: Growth,
    origins: &Origins,
) -> Result<WriteAmplification, NoAmplification> {
    if growth.host_bytes == 0 {
        return Err(NoAmplification::NothingWritten);
    }
    let (host, media) = (growth.host_bytes as f64, growth.media_bytes as f64);
    // A difference of readings is less than one step off; counters of single bytes are exact.
    let error =
        |origin: &CounterOrigin| growth.pairs as f64 * origin.unit_bytes.saturating_sub(1) as f64;
    let (host_error, media_error) = (error(&origins.host), error(&origins.media));
    let found = WriteAmplification {
        factor: media / host,
        low: (media - media_error).max(0.0) / (host + host_error),
        high: (media + media_error) / (host - host_error).max(f64::MIN_POSITIVE),
        growth,
    };
    let is_fine = found.factor == 0.0 && found.high == 0.0 || found.error_pct() <= MAX_ERROR_PCT;
    is_fine.then_some(found).ok_or(NoAmplification::Coarse {
        host_bytes: growth.host_bytes,
        unit_bytes: (origins.host.unit_bytes, origins.media.unit_bytes),
    })
}

fn growth_of(plan: &CellPlan, readings: &[TelemetryRecord]) -> Result<Growth, NoAmplification> {
    let mut span = CounterSpan::default();
    let ramp = Nanos(plan.workload.ramp_ns);
    for reading in readings {
        let (host, media) = (reading.host_bytes_written, reading.nand_bytes_written);
        span.add(reading.at <= ramp, host.zip(media));
    }
    span.growth()
}

/// The tool's own count decides.
fn wrote(part: &CellDrive) -> bool {
    part.result.as_ref().is_some_and(|r| r.write.bytes > 0)
}

/// `None` where the drive wrote nothing.
pub fn of_cell(
    run: &Run,
    cell: &CellRecord,
    part: &CellDrive,
) -> Option<Result<WriteAmplification, NoAmplification>> {
    wrote(part).then_some(())?;
    let drive = run.manifest.drives.get(part.drive)?;
    let Some(origins) = origins(drive) else {
        return Some(Err(NoAmplification::NoCounter));
    };
    let growth = growth_of(&cell.plan, &part.telemetry);
    Some(growth.and_then(|growth| amplification(growth, &origins)))
}

fn over<'a>(
    run: &'a Run,
    drive: usize,
    cells: impl Iterator<Item = &'a CellRecord>,
) -> Option<Result<WriteAmplification, NoAmplification>> {
    let Some(origins) = origins(run.manifest.drives.get(drive)?) else {
        return Some(Err(NoAmplification::NoCounter));
    };
    let (mut sum, mut first_reason) = (Growth::default(), None);
    let mut wrote_any = false;
    let mut groups: BTreeSet<&str> = BTreeSet::new();
    for cell in cells {
        let Some(part) = cell.drive(drive).filter(|part| wrote(part)) else {
            continue;
        };
        // The counters are the drive's: of jobs that run at once they are counted once.
        if let Some(job) = &cell.plan.job
            && !groups.insert(&job.group)
        {
            continue;
        }
        wrote_any = true;
        match growth_of(&cell.plan, &part.telemetry) {
            Ok(growth) => sum = sum.plus(growth),
            Err(reason) => first_reason = first_reason.or(Some(reason)),
        }
    }
    wrote_any.then(|| match first_reason {
        // A sum of some of the cells would not be that of the step.
        Some(reason) => Err(reason),
        None => amplification(sum, &origins),
    })
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepEndurance {
    pub step: String,
    /// First and last round; `None` for all cells of the step.
    pub window: Option<(u32, u32)>,
    pub amplification: Result<WriteAmplification, NoAmplification>,
    /// `None` where the drive's rated endurance is not known.
    pub rated: Option<WorkloadEndurance>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadEndurance {
    /// Bytes over the drive's life.
    pub host_bytes: f64,
    /// Bytes from the last reading of the step on; 0 where the media have taken their rated bytes.
    pub left_bytes: f64,
    /// Per day of the warranty, where the run states its years.
    pub drive_writes_per_day: Option<f64>,
    /// The log with the rated endurance.
    pub source: CounterSource,
}

/// Steps in which the drive wrote, in order; of rounds in steady state also the window.
pub fn of_steps(run: &Run, drive: usize) -> Vec<StepEndurance> {
    let mut steps: Vec<&str> = Vec::new();
    for cell in &run.cells {
        if !steps.contains(&cell.plan.step.as_str()) {
            steps.push(&cell.plan.step);
        }
    }
    let mut found = Vec::new();
    for step in steps {
        let of_step = || run.cells.iter().filter(move |cell| cell.plan.step == step);
        if let Some(amplification) = over(run, drive, of_step()) {
            found.push(of_step_cells(run, drive, step, None, amplification));
        }
        let is_about = |record: &&SteadyRecord| record.drive == drive && record.step == step;
        let achieved = run.steady.iter().filter(is_about).find(|r| r.achieved);
        let Some(window) = achieved.map(|record| record.window) else {
            continue;
        };
        if let Some(amplification) = of_window(run, drive, step, window) {
            found.push(of_step_cells(run, drive, step, Some(window), amplification));
        }
    }
    found
}

pub fn of_window(
    run: &Run,
    drive: usize,
    step: &str,
    (first, last): (u32, u32),
) -> Option<Result<WriteAmplification, NoAmplification>> {
    let cells = run.cells.iter().filter(|cell| {
        let round = cell.plan.round.as_ref();
        cell.plan.step == step && round.is_some_and(|r| (first..=last).contains(&r.number))
    });
    over(run, drive, cells)
}

fn of_step_cells(
    run: &Run,
    drive: usize,
    step: &str,
    window: Option<(u32, u32)>,
    amplification: Result<WriteAmplification, NoAmplification>,
) -> StepEndurance {
    let factor = amplification.as_ref().ok().map(|found| found.factor);
    StepEndurance {
        step: step.to_owned(),
        window,
        amplification,
        rated: factor.and_then(|factor| endurance(run, drive, step, factor)),
    }
}

fn endurance(run: &Run, drive: usize, step: &str, factor: f64) -> Option<WorkloadEndurance> {
    let record = run.manifest.drives.get(drive)?;
    let rated = record.endurance?.rated?;
    let cells = run.cells.iter().filter(|cell| cell.plan.step == step);
    let parts = cells.filter_map(|cell| cell.drive(drive));
    let readings = parts.flat_map(|part| &part.telemetry);
    let mut written = readings.filter_map(|reading| reading.nand_bytes_written);
    let written = written.next_back()?;
    (factor > 0.0).then_some(())?;
    let host_bytes = rated.media_bytes as f64 / factor;
    let years = run.manifest.parameters.get(WARRANTY_YEARS);
    let years = years.and_then(|text| text.parse::<f64>().ok());
    let days = years.filter(|years| *years > 0.0).map(|y| y * DAYS_PER_YEAR);
    let capacity = record.capacity_bytes as f64;
    Some(WorkloadEndurance {
        host_bytes,
        left_bytes: (rated.media_bytes as f64 - written as f64).max(0.0) / factor,
        drive_writes_per_day: days
            .filter(|_| capacity > 0.0)
            .map(|days| host_bytes / capacity / days),
        source: rated.source,
    })
}

#[cfg(test)]
#[path = "../tests/unit/endurance.rs"]
mod tests;
