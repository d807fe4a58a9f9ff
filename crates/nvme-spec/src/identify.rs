//! Identify data structures (Base 5.17; NVM 4.1.5).

use crate::wire::{codes, text, wire};

mod bits;
mod lists;

pub use bits::{cmic, ctratt, lpa, oacs, oaes, oncs, sanicap, sgls};
pub use lists::{NamespaceDescriptor, namespace_descriptors, namespace_list, push_descriptor};

/// Size of Identify data structures in bytes.
pub const DATA_BYTES: usize = 4096;
/// Most power states of a controller.
pub const POWER_STATES: usize = 32;
/// Most LBA formats of a namespace.
pub const LBA_FORMATS: usize = 64;

codes! {
    /// Controller or Namespace Structure (CNS; Base 5.17.1).
    pub struct Cns(u8) {
        NAMESPACE = 0x00, "Identify Namespace data structure";
        CONTROLLER = 0x01, "Identify Controller data structure";
        ACTIVE_NAMESPACES = 0x02, "Active Namespace ID list";
        NAMESPACE_DESCRIPTORS = 0x03, "Namespace Identification Descriptor list";
        COMMAND_SET_NAMESPACE = 0x05, "I/O Command Set specific Identify Namespace data structure";
        COMMAND_SET_CONTROLLER = 0x06,
            "I/O Command Set specific Identify Controller data structure";
        COMMAND_SET_ACTIVE_NAMESPACES = 0x07, "I/O Command Set specific Active Namespace ID list";
        INDEPENDENT_NAMESPACE = 0x08,
            "I/O Command Set Independent Identify Namespace data structure";
        ALLOCATED_NAMESPACES = 0x10, "Allocated Namespace ID list";
        ALLOCATED_NAMESPACE = 0x11, "Identify Namespace data structure for an allocated namespace";
        CONTROLLERS = 0x13, "Controller List of the NVM subsystem";
        PRIMARY_CAPABILITIES = 0x14, "Primary Controller Capabilities data structure";
        COMMAND_SETS = 0x1c, "Identify I/O Command Set data structure";
    }

    /// Namespace Identifier Type (NIDT; Base 5.17.2.3).
    pub struct NamespaceIdType(u8) {
        EUI64 = 0x1, "IEEE Extended Unique Identifier";
        NGUID = 0x2, "Namespace Globally Unique Identifier";
        UUID = 0x3, "Namespace UUID";
        CSI = 0x4, "Command Set Identifier";
    }
}

wire! {
    /// Power State Descriptor (Base 5.17.2.1).
    pub struct PowerStateDescriptor[32] {
        max_power / set_max_power: u16 = 0,
            "Maximum Power (MP), in units of [`PowerStateDescriptor::max_power_scale`].";
        max_power_scale / set_max_power_scale: bool = 3, u8[0..=0],
            "Max Power Scale (MXPS): the unit is 0.1 mW, not 10 mW.";
        non_operational / set_non_operational: bool = 3, u8[1..=1], "Non-Operational State (NOPS).";
        entry_latency_us / set_entry_latency_us: u32 = 4,
            "Entry Latency (ENLAT) in microseconds, 0 when not reported.";
        exit_latency_us / set_exit_latency_us: u32 = 8,
            "Exit Latency (EXLAT) in microseconds, 0 when not reported.";
        read_throughput / set_read_throughput: u8 = 12, u8[0..=4],
            "Relative Read Throughput (RRT): lower is better.";
        read_latency / set_read_latency: u8 = 13, u8[0..=4],
            "Relative Read Latency (RRL): lower is better.";
        write_throughput / set_write_throughput: u8 = 14, u8[0..=4],
            "Relative Write Throughput (RWT): lower is better.";
        write_latency / set_write_latency: u8 = 15, u8[0..=4],
            "Relative Write Latency (RWL): lower is better.";
        idle_power / set_idle_power: u16 = 16,
            "Idle Power (IDLP), in units of the idle power scale.";
        idle_power_scale / set_idle_power_scale: u8 = 18, u8[6..=7],
            "Idle Power Scale (IPS): 0 not reported, 1 0.1 mW, 2 10 mW.";
        active_power / set_active_power: u16 = 20,
            "Active Power (ACTP), in units of the active power scale.";
        active_power_scale / set_active_power_scale: u8 = 22, u8[6..=7],
            "Active Power Scale (APS): 0 not reported, 1 0.1 mW, 2 10 mW.";
    }

    /// Identify Controller data structure (CNS 01h; Base 5.17.2.1).
    pub struct IdentifyController[4096] {
        vendor_id / set_vendor_id: u16 = 0, "PCI Vendor ID (VID).";
        subsystem_vendor_id / set_subsystem_vendor_id: u16 = 2, "PCI Subsystem Vendor ID (SSVID).";
        serial_number / set_serial_number: [u8; 20] = 4, "Serial Number (SN), ASCII.";
        model_number / set_model_number: [u8; 40] = 24, "Model Number (MN), ASCII.";
        firmware_revision / set_firmware_revision: [u8; 8] = 64, "Firmware Revision (FR), ASCII.";
        ieee_oui / set_ieee_oui: [u8; 3] = 73,
            "IEEE OUI Identifier (IEEE), least significant byte first.";
        cmic / set_cmic: u8 = 76,
            "Controller Multi-Path I/O and Namespace Sharing Capabilities (CMIC).";
        mdts / set_mdts: u8 = 77,
            "Maximum Data Transfer Size (MDTS) as a power of two of minimum memory \
             pages; 0 for no limit.";
        controller_id / set_controller_id: u16 = 78, "Controller ID (CNTLID).";
        version / set_version: u32 = 80, "Version (VER), as the register VS.";
        /// Optional Asynchronous Events Supported (OAES), see [`oaes`].
        async_events / set_async_events: u32 = 92;
        attributes / set_attributes: u32 = 96, "Controller Attributes (CTRATT), see [`ctratt`].";
        controller_type / set_controller_type: u8 = 111,
            "Controller Type (CNTRLTYPE): 1 for an I/O controller.";
        oacs / set_oacs: u16 = 256, "Optional Admin Command Support (OACS), see [`oacs`].";
        abort_limit / set_abort_limit: u8 = 258, "Abort Command Limit (ACL), less one.";
        async_event_limit / set_async_event_limit: u8 = 259,
            "Asynchronous Event Request Limit (AERL), less one.";
        /// Firmware Updates (FRMW): bit 0 first slot read-only, bits 3:1 slots, bit 4 activation
        /// without reset.
        firmware_updates / set_firmware_updates: u8 = 260;
        log_page_attributes / set_log_page_attributes: u8 = 261,
            "Log Page Attributes (LPA), see [`lpa`].";
        error_log_entries / set_error_log_entries: u8 = 262,
            "Error Log Page Entries (ELPE), less one.";
        power_states / set_power_states: u8 = 263,
            "Number of Power States Support (NPSS), less one.";
        apsta / set_apsta: u8 = 265,
            "Autonomous Power State Transition Attributes (APSTA): bit 0 supported.";
        warning_kelvin / set_warning_kelvin: u16 = 266,
            "Warning Composite Temperature Threshold (WCTEMP) in kelvin, 0 when not reported.";
        critical_kelvin / set_critical_kelvin: u16 = 268,
            "Critical Composite Temperature Threshold (CCTEMP) in kelvin, 0 when not reported.";
        preferred_host_pages / set_preferred_host_pages: u32 = 272,
            "Host Memory Buffer Preferred Size (HMPRE) in units of 4 KiB, 0 for none.";
        least_host_pages / set_least_host_pages: u32 = 276,
            "Host Memory Buffer Minimum Size (HMMIN) in units of 4 KiB.";
        total_capacity_bytes / set_total_capacity_bytes: u128 = 280,
            "Total NVM Capacity (TNVMCAP) in bytes.";
        self_test_minutes / set_self_test_minutes: u16 = 316,
            "Extended Device Self-test Time (EDSTT) in minutes.";
        self_test_options / set_self_test_options: u8 = 318,
            "Device Self-test Options (DSTO): bit 0 one operation at a time for the subsystem.";
        /// Keep Alive Support (KAS): granularity of the timer in units of 100 ms, 0 for none.
        keep_alive_100ms / set_keep_alive_100ms: u16 = 320;
        hctma / set_hctma: u16 = 322,
            "Host Controlled Thermal Management Attributes (HCTMA): bit 0 supported.";
        min_thermal_kelvin / set_min_thermal_kelvin: u16 = 324,
            "Minimum Thermal Management Temperature (MNTMT) in kelvin.";
        max_thermal_kelvin / set_max_thermal_kelvin: u16 = 326,
            "Maximum Thermal Management Temperature (MXTMT) in kelvin.";
        sanitize_capabilities / set_sanitize_capabilities: u32 = 328,
            "Sanitize Capabilities (SANICAP), see [`sanicap`].";
        host_descriptors / set_host_descriptors: u16 = 336,
            "Host Memory Maximum Descriptors Entries (HMMAXD), 0 for no limit.";
        endurance_groups / set_endurance_groups: u16 = 340,
            "Endurance Group Identifier Maximum (ENDGIDMAX).";
        sqes / set_sqes: u8 = 512,
            "Submission Queue Entry Size (SQES): bits 3:0 required, 7:4 maximum, as powers of two.";
        cqes / set_cqes: u8 = 513,
            "Completion Queue Entry Size (CQES): bits 3:0 required, 7:4 maximum, as powers of two.";
        /// Maximum Outstanding Commands (MAXCMD) of a queue, 0 when not reported.
        max_commands / set_max_commands: u16 = 514;
        namespaces / set_namespaces: u32 = 516,
            "Number of Namespaces (NN): the highest namespace identifier.";
        oncs / set_oncs: u16 = 520, "Optional NVM Command Support (ONCS), see [`oncs`].";
        fused_operations / set_fused_operations: u16 = 522, "FUSES: bit 0 Compare and Write.";
        /// Format NVM Attributes (FNA): bit 0 format and bit 1 secure erase of all namespaces, bit
        /// 2 cryptographic erase.
        format_attributes / set_format_attributes: u8 = 524;
        /// Volatile Write Cache (VWC): bit 0 present, bits 2:1 what Flush with all namespaces does.
        volatile_write_cache / set_volatile_write_cache: u8 = 525;
        atomic_write / set_atomic_write: u16 = 526, "Atomic Write Unit Normal (AWUN), less one.";
        /// Atomic Write Unit Power Fail (AWUPF) in logical blocks, less one.
        atomic_power_fail / set_atomic_power_fail: u16 = 528;
        atomic_compare / set_atomic_compare: u16 = 532, "ACWU in logical blocks, less one.";
        sgls / set_sgls: u32 = 536, "SGL Support (SGLS), see [`sgls`].";
        subsystem_nqn / set_subsystem_nqn: [u8; 256] = 768,
            "NVM Subsystem NVMe Qualified Name (SUBNQN), zero-terminated UTF-8.";
        /// I/O Queue Command Capsule Supported Size (IOCCSZ) in units of 16 bytes.
        command_capsule / set_command_capsule: u32 = 1792;
        /// I/O Queue Response Capsule Supported Size (IORCSZ) in units of 16 bytes.
        response_capsule / set_response_capsule: u32 = 1796;
        /// In Capsule Data Offset (ICDOFF) in units of 16 bytes.
        in_capsule_offset / set_in_capsule_offset: u16 = 1800;
        /// Maximum SGL Data Block Descriptors (MSDBD), 0 for no limit.
        sgl_descriptors / set_sgl_descriptors: u8 = 1803;
        descriptors / set_descriptors: [PowerStateDescriptor; 32] = 2048,
            "Power State Descriptors (PSD0 to PSD31).";
    }

    /// LBA Format (NVM 4.1.5.1).
    pub struct LbaFormat[4] {
        metadata_bytes / set_metadata_bytes: u16 = 0, "Metadata Size (MS) in bytes.";
        data_size / set_data_size: u8 = 2,
            "LBA Data Size (LBADS) as a power of two of bytes; 0 for an unsupported format.";
        relative_performance / set_relative_performance: u8 = 3, u8[0..=1],
            "Relative Performance (RP): 0 best to 3 degraded.";
    }

    /// Identify Namespace data structure (CNS 00h; NVM 4.1.5.1).
    pub struct IdentifyNamespace[4096] {
        size_blocks / set_size_blocks: u64 = 0, "Namespace Size (NSZE) in logical blocks.";
        capacity_blocks / set_capacity_blocks: u64 = 8,
            "Namespace Capacity (NCAP) in logical blocks.";
        used_blocks / set_used_blocks: u64 = 16, "Namespace Utilization (NUSE) in logical blocks.";
        /// Namespace Features (NSFEAT): bit 0 thin provisioning, bit 1 atomic units of its own
        /// (NSABP), bit 2 errors of deallocated
        /// blocks, bit 4 the fields of optimal I/O.
        features / set_features: u8 = 24;
        lba_format_count / set_lba_format_count: u8 = 25,
            "Number of LBA Formats (NLBAF), less one.";
        formatted / set_formatted: u8 = 26,
            "Formatted LBA Size (FLBAS), index in bits 3:0 (and 6:5 above).";
        /// End-to-end Data Protection Type Settings (DPS): bits 2:0 type, 0 for none; bit 3
        /// protection information is the first bytes of the metadata.
        protection_settings / set_protection_settings: u8 = 29;
        /// Deallocate Logical Block Features (DLFEAT): bits 2:0 how deallocated blocks read (1
        /// zeroes), bit 3 DEAC of Write Zeroes.
        deallocate_features / set_deallocate_features: u8 = 33;
        /// Namespace Atomic Write Unit Normal (NAWUN) in logical blocks, less one.
        atomic_write / set_atomic_write: u16 = 34;
        /// Namespace Atomic Write Unit Power Fail (NAWUPF) in logical blocks, less one.
        atomic_power_fail / set_atomic_power_fail: u16 = 36;
        atomic_compare / set_atomic_compare: u16 = 38, "NACWU in logical blocks, less one.";
        /// Namespace Atomic Boundary Size Power Fail (NABSPF) in logical blocks, less one; 0 for
        /// none.
        atomic_boundary_power_fail / set_atomic_boundary_power_fail: u16 = 44;
        capacity_bytes / set_capacity_bytes: u128 = 48, "NVM Capacity (NVMCAP) in bytes.";
        write_granularity / set_write_granularity: u16 = 64,
            "Namespace Preferred Write Granularity (NPWG) in logical blocks, less one.";
        write_alignment / set_write_alignment: u16 = 66,
            "Namespace Preferred Write Alignment (NPWA) in logical blocks, less one.";
        /// Namespace Preferred Deallocate Granularity (NPDG) in logical blocks, less one.
        deallocate_granularity / set_deallocate_granularity: u16 = 68;
        deallocate_alignment / set_deallocate_alignment: u16 = 70,
            "Namespace Preferred Deallocate Alignment (NPDA) in logical blocks, less one.";
        optimal_write_size / set_optimal_write_size: u16 = 72,
            "Namespace Optimal Write Size (NOWS) in logical blocks, less one.";
        attributes / set_attributes: u8 = 99,
            "Namespace Attributes (NSATTR): bit 0 write protected.";
        endurance_group / set_endurance_group: u16 = 102,
            "Endurance Group Identifier (ENDGID), 0 when not reported.";
        nguid / set_nguid: [u8; 16] = 104,
            "Namespace Globally Unique Identifier (NGUID), big-endian.";
        eui64 / set_eui64: [u8; 8] = 120, "IEEE Extended Unique Identifier (EUI64), big-endian.";
        lba_formats / set_lba_formats: [LbaFormat; 64] = 128, "LBA Formats (LBAF0 to LBAF63).";
    }

    /// I/O Command Set Independent Identify Namespace data structure (CNS 08h; Base 5.17.2.8).
    pub struct IndependentNamespace[4096] {
        features / set_features: u8 = 0, "Common Namespace Features (NSFEAT).";
        attributes / set_attributes: u8 = 8, "Namespace Attributes (NSATTR).";
        status / set_status: u8 = 14, "Namespace Status (NSTAT): bit 0 ready.";
    }

    /// I/O Command Set specific Identify Controller data structure of the NVM command set (CNS 06h,
    /// CSI 00h; NVM 4.1.5.4).
    pub struct NvmController[4096] {
        verify_limit / set_verify_limit: u8 = 0,
            "Verify Size Limit (VSL) as a power of two of minimum memory pages, 0 for no limit.";
    }
}

impl PowerStateDescriptor {
    /// Maximum power in microwatts.
    pub fn max_power_uw(&self) -> u64 {
        let unit_uw = if self.max_power_scale() { 100 } else { 10_000 };
        u64::from(self.max_power()) * unit_uw
    }

    /// Idle power in microwatts, if reported.
    pub fn idle_power_uw(&self) -> Option<u64> {
        scaled_uw(self.idle_power(), self.idle_power_scale())
    }

    /// Active power in microwatts, if reported.
    pub fn active_power_uw(&self) -> Option<u64> {
        scaled_uw(self.active_power(), self.active_power_scale())
    }

    /// Sets the maximum power in milliwatts, in the finer unit if it fits.
    pub fn set_max_power_mw(&mut self, milliwatts: u32) -> &mut PowerStateDescriptor {
        let (value, fine) = power_units(milliwatts);
        self.set_max_power(value).set_max_power_scale(fine)
    }

    /// Sets the idle power in milliwatts, in the finer unit if it fits.
    pub fn set_idle_power_mw(&mut self, milliwatts: u32) -> &mut PowerStateDescriptor {
        let (value, fine) = power_units(milliwatts);
        self.set_idle_power(value).set_idle_power_scale(if fine { 1 } else { 2 })
    }
}

fn scaled_uw(value: u16, scale: u8) -> Option<u64> {
    match scale {
        1 => Some(u64::from(value) * 100),
        2 => Some(u64::from(value) * 10_000),
        _ => None,
    }
}

/// Milliwatts in units of 0.1 mW (`true`) if they fit, else of 10 mW, limited to the range of the
/// field.
fn power_units(milliwatts: u32) -> (u16, bool) {
    match u16::try_from(u64::from(milliwatts) * 10) {
        Ok(tenths) => (tenths, true),
        Err(_) => (milliwatts.div_ceil(10).min(u32::from(u16::MAX)) as u16, false),
    }
}

impl IdentifyController {
    /// Serial number without its padding.
    pub fn serial(&self) -> String {
        text(&self.serial_number())
    }

    /// Model number without its padding.
    pub fn model(&self) -> String {
        text(&self.model_number())
    }

    /// Firmware revision without its padding.
    pub fn firmware(&self) -> String {
        text(&self.firmware_revision())
    }

    /// Supported power states, from state 0 on.
    pub fn power_state_descriptors(&self) -> impl Iterator<Item = PowerStateDescriptor> {
        let count = (usize::from(self.power_states()) + 1).min(POWER_STATES);
        self.descriptors().into_iter().take(count)
    }

    /// Largest transfer of one command in bytes, with CAP.MPSMIN of the controller; `None` for no
    /// limit, or one beyond 2^63.
    pub fn max_transfer_bytes(&self, mps_min: u8) -> Option<u64> {
        match self.mdts() {
            0 => None,
            mdts => 1_u64.checked_shl(12 + u32::from(mps_min) + u32::from(mdts)),
        }
    }
}

impl LbaFormat {
    /// Data bytes of a logical block; `None` for an unsupported format.
    pub fn block_bytes(&self) -> Option<u64> {
        match self.data_size() {
            size @ 9..=63 => Some(1 << size),
            _ => None,
        }
    }
}

impl IdentifyNamespace {
    /// Type of end-to-end protection of its format, 0 for none (DPS bits 2:0).
    pub fn protection_type(&self) -> u8 {
        self.protection_settings() & 7
    }

    /// Metadata follows the data of its block (extended LBA) instead of a buffer of its own (FLBAS
    /// bit 4).
    pub fn has_extended_blocks(&self) -> bool {
        self.formatted() & 1 << 4 != 0
    }

    /// Index of the current LBA format.
    pub fn format_index(&self) -> u8 {
        let formatted = self.formatted();
        // The upper bits are used with more than 16 formats (NVM 4.1.5.1, FLBAS).
        let high = if self.lba_format_count() > 15 { formatted >> 5 & 3 } else { 0 };
        high << 4 | formatted & 15
    }

    /// Current LBA format.
    pub fn format(&self) -> LbaFormat {
        let formats = self.lba_formats();
        // The index has 6 bits.
        formats[usize::from(self.format_index())]
    }

    /// Supported LBA formats.
    pub fn formats(&self) -> impl Iterator<Item = LbaFormat> {
        let count = (usize::from(self.lba_format_count()) + 1).min(LBA_FORMATS);
        self.lba_formats().into_iter().take(count)
    }

    /// Size in bytes; `None` if the current format is invalid.
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_blocks().checked_mul(self.format().block_bytes()?)
    }
}
