//! SMART / Health Information and Device Self-test log pages.

use crate::wire::{codes, wire};

wire! {
    /// SMART / Health Information (Base 5.16.1.3).
    pub struct SmartLog[512] {
        critical_warning / set_critical_warning: u8 = 0,
            "Critical Warning, bits of [`CriticalWarning`].";
        composite_kelvin / set_composite_kelvin: u16 = 1, "Composite Temperature in kelvin.";
        available_spare / set_available_spare: u8 = 3, "Available Spare in per cent.";
        spare_threshold / set_spare_threshold: u8 = 4, "Available Spare Threshold in per cent.";
        percentage_used / set_percentage_used: u8 = 5,
            "Percentage Used of the estimated endurance; may exceed 100, at most 255.";
        data_units_read / set_data_units_read: u128 = 32,
            "Data Units Read, thousands of 512 bytes, rounded up.";
        data_units_written / set_data_units_written: u128 = 48,
            "Data Units Written, thousands of 512 bytes, rounded up.";
        host_reads / set_host_reads: u128 = 64, "Host Read Commands.";
        host_writes / set_host_writes: u128 = 80, "Host Write Commands.";
        busy_minutes / set_busy_minutes: u128 = 96, "Controller Busy Time in minutes.";
        power_cycles / set_power_cycles: u128 = 112, "Power Cycles.";
        power_on_hours / set_power_on_hours: u128 = 128, "Power On Hours.";
        unsafe_shutdowns / set_unsafe_shutdowns: u128 = 144, "Unsafe Shutdowns.";
        media_errors / set_media_errors: u128 = 160, "Media and Data Integrity Errors.";
        error_entries / set_error_entries: u128 = 176, "Number of Error Information Log Entries.";
        warning_minutes / set_warning_minutes: u32 = 192,
            "Warning Composite Temperature Time in minutes.";
        critical_minutes / set_critical_minutes: u32 = 196,
            "Critical Composite Temperature Time in minutes.";
        sensors_kelvin / set_sensors_kelvin: [u16; 8] = 200,
            "Temperature Sensor 1 to 8 in kelvin, 0 if not implemented.";
        thermal1_transitions / set_thermal1_transitions: u32 = 216,
            "Thermal Management Temperature 1 Transition Count.";
        thermal2_transitions / set_thermal2_transitions: u32 = 220,
            "Thermal Management Temperature 2 Transition Count.";
        thermal1_s / set_thermal1_s: u32 = 224,
            "Total Time For Thermal Management Temperature 1 in seconds.";
        thermal2_s / set_thermal2_s: u32 = 228,
            "Total Time For Thermal Management Temperature 2 in seconds.";
    }

    /// One result of the Device Self-test log (Base 5.16.1.7).
    pub struct SelfTestResult[28] {
        result / set_result: u8 = 0, u8[0..=3], "Result: 0 without error, Fh for an unused entry.";
        code / set_code: u8 = 0, u8[4..=7], "Self-test Code, see [`crate::admin::SelfTestCode`].";
        segment / set_segment: u8 = 1, "Segment Number of the first failure.";
        nsid_valid / set_nsid_valid: bool = 2, u8[0..=0], "NSID Valid.";
        lba_valid / set_lba_valid: bool = 2, u8[1..=1], "Failing LBA Valid.";
        sct_valid / set_sct_valid: bool = 2, u8[2..=2], "SCT Valid.";
        sc_valid / set_sc_valid: bool = 2, u8[3..=3], "SC Valid.";
        power_on_hours / set_power_on_hours: u64 = 4, "Power On Hours at its end.";
        nsid / set_nsid: u32 = 12, "Namespace Identifier.";
        failing_lba / set_failing_lba: u64 = 16, "Failing LBA.";
        sct / set_sct: u8 = 24, u8[0..=2], "Status Code Type.";
        sc / set_sc: u8 = 25, "Status Code.";
    }

    /// Device Self-test (Base 5.16.1.7).
    pub struct SelfTestLog[564] {
        current / set_current: u8 = 0, u8[0..=3],
            "Current Operation: 0 none, else the code of the test in progress.";
        completion / set_completion: u8 = 1, u8[0..=6], "Current Completion in per cent.";
        results / set_results: [SelfTestResult; 20] = 4, "The newest 20 results, latest first.";
    }
}

codes! {
    /// A bit of Critical Warning (Base 5.16.1.3).
    pub struct CriticalWarning(u8) {
        SPARE = 0x01, "available spare below threshold";
        TEMPERATURE = 0x02, "temperature threshold exceeded";
        RELIABILITY = 0x04, "reliability degraded";
        READ_ONLY = 0x08, "media read-only";
        VOLATILE_BACKUP = 0x10, "volatile memory backup failed";
        PERSISTENT_MEMORY = 0x20, "persistent memory region unreliable";
    }
}

impl CriticalWarning {
    /// Names of the bits that are set.
    pub fn names(bits: u8) -> impl Iterator<Item = &'static str> {
        let set = CriticalWarning::NAMED.iter().filter(move |warning| bits & warning.0 != 0);
        set.filter_map(|warning| warning.name())
    }
}

impl SmartLog {
    /// Composite temperature in whole degrees Celsius (0 °C is 273 K, as usual for drives).
    pub fn composite_celsius(&self) -> i32 {
        i32::from(self.composite_kelvin()) - 273
    }

    /// Implemented temperature sensors in Celsius, by number from 1.
    pub fn sensors_celsius(&self) -> impl Iterator<Item = (u8, i32)> {
        let sensors = (1..).zip(self.sensors_kelvin());
        sensors
            .filter(|&(_, kelvin)| kelvin != 0)
            .map(|(number, kelvin)| (number, i32::from(kelvin) - 273))
    }
}
