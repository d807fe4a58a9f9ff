//! SMART / Health Information Extended of the Open Compute Project (Datacenter NVMe SSD
//! Specification 2.0, section 4.8.6, log C0h).

use crate::wire::wire;

/// Log Page GUID, AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5, least significant byte first as in the log.
/// It distinguishes the page from vendor-specific pages with the same identifier.
pub const OCP_GUID: [u8; 16] = 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5_u128.to_le_bytes();

wire! {
    /// SMART / Health Information Extended (log C0h).
    pub struct OcpSmartLog[512] {
        media_bytes_written / set_media_bytes_written: u128 = 0,
            "Physical Media Units Written in bytes.";
        media_bytes_read / set_media_bytes_read: u128 = 16, "Physical Media Units Read in bytes.";
        bad_user_low / set_bad_user_low: u32 = 32, "Bad User NAND Blocks, raw count, bits 31:0.";
        bad_user_high / set_bad_user_high: u16 = 36, "Bad User NAND Blocks, raw count, bits 47:32.";
        bad_user_normalized / set_bad_user_normalized: u16 = 38,
            "Bad User NAND Blocks, normalised value.";
        bad_system_normalized / set_bad_system_normalized: u16 = 46,
            "Bad System NAND Blocks, normalised value.";
        uncorrectable_reads / set_uncorrectable_reads: u64 = 56, "Uncorrectable Read Error Count.";
        max_erases / set_max_erases: u32 = 88, "Maximum User Data Erase Count.";
        min_erases / set_min_erases: u32 = 92, "Minimum User Data Erase Count.";
        throttling_events / set_throttling_events: u8 = 96,
            "Thermal Throttling Event Count, at most 255.";
        throttling / set_throttling: u8 = 97,
            "Current Throttling Status: 0 unthrottled, 1 to 3 levels.";
        dssd_major / set_dssd_major: u8 = 103, "DSSD Specification Version, major.";
        incomplete_shutdowns / set_incomplete_shutdowns: u32 = 112, "Incomplete Shutdowns.";
        free_percent / set_free_percent: u8 = 120, "Percent Free Blocks, of the spare blocks.";
        capacitor_health / set_capacitor_health: u16 = 128,
            "Capacitor Health in per cent, FFFFh without capacitor.";
        used_blocks / set_used_blocks: u64 = 152, "NUSE, namespace utilization.";
        power_state_changes / set_power_state_changes: u64 = 200, "Power State Change Count.";
        version / set_version: u16 = 494, "Log Page Version.";
        guid / set_guid: [u8; 16] = 496, "Log Page GUID, see [`OCP_GUID`].";
    }
}

impl OcpSmartLog {
    /// Whether the page has the GUID of this log.
    pub fn is_ocp(&self) -> bool {
        self.guid() == OCP_GUID
    }

    /// Bad User NAND Blocks, raw count (48 bits).
    pub fn bad_user_blocks(&self) -> u64 {
        u64::from(self.bad_user_high()) << 32 | u64::from(self.bad_user_low())
    }
}
