use std::collections::BTreeMap;
use std::io::Write;

use assay_store::model::warning::code;
use assay_store::model::{CellKind, Entry, Manifest, RunEnd, SteadyRecord, Warning};

use super::LimitedFigures;
use super::artifact::{
    Content, Fault, Line, Log, OfRun, OfStep, RunEnded, SchemaVersion, StepContent, StepStart,
};
use super::series::{Figure, Pending};

/// Warnings that are errors of the drive or its data.
const FAULTS: [&str; 6] = [
    code::IO_ERRORS,
    code::UNANSWERED,
    code::GAVE_UP,
    code::DRIVE_LOST,
    code::VERIFY_FAILED,
    code::CRITICAL_WARNING_RAISED,
];

pub(super) struct Step {
    pub(super) id: String,
    pub(super) began: Option<jiff::Timestamp>,
    pub(super) is_soak: bool,
    /// Of a soak, by drive.
    pub(super) pending: BTreeMap<usize, Pending>,
    /// Identifier and number of elements, by drive and figure.
    pub(super) series: BTreeMap<(usize, Figure), (String, u64)>,
    pub(super) hottest_c: BTreeMap<usize, f64>,
    /// Intervals that came after their figures were written.
    pub(super) late: u64,
}

pub(super) struct OcpWriter<'a, W: Write> {
    pub(super) out: W,
    pub(super) figures: LimitedFigures<'a>,
    pub(super) manifest: Manifest,
    pub(super) sequence: u64,
    pub(super) now: String,
    pub(super) steps: u64,
    pub(super) series: u64,
    /// Open cells, by identifier.
    pub(super) open: BTreeMap<String, Step>,
    pub(super) verdict_step: Option<String>,
    /// The last record of each group.
    pub(super) steady: Vec<SteadyRecord>,
    pub(super) failed: bool,
    /// A `Finish` that may be the last one.
    pub(super) finish: Option<RunEnd>,
}

impl<'a, W: Write> OcpWriter<'a, W> {
    pub(super) fn new(
        manifest: Manifest,
        figures: LimitedFigures<'a>,
        out: W,
    ) -> std::io::Result<OcpWriter<'a, W>> {
        let mut writer = OcpWriter {
            out,
            figures,
            now: jiff::Timestamp::UNIX_EPOCH.to_string(),
            manifest,
            sequence: 0,
            steps: 0,
            series: 0,
            open: BTreeMap::new(),
            verdict_step: None,
            steady: Vec::new(),
            failed: false,
            finish: None,
        };
        let created = writer.manifest.created.clone();
        writer.at(&created);
        writer.artifact(Content::SchemaVersion(SchemaVersion { major: 2, minor: 0 }))?;
        writer.run_start()?;
        let planned = writer.manifest.cells.clone();
        let skipped = planned.iter().filter_map(|cell| {
            let reason = cell.skipped.as_ref()?;
            Some((cell.id.as_str(), reason))
        });
        for (cell, reason) in skipped {
            writer.skipped(cell, reason)?;
        }
        Ok(writer)
    }

    /// A date that cannot be read leaves the last one.
    pub(super) fn at(&mut self, date: &str) -> Option<jiff::Timestamp> {
        let parsed: jiff::Timestamp = date.parse().ok()?;
        self.now = parsed.to_string();
        Some(parsed)
    }

    pub(super) fn artifact(&mut self, content: Content<'_>) -> std::io::Result<()> {
        let line = Line { content, sequence_number: self.sequence, timestamp: &self.now };
        self.sequence += 1;
        // One write per line: a killed process leaves whole lines.
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        self.out.write_all(&text)
    }

    pub(super) fn of_run(&mut self, content: OfRun<'_>) -> std::io::Result<()> {
        self.artifact(Content::TestRunArtifact(content))
    }

    pub(super) fn of_step(&mut self, id: &str, content: StepContent<'_>) -> std::io::Result<()> {
        let test_step_id = id.to_owned();
        self.artifact(Content::TestStepArtifact(OfStep { test_step_id, content }))
    }

    pub(super) fn note(&mut self, message: &str) -> std::io::Result<()> {
        let severity = "WARNING";
        self.of_run(OfRun::Log(Log { severity, message }))
    }

    pub(super) fn info(&mut self, message: &str) -> std::io::Result<()> {
        let severity = "INFO";
        self.of_run(OfRun::Log(Log { severity, message }))
    }

    pub(super) fn entry(&mut self, entry: &Entry) -> std::io::Result<()> {
        // A table: an arm per entry of the journal.
        if !matches!(entry, Entry::Verdict { .. } | Entry::Warning(_)) {
            self.end_verdicts()?;
        }
        match entry {
            Entry::Manifest { .. } | Entry::Host { .. } => Ok(()),
            Entry::Start { at, resumed } => {
                self.at(at);
                // More follows: the run did not end there.
                self.finish = None;
                self.interrupt("was interrupted, and is measured again")?;
                match resumed {
                    0 => Ok(()),
                    _ => self.info("the run is resumed"),
                }
            }
            Entry::Audit(audit) => self.info(&format!(
                "self-audit: {:.0} IO/s per thread without a drive, {:.1} ns per I/O, {:.1} ns to \
                 read the clock",
                audit.null_iops_per_thread, audit.engine_ns_per_io, audit.clock_ns
            )),
            Entry::CellStart { cell, at } => {
                let began = self.at(at);
                if let Some(step) = self.open.remove(cell) {
                    self.close_step(step, "ERROR")?;
                }
                self.begin(cell, began)
            }
            Entry::Interval(record) if !record.ramp && self.knows(record.drive) => {
                self.interval(&record.cell, record.drive, record.clone().interval())
            }
            Entry::Interval(_) => Ok(()),
            Entry::Telemetry(record) if self.knows(record.drive) => self.telemetry(record),
            Entry::Telemetry(_) => Ok(()),
            Entry::Warning(warning) => self.warning(warning),
            Entry::CellFinish { cell, at, results } => {
                self.at(at);
                if !self.open.contains_key(cell) {
                    self.begin(cell, None)?;
                }
                let Some(step) = self.open.remove(cell) else {
                    return Ok(());
                };
                for result in results {
                    if self.knows(result.drive) {
                        self.result(&step, result)?;
                    }
                }
                self.close_step(step, "COMPLETE")
            }
            Entry::CellFailed { cell, at, message } => {
                self.at(at);
                self.failed = true;
                if !self.open.contains_key(cell) {
                    self.begin(cell, None)?;
                }
                let Some(step) = self.open.remove(cell) else {
                    return Ok(());
                };
                let symptom = "cell-failed";
                let fault = Fault { symptom, message };
                self.of_step(&step.id, StepContent::Error(fault))?;
                self.close_step(step, "ERROR")
            }
            Entry::CellSkipped { cell, at, reason } => {
                self.at(at);
                let plan = self.manifest.cells.iter().find(|plan| plan.id == *cell);
                // Those that the plan skips are written at the start.
                match plan.is_some_and(|plan| plan.skipped.is_some()) {
                    true => Ok(()),
                    false => self.skipped(cell, reason),
                }
            }
            Entry::Steady(record) => {
                self.steady.retain(|known| known.group != record.group);
                self.steady.push(record.clone());
                Ok(())
            }
            Entry::Verdict { drive, verdict } if self.knows(*drive) => {
                self.verdict(*drive, verdict)
            }
            Entry::Verdict { .. } => Ok(()),
            Entry::Finish { at, outcome } => {
                self.at(at);
                self.finish = Some(*outcome);
                Ok(())
            }
        }
    }

    /// A damaged journal can name drives that the manifest does not have.
    pub(super) fn knows(&self, drive: usize) -> bool {
        drive < self.manifest.drives.len()
    }

    pub(super) fn begin(
        &mut self,
        cell: &str,
        began: Option<jiff::Timestamp>,
    ) -> std::io::Result<()> {
        let plan = self.manifest.cells.iter().find(|plan| plan.id == cell);
        let is_soak = plan.is_some_and(|plan| plan.kind == CellKind::Soak);
        let id = self.begin_step(cell)?;
        let step = Step {
            id,
            began,
            is_soak,
            pending: BTreeMap::new(),
            series: BTreeMap::new(),
            hottest_c: BTreeMap::new(),
            late: 0,
        };
        self.open.insert(cell.to_owned(), step);
        Ok(())
    }

    pub(super) fn begin_step(&mut self, name: &str) -> std::io::Result<String> {
        let id = self.steps.to_string();
        self.steps += 1;
        self.of_step(&id, StepContent::TestStepStart(StepStart { name }))?;
        Ok(id)
    }

    pub(super) fn skipped(&mut self, cell: &str, reason: &str) -> std::io::Result<()> {
        if !self.open.contains_key(cell) {
            self.begin(cell, None)?;
        }
        let Some(step) = self.open.remove(cell) else {
            return Ok(());
        };
        let (severity, message) = ("INFO", reason);
        self.of_step(&step.id, StepContent::Log(Log { severity, message }))?;
        self.close_step(step, "SKIP")
    }

    /// Ends what is open, as not finished.
    pub(super) fn interrupt(&mut self, why: &str) -> std::io::Result<()> {
        for (cell, step) in std::mem::take(&mut self.open) {
            let message = &format!("{cell} {why}");
            let severity = "WARNING";
            self.of_step(&step.id, StepContent::Log(Log { severity, message }))?;
            self.close_step(step, "SKIP")?;
        }
        Ok(())
    }

    pub(super) fn warning(&mut self, warning: &Warning) -> std::io::Result<()> {
        let message = &format!("{} {}", warning.message, warning.advice);
        let is_fault = FAULTS.contains(&warning.code.as_str());
        self.failed |= is_fault;
        let symptom = warning.code.as_str();
        let fault = Fault { symptom, message };
        let text = format!("{symptom}: {message}");
        let (severity, message) = ("WARNING", text.as_str());
        let log = Log { severity, message };
        let step = warning.cell.as_ref().and_then(|cell| self.open.get(cell));
        let step = step.map(|step| step.id.clone()).or_else(|| self.verdict_step.clone());
        match (step, is_fault) {
            (Some(step), true) => self.of_step(&step, StepContent::Error(fault)),
            (Some(step), false) => self.of_step(&step, StepContent::Log(log)),
            (None, true) => self.of_run(OfRun::Error(fault)),
            (None, false) => self.of_run(OfRun::Log(log)),
        }
    }

    /// Nothing unless the run has ended.
    pub(super) fn close(&mut self) -> std::io::Result<()> {
        let Some(outcome) = self.finish.take() else {
            return Ok(());
        };
        // A verdict can follow the end of the run in a journal that was repaired.
        self.end_verdicts()?;
        self.interrupt("was not finished")?;
        let (status, result) = match (outcome, self.failed) {
            // "an external request to abort"
            (RunEnd::Interrupted, _) => ("SKIP", "NOT_APPLICABLE"),
            (RunEnd::Complete, true) => ("COMPLETE", "FAIL"),
            (RunEnd::Complete, false) => ("COMPLETE", "PASS"),
        };
        self.of_run(OfRun::TestRunEnd(RunEnded { status, result }))
    }
}
