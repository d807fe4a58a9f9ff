//! The readings of drives that are exported.

use assay_store::model::TelemetryRecord;
use assay_units::telemetry::Exported;
use serde_json::json;

use super::value::{ColumnValue, Value, ValueType};

/// A reading of drives.
pub(crate) struct Reading {
    pub(crate) name: &'static str,
    pub(crate) exported: Exported,
    suffix: &'static str,
    pub(super) kind: ValueType,
    pub(super) value: fn(&TelemetryRecord) -> Value,
    pub(crate) json: fn(&TelemetryRecord) -> serde_json::Value,
}

impl Reading {
    /// Name of its column.
    pub(super) fn column(&self) -> String {
        format!("{}{}", self.name, self.suffix)
    }
}

macro_rules! readings {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $exported:ident $(($place:literal))?;)*) => {
        static READINGS: &[Reading] = &[$(Reading {
            name: stringify!($name),
            exported: Exported::$exported $(($place))?,
            suffix: <$type as ColumnValue>::SUFFIX,
            kind: <$type as ColumnValue>::TYPE,
            value: |t| t.$name.clone().value(),
            json: |t| json!(t.$name),
        }),*];
    };
}

assay_units::telemetry_readings!(readings);

/// In the order of exports.
pub(crate) fn exported() -> Vec<&'static Reading> {
    let exported = |reading: &&Reading| reading.exported != Exported::No;
    let mut all: Vec<&Reading> = READINGS.iter().filter(exported).collect();
    all.sort_by_key(|reading| reading.exported.place());
    all
}
