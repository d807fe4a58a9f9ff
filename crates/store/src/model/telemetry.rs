use assay_units::Nanos;
use assay_units::telemetry::Telemetry;
use serde::{Deserialize, Serialize};

/// A property reported by a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeProperty {
    /// Group (`registers`, `power`, `health`).
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $exported:ident $(($place:literal))?;)*) => {
        /// A telemetry reading of a drive in a cell.
        // The fields stand here, and not in a flattened `Telemetry`: serde would buffer each line.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct TelemetryRecord {
            /// [`super::CellPlan::id`].
            pub cell: String,
            /// Index into [`super::Manifest::drives`].
            pub drive: usize,
            /// Since the cell's start.
            pub at: Nanos,
            $($(#[$doc])* #[serde(skip_serializing_if = "is_empty", default)] pub $name: $type,)*
        }

        impl TelemetryRecord {
            /// What was read at a time.
            pub fn new(cell: String, drive: usize, at: Nanos, read: Telemetry) -> TelemetryRecord {
                TelemetryRecord { cell, drive, at, $($name: read.$name,)* }
            }
        }
    };
}

assay_units::telemetry_readings!(declare);

fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
