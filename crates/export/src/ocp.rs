//! Export as Open Compute's Test & Validation output 2.0
//! (github.com/opencomputeproject/ocp-diag-core, `json_spec`): one JSON artifact per line. A run is
//! a `testRun`, its drives are `hardwareInfos` with their serials, firmware and assay itself
//! `softwareInfos`. A cell is a `testStep`, a figure of it a `measurement`, the intervals of a soak
//! and its temperatures are `measurementSeries`. The figures of the verdict rules, each with the
//! limit of its rule as `validator`, are measurements of a last step, with the verdict and the
//! steady states as `diagnosis`. Warnings are logs; those about failed I/O or data are errors.
//! `OcpWriter` writes the artifacts of each event of a journal and needs nothing that comes later,
//! so the same bytes come from a finished run folder and, line by line, from a run in progress
//! ([`Follower`]). A run that was killed has a valid prefix, without `testRunEnd`. Artifacts have
//! the date of the journal's last event that has one. Elements of a series have their own: the
//! cell's start and the drive's time since, which is virtual for a simulated drive.

use std::io::Write;
use std::path::Path;

use assay_store::StoreError;
use assay_store::journal::{JOURNAL_FILE, JournalReader, LineContent};
use assay_store::model::Manifest;

use self::writer::OcpWriter;
use super::output_error;
use crate::ExportError;

mod artifact;
mod dut;
mod figures;
mod rules;
mod series;
mod soak;
mod writer;

pub use rules::RuleFigures;

/// Beginning of every output.
pub const HEAD: &str = "{\"schemaVersion\":{\"major\":2,\"minor\":0}";

const IOPS: &str = "IO/s";
const MIB_PER_S: &str = "MiB/s";
const MICROSECONDS: &str = assay_units::text::UCUM_MICROSECOND;
const CELSIUS: &str = "C";

/// A figure of a verdict rule, with its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitedFigure {
    /// What the rule is about.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Below it (above it, with `lower_is_better`) the figure is a reason against the drive.
    pub limit: f64,
    /// Smaller figures are better.
    pub lower_is_better: bool,
}

/// The figures of the verdict rules about a drive, by its index, as measured so far.
pub type LimitedFigures<'a> = &'a dyn Fn(usize) -> Vec<LimitedFigure>;

/// Writes a run folder, finished or not, as artifacts.
pub fn export_ocp(
    folder: &Path,
    figures: LimitedFigures<'_>,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let mut follower = Follower::open(folder, figures, out)?;
    follower.advance()?;
    follower.close()
}

/// Writes the artifacts of a journal as it grows.
pub struct Follower<'a, W: Write> {
    writer: OcpWriter<'a, W>,
    journal: JournalReader<std::io::BufReader<std::fs::File>>,
    path: std::path::PathBuf,
}

impl<'a, W: Write> Follower<'a, W> {
    /// Begins with a run folder whose manifest is written.
    pub fn open(
        folder: &Path,
        figures: LimitedFigures<'a>,
        out: W,
    ) -> Result<Follower<'a, W>, ExportError> {
        let manifest = Manifest::load(folder)?;
        let path = folder.join(JOURNAL_FILE);
        Ok(Follower {
            journal: JournalReader::open(&path)?,
            writer: OcpWriter::new(manifest, figures, out).map_err(output_error)?,
            path,
        })
    }

    /// Writes the artifacts of the lines that are whole by now.
    pub fn advance(&mut self) -> Result<(), ExportError> {
        loop {
            let line = self.journal.next_whole_line();
            let Some(line) = line.map_err(StoreError::io("read", &self.path))? else {
                break;
            };
            let written = match line.content {
                LineContent::Entry(entry) => self.writer.entry(&entry),
                LineContent::Unknown(event) => self.writer.note(&format!(
                    "journal line {}: an event {event:?} of a newer version is left out",
                    line.number
                )),
                LineContent::Damaged(reason) => self.writer.note(&format!(
                    "journal line {} is damaged and left out: {reason}",
                    line.number
                )),
            };
            written.map_err(output_error)?;
        }
        self.writer.out.flush().map_err(output_error)
    }

    /// Writes the `testRunEnd` of a run that has ended, if its journal has an end.
    pub fn close(mut self) -> Result<(), ExportError> {
        self.writer.close().map_err(output_error)?;
        self.writer.out.flush().map_err(output_error)
    }
}
