//! Public drives that no fit and no choice of the curve has seen: their 4 KiB random reads,
//! predicted from their ratings alone (`reference/public/`), beside the measured ones.
//!
//! Each drive is predicted twice: by the modelled drives alone, and as one of its kind, with what
//! the other public drives say of it, without this one and its model.

use std::collections::BTreeMap;

use assay_analysis::rank::public::{PublicFigure, PublicTable};
use assay_calibrate::CalibrateError;
use assay_calibrate::hardware::{Hardware, Rating};
use assay_calibrate::inference::posterior::quantile;
use assay_calibrate::public_reads::{BLOCK_BYTES, PublicRead};
use assay_calibrate::read_curve::kind::Kind;
use assay_calibrate::read_curve::{DriveReads, Population};
use assay_calibrate::table::{CsvRow, CsvTable};
use assay_sim_host::host::{SPREAD, YEAR_2025};
use assay_units::median;

const TEXT: &str = include_str!("../../../reference/public/ratings.csv");
const FILE: &str = "public/ratings.csv";
/// Figures of kinds of which the table of measurements has one drive each, from texts of reviews.
const REVIEWS: &str = include_str!("../../../reference/public/reviews.csv");
const REVIEWS_FILE: &str = "public/reviews.csv";
/// The least number in flight of which `assay predict` says anything.
const LEAST_IN_FLIGHT: u32 = 16;
/// What data sheets say of a drive.
struct Sheet {
    iops: f64,
    megabytes: f64,
    /// Behind NVMe.
    kind: Kind,
    is_of_family: bool,
}

fn of_profile(hardware: &Hardware, name: &str) -> Option<Sheet> {
    let facts = hardware.drive(name)?;
    let highest = |figure| facts.highest(figure).map(|rated| rated.value);
    let bits = facts.flash.and_then(|flash| flash.cell_bits.as_ref());
    Some(Sheet {
        iops: highest(Rating::RandomReadIops)?,
        megabytes: highest(Rating::SequentialReadMbS)?,
        // Cells of 3D XPoint are not counted in bits.
        kind: bits.map_or(Kind::XPoint, |bits| Kind::of_flash(bits.value.into())),
        is_of_family: false,
    })
}

/// Of the drives of which both ratings of reads and the bits per cell are known.
fn sheets() -> Result<BTreeMap<String, Sheet>, CalibrateError> {
    let hardware = Hardware::embedded()?;
    let table = CsvTable::parse(FILE, TEXT)?;
    let mut rows: BTreeMap<&str, Vec<&CsvRow>> = BTreeMap::new();
    for row in &table.rows {
        rows.entry(row.text("drive")?).or_default().push(row);
    }
    let mut out = BTreeMap::new();
    for (drive, rows) in rows {
        let find = |figure: &str| {
            let mut all = rows.iter();
            all.find(|row| row.text("figure").is_ok_and(|name| name == figure))
        };
        let number = |figure: &str| find(figure).map(|row| row.figure("value")).transpose();
        if let Some(row) = find("profile") {
            out.extend(of_profile(&hardware, row.text("value")?).map(|s| (drive.to_owned(), s)));
            continue;
        }
        let reads = ["random_read_iops", "sequential_read_mb_s"];
        let bits = find("cell_bits").map(|row| row.number("value"));
        if let [Some(iops), Some(megabytes)] = [number(reads[0])?, number(reads[1])?]
            && let Some(bits) = bits
        {
            let mut of_reads = reads.iter().filter_map(|figure| find(figure));
            let sheet = Sheet {
                iops,
                megabytes,
                kind: Kind::of_flash(bits?),
                is_of_family: of_reads
                    .any(|row| row.text("scope").is_ok_and(|scope| scope == "family")),
            };
            out.insert(drive.to_owned(), sheet);
        }
    }
    Ok(out)
}

/// In flight of all threads, of a rate of random reads.
pub fn reads_in_flight(figure: &PublicFigure) -> Option<u32> {
    let is_rate = figure.rw == "randread" && figure.metric == "iops";
    is_rate.then_some(figure.iodepth * figure.numjobs)
}

/// In flight of all threads, of a figure that can be predicted.
fn in_flight(figure: &PublicFigure) -> Option<u32> {
    let is_predicted = figure.bs_bytes == u64::from(BLOCK_BYTES);
    reads_in_flight(figure).filter(|&all| is_predicted && all >= LEAST_IN_FLIGHT)
}

pub fn is_by_host(figure: &PublicFigure) -> bool {
    let words = ["yes", "maybe"];
    words.iter().any(|word| figure.host_limited.starts_with(word))
}

/// Figures that are known from the text of a review.
fn reviews() -> Result<Vec<PublicRead>, CalibrateError> {
    let row = |row: &CsvRow| {
        let kind = row.text("kind")?;
        let kind = Kind::ALL.into_iter().find(|one| one.name() == kind);
        Ok(PublicRead {
            kind: kind.ok_or_else(|| row.error("kind", "no such kind of drive"))?,
            is_by_host: false,
            drive: row.text("drive")?.to_owned(),
            capacity_gb: None,
            rated_iops: row.figure("rated_iops")?,
            rated_mb: row.figure("rated_mb")?,
            is_of_family: false,
            in_flight: row.number("in_flight")?,
            iops: row.figure("iops")?,
            by_flash: [0.0; 3],
            predicted: [0.0; 3],
        })
    };
    let table = CsvTable::parse(REVIEWS_FILE, REVIEWS)?;
    table.rows.iter().map(row).collect()
}

/// Measured figures, medians of repeated ones, without predictions.
fn measured() -> Result<Vec<PublicRead>, CalibrateError> {
    let (table, sheets) = (PublicTable::built_in(), sheets()?);
    let mut found: BTreeMap<(bool, Kind, &str, u32), Vec<f64>> = BTreeMap::new();
    for figure in &table.figures {
        let drive = &table.drives[figure.drive];
        if let (Some(sheet), Some(in_flight)) = (sheets.get(&drive.drive), in_flight(figure)) {
            let is_sata = drive.link == "SATA";
            let kind = if is_sata { Kind::Sata } else { sheet.kind };
            let key = (is_by_host(figure), kind, drive.drive.as_str(), in_flight);
            found.entry(key).or_default().push(figure.value);
        }
    }
    let row = |((is_by_host, kind, drive, in_flight), values): (_, Vec<f64>)| {
        let sheet = &sheets[drive];
        Some(PublicRead {
            kind,
            is_by_host,
            drive: str::to_owned(drive),
            capacity_gb: table.drives.iter().find(|d| d.drive == drive)?.capacity_gb,
            rated_iops: sheet.iops,
            rated_mb: sheet.megabytes,
            is_of_family: sheet.is_of_family,
            in_flight,
            iops: median(values)?,
            by_flash: [0.0; 3],
            predicted: [0.0; 3],
        })
    };
    let mut rows: Vec<PublicRead> = found.into_iter().filter_map(row).collect();
    // The figures of a drive err together: the one with the fewest in flight stands for it.
    let of = |r: &PublicRead| (r.is_by_host, r.drive.clone());
    rows.dedup_by(|next, first| of(next) == of(first));
    rows.extend(reviews()?);
    rows.sort_by_key(|r| (r.is_by_host, r.kind));
    Ok(rows)
}

/// The model without its capacity: drives of one model do not teach each other.
fn is_same_model(a: &str, b: &str) -> bool {
    a.split('-').next() == b.split('-').next()
}

/// All figures with their predictions.
pub fn predictions() -> Result<Vec<PublicRead>, CalibrateError> {
    let seven = Population::of_published()?;
    let all = measured()?;
    let with = |read: &PublicRead| {
        let others = all.iter().filter(|o| !is_same_model(&o.drive, &read.drive));
        let others: Vec<DriveReads> = others.filter_map(PublicRead::teaches).collect();
        let public = seven.clone().with_kinds(&others);
        let (cells, drive) = ([read.cell()], read.unknown());
        PublicRead {
            by_flash: seven.iops(&drive, &cells)[0],
            predicted: public.iops(&drive, &cells)[0],
            ..read.clone()
        }
    };
    Ok(all.iter().map(with).collect())
}

/// Median, 90th percentile and worst error in per cent, and shares of the figures in the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    pub errors: [f64; 3],
    pub inside: usize,
    pub of: usize,
}

pub fn held(all: &[&PublicRead], of: impl Fn(&PublicRead) -> [f64; 3]) -> Option<Held> {
    let error = |r: &&PublicRead| (of(r)[0] / r.iops - 1.0).abs() * 100.0;
    let errors: Vec<(f64, f64)> = all.iter().map(|r| (error(r), 1.0)).collect();
    let is_inside = |r: &&&PublicRead| (of(r)[1]..=of(r)[2]).contains(&r.iops);
    Some(Held {
        errors: [
            median(errors.iter().map(|e| e.0))?,
            quantile(&errors, 0.9)?,
            quantile(&errors, 1.0)?,
        ],
        inside: all.iter().filter(is_inside).count(),
        of: all.len(),
    })
}

/// Reads per second of one process, and the ends of the interval of real hosts.
pub fn host() -> [f64; 3] {
    let centre = 1e9 / YEAR_2025.work_ns(2, BLOCK_BYTES.into()) as f64;
    [centre, centre / SPREAD, centre * SPREAD]
}

/// Of one kind where the drive was the limit; of any kind where the host was.
pub fn of_kind(all: &[PublicRead], kind: Option<Kind>) -> Vec<&PublicRead> {
    let is = |r: &&PublicRead| kind.map_or(r.is_by_host, |one| !r.is_by_host && r.kind == one);
    all.iter().filter(is).collect()
}

#[cfg(test)]
#[path = "../tests/unit/public.rs"]
mod tests;
