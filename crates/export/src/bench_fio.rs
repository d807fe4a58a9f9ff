//! Export as fio-plot's bench-fio stores fio's results: one file per cell and drive.

use std::fs;
use std::path::{Path, PathBuf};

use assay_store::StoreError;
use assay_store::model::DriveRecord;
use assay_store::read::{CellRecord, Run};
use assay_units::text::compact_size;

use super::fio::{document, jobs};
use super::{replace_file, write_document};
use crate::ExportError;

/// Writes one document per cell and drive, in the folders and under the names of fio-plot's
/// bench-fio: `DRIVE/STEP/BLOCK/RW-IODEPTH-NUMJOBS.json`, of a mix `DRIVE/STEP/RWMIX/BLOCK/...`.
/// The step, which bench-fio does not have, separates workloads of the same shape; further ones of
/// that shape are in `run-2`, `run-3`, ..., as bench-fio's repetitions are. Returns the files.
pub fn export_bench_fio(run: &Run, folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let (run, jobs) = jobs(run)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for ((cell, place), job) in jobs {
        let cell = &run.cells[cell];
        let drive = &run.manifest.drives[cell.drives[place].drive];
        let (own, name) = bench_fio_path(cell, drive);
        let in_folder = |own: PathBuf| folder.join(own).join(&name);
        let mut path = in_folder(own.clone());
        let mut number = 1;
        while files.contains(&path) {
            number += 1;
            path = in_folder(own.join(format!("run-{number}")));
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("create the folder", parent))?;
        }
        replace_file(&path, |file| write_document(&document(&run, vec![job]), file))?;
        files.push(path);
    }
    Ok(files)
}

pub(super) fn bench_fio_path(cell: &CellRecord, drive: &DriveRecord) -> (PathBuf, String) {
    let workload = &cell.plan.workload;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain = |text: &str| -> String {
        let text = text.trim_matches('.').to_owned();
        text.replace(|c: char| !is_plain(c), "-")
    };
    let mut folder = PathBuf::from(plain(&drive.label)).join(plain(&cell.plan.step));
    if let Some(reads) = workload.rwmixread {
        folder.push(format!("{}{reads}", plain(&workload.rw)));
    }
    let mix = workload.block_size_mix().map(plain);
    folder.push(mix.unwrap_or_else(|| compact_size(workload.bs_bytes)));
    let (rw, iodepth, numjobs) = (plain(&workload.rw), workload.iodepth, workload.numjobs);
    (folder, format!("{rw}-{iodepth}-{numjobs}.json"))
}
