//! SMART / Health Information Extended of the Open Compute Project (Datacenter NVMe SSD Specification 2.0, section 4.8.6, log C0h).

use crate::wire::wire;

/// Log Page GUID, AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5, least significant byte first as in the log. It distinguishes the page from
/// vendor-specific pages with the same identifier.
pub const OCP_GUID: [u8; 16] = 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5_u128.to_le_bytes();

wire! {
    /// SMART / Health Information Extended (log C0h).
    pub struct OcpSmartLog[512] {
        media_bytes_written / set_media_bytes_written: u128 = 0, "Physical Media Units Written in bytes.";
        media_bytes_read / set_media_bytes_read: u128 = 16, "Physical Media Units Read in bytes.";
        bad_user_blocks / set_bad_user_blocks: u64 = 32, u64[0..=47], "Bad User NAND Blocks, raw count.";
        bad_user_normalized / set_bad_user_normalized: u16 = 38, "Bad User NAND Blocks, normalised value.";
        bad_system_blocks / set_bad_system_blocks: u64 = 40, u64[0..=47], "Bad System NAND Blocks, raw count.";
        bad_system_normalized / set_bad_system_normalized: u16 = 46, "Bad System NAND Blocks, normalised value.";
        xor_recoveries / set_xor_recoveries: u64 = 48, "XOR Recovery Count.";
        uncorrectable_reads / set_uncorrectable_reads: u64 = 56, "Uncorrectable Read Error Count.";
        soft_ecc_errors / set_soft_ecc_errors: u64 = 64, "Soft ECC Error Count.";
        end_to_end_detected / set_end_to_end_detected: u32 = 72, "End to End Correction Counts, detected errors.";
        end_to_end_corrected / set_end_to_end_corrected: u32 = 76, "End to End Correction Counts, corrected errors.";
        system_data_used_percent / set_system_data_used_percent: u8 = 80, "System Data % Used.";
        refreshes / set_refreshes: u64 = 80, u64[8..=63], "Refresh Counts.";
        max_erases / set_max_erases: u32 = 88, "Maximum User Data Erase Count.";
        min_erases / set_min_erases: u32 = 92, "Minimum User Data Erase Count.";
        throttling_events / set_throttling_events: u8 = 96, "Number of thermal throttling events.";
        throttling / set_throttling: u8 = 97, "Current Throttling Status: 0 unthrottled, 1 to 3 levels.";
        dssd_errata / set_dssd_errata: u8 = 98, "DSSD Specification Version, errata.";
        dssd_point / set_dssd_point: u16 = 99, "DSSD Specification Version, point.";
        dssd_minor / set_dssd_minor: u16 = 101, "DSSD Specification Version, minor.";
        dssd_major / set_dssd_major: u8 = 103, "DSSD Specification Version, major.";
        pcie_correctable_errors / set_pcie_correctable_errors: u64 = 104, "PCIe Correctable Error Count.";
        incomplete_shutdowns / set_incomplete_shutdowns: u32 = 112, "Incomplete Shutdowns.";
        free_blocks_percent / set_free_blocks_percent: u8 = 120, "% Free Blocks.";
        capacitor_health / set_capacitor_health: u16 = 128, "Capacitor Health in per cent, FFFFh without capacitor.";
        nvme_errata / set_nvme_errata: u8 = 130, "NVMe errata version.";
        unaligned_ios / set_unaligned_ios: u64 = 136, "Unaligned I/O.";
        security_version / set_security_version: u64 = 144, "Security Version Number.";
        used_blocks / set_used_blocks: u64 = 152, "NUSE, namespace utilization.";
        plp_starts / set_plp_starts: u128 = 160, "PLP Start Count.";
        endurance_bytes / set_endurance_bytes: u128 = 176, "Endurance Estimate in bytes.";
        pcie_retrainings / set_pcie_retrainings: u64 = 192, "PCIe Link Retraining Count.";
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
}
