use assay_store::model::{CellPlan, CellResult, DriveRecord, Manifest, SuiteRecord};
use assay_store::read::CellDrive;

use super::*;

fn drives() -> &'static [PublicDrive] {
    &PublicTable::built_in().drives
}

fn figures() -> &'static [PublicFigure] {
    &PublicTable::built_in().figures
}

fn rank(run: &Run, drive: usize) -> Ranking {
    super::rank(run, drive, PublicTable::built_in())
}

/// With a rate in MiB/s beside the IOPS.
pub(super) fn measured(mut run: Run) -> Run {
    let result = run.cells[0].drives[0].result.as_mut().unwrap();
    result.read.mib_per_s = result.read.iops / 256.0;
    run
}

/// A run of one cell on 16 GiB: 4 KiB, depth 64.
pub(super) fn run(suite: &str, rw: &str, iops: f64, span_bytes: u64) -> Run {
    let mut workload = WorkloadRecord {
        rw: rw.to_owned(),
        bs_bytes: 4096,
        iodepth: 64,
        numjobs: 1,
        direct: true,
        span_bytes,
        ..WorkloadRecord::default()
    };
    workload.options = "--bs 4k".to_owned();
    let mut result = CellResult::default();
    result.read.iops = iops;
    result.elapsed = assay_units::Nanos::from_secs(120);
    let cell = CellRecord {
        plan: CellPlan { id: "c".to_owned(), drives: vec![0], workload, ..CellPlan::default() },
        state: CellState::Finished,
        drives: vec![CellDrive { drive: 0, result: Some(result), ..CellDrive::default() }],
        host: Vec::new(),
    };
    let drive = DriveRecord {
        model: " samsung mzvlb512hajq-000h1 ".to_owned(),
        capacity_bytes: 512_110_190_592,
        ..DriveRecord::default()
    };
    let suite = SuiteRecord { name: suite.to_owned(), ..SuiteRecord::default() };
    Run {
        path: "r".into(),
        manifest: Manifest { suite, drives: vec![drive], ..Manifest::default() },
        attempts: Vec::new(),
        outcome: None,
        audit: None,
        cells: vec![cell],
        warnings: Vec::new(),
        steady: Vec::new(),
        verdicts: vec![None],
        damaged_lines: Vec::new(),
        segments: Default::default(),
    }
}

/// Every row of both tables is read, and every figure has a drive.
#[test]
fn the_tables_are_whole() {
    assert_eq!((drives().len(), figures().len()), (55, 13_217));
    assert!(figures().iter().all(|figure| figure.value.is_finite() && figure.bs_bytes > 0));
    let files: Vec<_> = figures().iter().filter(|f| f.area == "4GiB file per thread").collect();
    assert!(files.iter().all(|f| f.area_bytes() == Some(u64::from(f.numjobs) << 32)));
}

/// The rank by an own count over the table; drives with several measurements count once.
#[test]
fn a_drive_stands_where_a_count_puts_it() {
    let value = 200_000.0;
    let found = rank(&run(IOCOST, "randread", value, 16 << 30), 0);
    let [only] = found.figures.as_slice() else {
        panic!("{found:?}");
    };
    let like = figures().iter().filter(|f| {
        f.source.starts_with(IOCOST_SOURCE) && (f.rw.as_str(), f.bs_bytes) == ("randread", 4096)
    });
    let mut by_drive: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    like.for_each(|f| by_drive.entry(f.drive).or_default().push(f.value));
    let medians: Vec<f64> = by_drive.values().map(|v| median(v.iter().copied()).unwrap()).collect();
    assert!(medians.len() >= 20);
    assert_eq!(only.of, medians.len() + 1);
    assert_eq!(only.rank, 1 + medians.iter().filter(|m| **m > value).count());
    assert_eq!(only.best.value, medians.iter().copied().fold(0.0, f64::max));
}

/// Another length of the area, and writes outside of the suite, are other procedures.
#[test]
fn unlike_procedures_are_named_and_not_compared() {
    let found = rank(&run("job", "randread", 1e5, 1 << 30), 0);
    assert!(found.figures.is_empty());
    assert!(found.unlike.iter().any(|u| u.reason == "an area of another length"), "{found:?}");
    let found = rank(&run("job", "randwrite", 1e5, 16 << 30), 0);
    assert!(found.figures.is_empty() && !found.unlike.is_empty());
    assert!(rank(&run("job", "randread", 1e5, 16 << 30), 0).figures.len() == 1);
    let mut short = run(IOCOST, "randread", 1e5, 16 << 30);
    let result = short.cells[0].drives[0].result.as_mut().unwrap();
    result.elapsed = assay_units::Nanos::from_secs(50);
    assert!(rank(&short, 0).figures.is_empty());
    let mut unfit = run(IOCOST, "randread", 1e5, 16 << 30);
    unfit.cells[0].plan.unfit = Some("buffered".to_owned());
    assert_eq!(rank(&unfit, 0), Ranking::default());
}

/// Units of one model, by name in any case.
#[test]
fn units_of_one_model() {
    let model = &drives()[figures()
        .iter()
        .find(|f| f.source.starts_with(IOCOST_SOURCE) && f.rw == "randread")
        .unwrap()
        .drive];
    let mut own = run(IOCOST, "randread", 1e5, 16 << 30);
    own.manifest.drives[0].model = model.model.to_lowercase();
    let found = rank(&own, 0);
    let [low, high] = found.figures[0].same_model.unwrap();
    assert!(low > 0.0 && low <= high);
}
