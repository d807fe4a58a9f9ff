//! "Is this drive OK?": a run of `quick`, and what the drive says of itself, beside its data sheet
//! and beside published figures of drives of its class. A figure is judged only where the same
//! procedure measured the reference ([`reference`]), and only for a drive: never for a file, a
//! virtual disk or another layer over one. Nothing else is concluded: it "cannot be judged", with
//! the reason and with what would tell.

use assay_store::model::warning::code;
use assay_store::model::{DriveRecord, LAYERS, Warning};
use assay_store::read::Run;
use serde::Serialize;

use crate::figure::headline::HeadlineMetric;

mod measured;
mod reference;

/// Share of a reference down to which a figure is as expected, percent. An opinion, as are the
/// limits of the policies; a data sheet states the best case.
pub const EXPECTED_PCT: f64 = 80.0;
/// Share of a reference below which a figure is far below, percent.
pub const FAR_PCT: f64 = 50.0;
/// Fewer drives are no class.
pub const LEAST_DRIVES: usize = 5;
/// Share of the capacity in use from which on a drive counts as full, percent.
pub const FULL_PCT: f64 = 90.0;
/// Offsets of partitions are multiples of the unit in which drives map data.
const PARTITION_UNIT_BYTES: u64 = 4096;

/// In the order of their weight in the answer for the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    CannotBeJudged,
    AsExpected,
    Below,
    FarBelow,
}

impl Rating {
    pub fn text(self) -> &'static str {
        match self {
            Rating::CannotBeJudged => "cannot be judged",
            Rating::AsExpected => "as expected",
            Rating::Below => "below",
            Rating::FarBelow => "far below",
        }
    }

    /// Of a share of a reference, percent.
    pub fn of_pct(pct: f64) -> Rating {
        if pct >= EXPECTED_PCT {
            Rating::AsExpected
        } else if pct >= FAR_PCT {
            Rating::Below
        } else {
            Rating::FarBelow
        }
    }

    pub fn is_below(self) -> bool {
        self >= Rating::Below
    }
}

/// One row of the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub about: String,
    pub rating: Rating,
    /// What was found, and beside what.
    pub text: String,
    /// What to look at next.
    pub next: Vec<String>,
}

impl Finding {
    fn new(about: &str, rating: Rating, text: impl Into<String>) -> Finding {
        Finding { about: about.to_owned(), rating, text: text.into(), next: Vec::new() }
    }

    fn then(mut self, next: &str) -> Finding {
        self.next.push(next.to_owned());
        self
    }
}

/// A figure beside which no public one of the same procedure stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unreferenced {
    pub about: String,
    /// With its unit.
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    pub rating: Rating,
    pub findings: Vec<Finding>,
    pub without_reference: Vec<Unreferenced>,
}

/// Of the SMART / Health log.
#[derive(Clone, Debug, Default)]
pub struct Health {
    pub critical_warnings: Vec<String>,
    pub media_errors: u64,
    /// Of the rated endurance; may exceed 100.
    pub used_pct: u8,
    pub spare_pct: u8,
    pub composite_c: i32,
}

/// A figure of the data sheet, compared.
#[derive(Clone, Debug)]
pub struct SheetFigure {
    pub about: String,
    /// The step that measured it.
    pub step: String,
    /// `None` where there is nothing to compare.
    pub rating: Option<Rating>,
    pub text: String,
}

/// One drive of a run of `quick`, with what the run folder does not hold.
pub struct CheckInput<'a> {
    pub run: &'a Run,
    pub drive: usize,
    pub headlines: &'a [HeadlineMetric],
    pub health: Option<Health>,
    pub sheet: Vec<SheetFigure>,
    /// Share of the capacity in use by the drive's own count.
    pub used_pct: Option<f64>,
    /// Of a partition: its offset on the drive.
    pub partition_start_bytes: Option<u64>,
}

/// `None` where the run has no such drive.
pub fn check(input: &CheckInput<'_>) -> Option<Check> {
    let record = input.run.manifest.drives.get(input.drive)?;
    let mut findings = vec![link(input, record), health(input), temperature(input, record)];
    findings.extend(settings(input, record));
    findings.extend(failures(input));
    let (figures, without_reference) = measured::figures(input, record);
    let rated = figures.iter().map(|finding| finding.rating).max();
    findings.extend(figures);
    let worst = findings.iter().map(|finding| finding.rating).max();
    // A good link and health say nothing about speed.
    let rating = worst.filter(|worst| worst.is_below()).or(rated);
    Some(Check { rating: rating.unwrap_or(Rating::CannotBeJudged), findings, without_reference })
}

impl<'a> CheckInput<'a> {
    fn warnings(&self) -> impl Iterator<Item = &'a Warning> {
        let drive = self.drive;
        let warnings = self.run.warnings.iter();
        warnings.filter(move |w| w.drive.is_none_or(|of| of == drive))
    }

    fn warning(&self, code: &str) -> Option<&'a Warning> {
        self.warnings().find(|warning| warning.code == code)
    }
}

/// What lies between it and a drive; or that it is none.
fn no_drive(record: &DriveRecord) -> Option<String> {
    let layers = record.details.get(LAYERS).cloned();
    layers.or_else(|| {
        (!matches!(record.kind.as_str(), "block" | "simulated"))
            .then(|| format!("a target of kind {}", record.kind))
    })
}

const LINK: &str = "link";

fn link(input: &CheckInput<'_>, record: &DriveRecord) -> Finding {
    let now = record.details.get("PCIe link now");
    if let Some(layer) = no_drive(record) {
        return not_a_drive(LINK, &layer);
    }
    if let Some(warning) = input.warning(code::LINK_BELOW_CAPABILITY) {
        return Finding::new(LINK, Rating::Below, &warning.message).then(&warning.advice);
    }
    match (now, record.details.get("PCIe link possible")) {
        (Some(now), Some(possible))
            if !now.contains("unknown") && !possible.contains("unknown") =>
        {
            Finding::new(LINK, Rating::AsExpected, format!("{now}, as possible"))
        }
        _ => Finding::new(LINK, Rating::CannotBeJudged, "its link is not known")
            .then("lspci -vv tells for PCIe (LnkCap, LnkSta), smartctl -i for SATA"),
    }
}

fn not_a_drive(about: &str, layer: &str) -> Finding {
    Finding::new(about, Rating::CannotBeJudged, format!("not a drive but {layer}"))
        .then("check the drive under it, by its block device")
}

const HEALTH: &str = "health";

/// Critical warnings and counts of the log are the drive's own statements (NVMe Base 2.0c,
/// 5.16.1.3).
fn health(input: &CheckInput<'_>) -> Finding {
    let Some(health) = &input.health else {
        return Finding::new(HEALTH, Rating::CannotBeJudged, "no NVMe health log can be read")
            .then("run it as root on the drive itself; smartctl -a DEVICE reads other drives");
    };
    let Health { media_errors, used_pct, spare_pct, .. } = health;
    let text = format!(
        "{used_pct} % of the rated endurance used, {spare_pct} % spare, {media_errors} media errors"
    );
    if !health.critical_warnings.is_empty() {
        let names = health.critical_warnings.join(", ");
        let text = format!("critical warning: {names}; {text}");
        return Finding::new(HEALTH, Rating::FarBelow, text)
            .then("save its data and replace it, unless the warning is of its temperature alone");
    }
    let is_below = *media_errors > 0 || *used_pct >= 100;
    let rating = match is_below {
        true => Rating::Below,
        false => Rating::AsExpected,
    };
    let mut finding = Finding::new(HEALTH, rating, text);
    if *media_errors > 0 {
        finding = finding.then(
            "data were not recoverable, at some time: read the whole drive (assay job DRIVE --rw \
             read --bs 128k), and see whether the count grows (assay probe DRIVE)",
        );
    }
    if *used_pct >= 100 {
        finding = finding.then("its rated endurance is used up: plan to replace it");
    }
    finding
}

const TEMPERATURE: &str = "temperature";

fn temperature(input: &CheckInput<'_>, record: &DriveRecord) -> Finding {
    if let Some(warning) = input.warning(code::HOT_BEFORE_START) {
        return Finding::new(TEMPERATURE, Rating::Below, &warning.message).then(&warning.advice);
    }
    let now = input.health.as_ref().map(|health| health.composite_c);
    match (now, record.warning_c) {
        (Some(now), Some(limit)) => Finding::new(
            TEMPERATURE,
            Rating::AsExpected,
            format!("{now} degrees C before the measurement; its warning threshold is {limit}"),
        ),
        _ => Finding::new(
            TEMPERATURE,
            Rating::CannotBeJudged,
            "the drive tells no temperature, or no limit",
        )
        .then("assay run thermal DRIVE, and hwmon or smartctl for its temperature"),
    }
}

/// What the host has set. Whether it costs this drive anything, only a comparison tells.
const SETTINGS: [(&str, &str); 3] = [
    (code::IO_SCHEDULER, "scheduler"),
    (code::WRITE_CACHE_OFF, "write cache"),
    (code::FALLS_ASLEEP, "power states (APST)"),
];

fn settings(input: &CheckInput<'_>, record: &DriveRecord) -> Vec<Finding> {
    let found = SETTINGS.iter().filter_map(|(code, about)| {
        let warning = input.warning(code)?;
        let finding = Finding::new(about, Rating::CannotBeJudged, &warning.message);
        let tell = "whether it matters here: assay run quick with and without, assay compare";
        Some(finding.then(&warning.advice).then(tell))
    });
    let mut findings: Vec<Finding> = found.collect();
    let shown = ["scheduler", "hardware queues", "requests per queue", "write cache"];
    let values = shown.iter().filter_map(|name| {
        let value = record.details.get(*name)?;
        Some(format!("{name} {value}"))
    });
    let values: Vec<String> = values.collect();
    if findings.is_empty() && !values.is_empty() {
        let text = values.join(", ");
        findings.push(Finding::new("settings", Rating::AsExpected, text));
    }
    findings
}

fn failures(input: &CheckInput<'_>) -> Vec<Finding> {
    const FAILED: [&str; 5] = [
        code::IO_ERRORS,
        code::UNANSWERED,
        code::GAVE_UP,
        code::DRIVE_LOST,
        code::CRITICAL_WARNING_RAISED,
    ];
    let failed = input.warnings().filter(|w| FAILED.contains(&w.code.as_str()));
    failed.map(|w| Finding::new("reads", Rating::FarBelow, &w.message).then(&w.advice)).collect()
}

#[cfg(test)]
#[path = "../tests/unit/check.rs"]
mod tests;
