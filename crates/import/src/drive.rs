//! Identity of a drive from a report about it, since result files have only a device's name.

use std::path::Path;

use assay_output::read_text;
use assay_store::model::DriveRecord;
use serde_json::Value;

/// Why a report tells nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// It names no model.
    #[error(
        "{0} names no model; it is to be the output of `smartctl --json -i`, \
         `nvme id-ctrl -o json` or `assay probe --json`"
    )]
    NoModel(String),
}

/// Model, serial, firmware and capacity, from the JSON of smartctl (`model_name`,
/// `user_capacity.bytes`), of nvme-cli's id-ctrl (`mn`, `sn`, `fr`, `tnvmcap`) or of
/// `assay probe`.
pub fn of_report(path: &Path) -> Result<DriveRecord, ReportError> {
    let name = path.display().to_string();
    let read = |reason: String| ReportError::Read {
        path: name.clone(),
        reason,
    };
    let text = read_text(path).map_err(|error| read(error.to_string()))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| read(error.to_string()))?;
    let first = |pointers: &[&str]| {
        let found = pointers
            .iter()
            .filter_map(|pointer| report.pointer(pointer));
        let texts = found.filter_map(Value::as_str);
        let trimmed = texts.map(str::trim).find(|text| !text.is_empty());
        trimmed.unwrap_or_default().to_owned()
    };
    let capacity = [
        "/user_capacity/bytes",
        "/nvme_total_capacity",
        "/tnvmcap",
        "/capacity_bytes",
    ];
    let capacity = capacity
        .iter()
        .filter_map(|pointer| report.pointer(pointer));
    let number = |value: &Value| value.as_u64().or_else(|| value.as_f64().map(|v| v as u64));
    let drive = DriveRecord {
        model: first(&["/model_name", "/mn", "/model"]),
        serial: first(&["/serial_number", "/sn", "/serial"]),
        firmware: first(&["/firmware_version", "/fr", "/firmware"]),
        capacity_bytes: capacity
            .filter_map(number)
            .find(|bytes| *bytes > 0)
            .unwrap_or(0),
        ..DriveRecord::default()
    };
    match drive.model.is_empty() {
        true => Err(ReportError::NoModel(name)),
        false => Ok(drive),
    }
}
