//! Identify data structures (Base 5.17; NVM 4.1.5).

use crate::wire::{codes, text, wire};

mod bits;
mod lists;

pub use bits::{cmic, lpa, oacs, oncs, sanicap, sgls};
pub use lists::{NamespaceDescriptor, namespace_descriptors, namespace_list, push_descriptor};

/// Bytes of every Identify data structure.
pub const DATA_BYTES: usize = 4096;
/// Power state descriptors of a controller.
pub const POWER_STATES: usize = 32;
/// LBA formats of a namespace.
pub const LBA_FORMATS: usize = 64;

codes! {
    /// Controller or Namespace Structure (CNS; Base 5.17.1).
    pub struct Cns(u8) {
        NAMESPACE = 0x00, "Identify Namespace data structure";
        CONTROLLER = 0x01, "Identify Controller data structure";
        ACTIVE_NAMESPACES = 0x02, "Active Namespace ID list";
        NAMESPACE_DESCRIPTORS = 0x03, "Namespace Identification Descriptor list";
        NVM_SETS = 0x04, "NVM Set List";
        COMMAND_SET_NAMESPACE = 0x05, "I/O Command Set specific Identify Namespace data structure";
        COMMAND_SET_CONTROLLER = 0x06, "I/O Command Set specific Identify Controller data structure";
        COMMAND_SET_ACTIVE_NAMESPACES = 0x07, "I/O Command Set specific Active Namespace ID list";
        INDEPENDENT_NAMESPACE = 0x08, "I/O Command Set Independent Identify Namespace data structure";
        ALLOCATED_NAMESPACES = 0x10, "Allocated Namespace ID list";
        ALLOCATED_NAMESPACE = 0x11, "Identify Namespace data structure for an allocated namespace";
        ATTACHED_CONTROLLERS = 0x12, "Controller List of those attached to a namespace";
        CONTROLLERS = 0x13, "Controller List of the NVM subsystem";
        PRIMARY_CAPABILITIES = 0x14, "Primary Controller Capabilities data structure";
        SECONDARY_CONTROLLERS = 0x15, "Secondary Controller list";
        NAMESPACE_GRANULARITY = 0x16, "Namespace Granularity List";
        UUIDS = 0x17, "UUID List";
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
        /// Maximum Power (MP), in units of [`PowerStateDescriptor::max_power_scale`].
        max_power / set_max_power: u16 = 0;
        /// Max Power Scale (MXPS): the unit is 0.1 mW, not 10 mW.
        max_power_scale / set_max_power_scale: bool = 3, u8[0..=0];
        /// Non-Operational State (NOPS).
        non_operational / set_non_operational: bool = 3, u8[1..=1];
        /// Entry Latency (ENLAT) in microseconds, 0 when not reported.
        entry_latency_us / set_entry_latency_us: u32 = 4;
        /// Exit Latency (EXLAT) in microseconds, 0 when not reported.
        exit_latency_us / set_exit_latency_us: u32 = 8;
        /// Relative Read Throughput (RRT): lower is better.
        read_throughput / set_read_throughput: u8 = 12, u8[0..=4];
        /// Relative Read Latency (RRL): lower is better.
        read_latency / set_read_latency: u8 = 13, u8[0..=4];
        /// Relative Write Throughput (RWT): lower is better.
        write_throughput / set_write_throughput: u8 = 14, u8[0..=4];
        /// Relative Write Latency (RWL): lower is better.
        write_latency / set_write_latency: u8 = 15, u8[0..=4];
        /// Idle Power (IDLP), in units of the idle power scale.
        idle_power / set_idle_power: u16 = 16;
        /// Idle Power Scale (IPS): 0 not reported, 1 0.1 mW, 2 10 mW.
        idle_power_scale / set_idle_power_scale: u8 = 18, u8[6..=7];
        /// Active Power (ACTP), in units of the active power scale.
        active_power / set_active_power: u16 = 20;
        /// Active Power Workload (APW).
        active_power_workload / set_active_power_workload: u8 = 22, u8[0..=2];
        /// Active Power Scale (APS): 0 not reported, 1 0.1 mW, 2 10 mW.
        active_power_scale / set_active_power_scale: u8 = 22, u8[6..=7];
    }

    /// Identify Controller data structure (CNS 01h; Base 5.17.2.1).
    pub struct IdentifyController[4096] {
        /// PCI Vendor ID (VID).
        vendor_id / set_vendor_id: u16 = 0;
        /// PCI Subsystem Vendor ID (SSVID).
        subsystem_vendor_id / set_subsystem_vendor_id: u16 = 2;
        /// Serial Number (SN), ASCII.
        serial_number / set_serial_number: [u8; 20] = 4;
        /// Model Number (MN), ASCII.
        model_number / set_model_number: [u8; 40] = 24;
        /// Firmware Revision (FR), ASCII.
        firmware_revision / set_firmware_revision: [u8; 8] = 64;
        /// Recommended Arbitration Burst (RAB) as a power of two.
        arbitration_burst / set_arbitration_burst: u8 = 72;
        /// IEEE OUI Identifier (IEEE), least significant byte first.
        ieee_oui / set_ieee_oui: [u8; 3] = 73;
        /// Controller Multi-Path I/O and Namespace Sharing Capabilities (CMIC).
        cmic / set_cmic: u8 = 76;
        /// Maximum Data Transfer Size (MDTS) as a power of two of minimum memory pages; 0 for no limit.
        mdts / set_mdts: u8 = 77;
        /// Controller ID (CNTLID).
        controller_id / set_controller_id: u16 = 78;
        /// Version (VER), as the register VS.
        version / set_version: u32 = 80;
        /// RTD3 Resume Latency (RTD3R) in microseconds.
        rtd3_resume_us / set_rtd3_resume_us: u32 = 84;
        /// RTD3 Entry Latency (RTD3E) in microseconds.
        rtd3_entry_us / set_rtd3_entry_us: u32 = 88;
        /// Optional Asynchronous Events Supported (OAES).
        oaes / set_oaes: u32 = 92;
        /// Controller Attributes (CTRATT).
        attributes / set_attributes: u32 = 96;
        /// Controller Type (CNTRLTYPE): 1 for an I/O controller.
        controller_type / set_controller_type: u8 = 111;
        /// FRU Globally Unique Identifier (FGUID).
        fru_guid / set_fru_guid: [u8; 16] = 112;
        /// Command Retry Delay Times 1 to 3 (CRDT1 to CRDT3) in units of 100 ms.
        retry_delays_100ms / set_retry_delays_100ms: [u16; 3] = 128;
        /// Optional Admin Command Support (OACS), see [`oacs`].
        oacs / set_oacs: u16 = 256;
        /// Abort Command Limit (ACL), less one.
        abort_limit / set_abort_limit: u8 = 258;
        /// Asynchronous Event Request Limit (AERL), less one.
        async_event_limit / set_async_event_limit: u8 = 259;
        /// Firmware Updates (FRMW): bit 0 first slot read-only, bits 3:1 slots, bit 4 activation without reset.
        firmware_updates / set_firmware_updates: u8 = 260;
        /// Log Page Attributes (LPA), see [`lpa`].
        log_page_attributes / set_log_page_attributes: u8 = 261;
        /// Error Log Page Entries (ELPE), less one.
        error_log_entries / set_error_log_entries: u8 = 262;
        /// Number of Power States Support (NPSS), less one.
        power_states / set_power_states: u8 = 263;
        /// Admin Vendor Specific Command Configuration (AVSCC).
        avscc / set_avscc: u8 = 264;
        /// Autonomous Power State Transition Attributes (APSTA): bit 0 supported.
        apsta / set_apsta: u8 = 265;
        /// Warning Composite Temperature Threshold (WCTEMP) in kelvin, 0 when not reported.
        warning_kelvin / set_warning_kelvin: u16 = 266;
        /// Critical Composite Temperature Threshold (CCTEMP) in kelvin, 0 when not reported.
        critical_kelvin / set_critical_kelvin: u16 = 268;
        /// Maximum Time for Firmware Activation (MTFA) in units of 100 ms.
        firmware_activation_100ms / set_firmware_activation_100ms: u16 = 270;
        /// Host Memory Buffer Preferred Size (HMPRE) in units of 4 KiB.
        hmb_preferred_4k / set_hmb_preferred_4k: u32 = 272;
        /// Host Memory Buffer Minimum Size (HMMIN) in units of 4 KiB.
        hmb_minimum_4k / set_hmb_minimum_4k: u32 = 276;
        /// Total NVM Capacity (TNVMCAP) in bytes.
        total_capacity_bytes / set_total_capacity_bytes: u128 = 280;
        /// Unallocated NVM Capacity (UNVMCAP) in bytes.
        unallocated_capacity_bytes / set_unallocated_capacity_bytes: u128 = 296;
        /// Replay Protected Memory Block Support (RPMBS).
        rpmbs / set_rpmbs: u32 = 312;
        /// Extended Device Self-test Time (EDSTT) in minutes.
        self_test_minutes / set_self_test_minutes: u16 = 316;
        /// Device Self-test Options (DSTO): bit 0 one operation at a time for the subsystem.
        self_test_options / set_self_test_options: u8 = 318;
        /// Firmware Update Granularity (FWUG) in units of 4 KiB.
        firmware_granularity_4k / set_firmware_granularity_4k: u8 = 319;
        /// Keep Alive Support (KAS) in units of 100 ms.
        keep_alive_100ms / set_keep_alive_100ms: u16 = 320;
        /// Host Controlled Thermal Management Attributes (HCTMA): bit 0 supported.
        hctma / set_hctma: u16 = 322;
        /// Minimum Thermal Management Temperature (MNTMT) in kelvin.
        min_thermal_kelvin / set_min_thermal_kelvin: u16 = 324;
        /// Maximum Thermal Management Temperature (MXTMT) in kelvin.
        max_thermal_kelvin / set_max_thermal_kelvin: u16 = 326;
        /// Sanitize Capabilities (SANICAP), see [`sanicap`].
        sanitize_capabilities / set_sanitize_capabilities: u32 = 328;
        /// Host Memory Buffer Minimum Descriptor Entry Size (HMMINDS) in units of 4 KiB.
        hmb_min_descriptor_4k / set_hmb_min_descriptor_4k: u32 = 332;
        /// Host Memory Maximum Descriptors Entries (HMMAXD).
        hmb_max_descriptors / set_hmb_max_descriptors: u16 = 336;
        /// NVM Set Identifier Maximum (NSETIDMAX).
        nvm_set_max / set_nvm_set_max: u16 = 338;
        /// Endurance Group Identifier Maximum (ENDGIDMAX).
        endurance_group_max / set_endurance_group_max: u16 = 340;
        /// ANA Transition Time (ANATT) in seconds.
        ana_transition_s / set_ana_transition_s: u8 = 342;
        /// Asymmetric Namespace Access Capabilities (ANACAP).
        ana_capabilities / set_ana_capabilities: u8 = 343;
        /// ANA Group Identifier Maximum (ANAGRPMAX).
        ana_group_max / set_ana_group_max: u32 = 344;
        /// Number of ANA Group Identifiers (NANAGRPID).
        ana_groups / set_ana_groups: u32 = 348;
        /// Persistent Event Log Size (PELS) in units of 64 KiB.
        persistent_event_log_64k / set_persistent_event_log_64k: u32 = 352;
        /// Submission Queue Entry Size (SQES): bits 3:0 required, 7:4 maximum, as powers of two.
        sqes / set_sqes: u8 = 512;
        /// Completion Queue Entry Size (CQES): bits 3:0 required, 7:4 maximum, as powers of two.
        cqes / set_cqes: u8 = 513;
        /// Maximum Outstanding Commands (MAXCMD), 0 when not reported.
        max_commands / set_max_commands: u16 = 514;
        /// Number of Namespaces (NN): the highest namespace identifier.
        namespaces / set_namespaces: u32 = 516;
        /// Optional NVM Command Support (ONCS), see [`oncs`].
        oncs / set_oncs: u16 = 520;
        /// Fused Operation Support (FUSES): bit 0 Compare and Write.
        fuses / set_fuses: u16 = 522;
        /// Format NVM Attributes (FNA): bit 0 format and bit 1 secure erase of all namespaces, bit 2 cryptographic erase.
        format_attributes / set_format_attributes: u8 = 524;
        /// Volatile Write Cache (VWC): bit 0 present, bits 2:1 what Flush with all namespaces does.
        volatile_write_cache / set_volatile_write_cache: u8 = 525;
        /// Atomic Write Unit Normal (AWUN) in logical blocks, less one.
        awun / set_awun: u16 = 526;
        /// Atomic Write Unit Power Fail (AWUPF) in logical blocks, less one.
        awupf / set_awupf: u16 = 528;
        /// I/O Command Set Vendor Specific Command Configuration (ICSVSCC).
        icsvscc / set_icsvscc: u8 = 530;
        /// Namespace Write Protection Capabilities (NWPC).
        write_protection / set_write_protection: u8 = 531;
        /// Atomic Compare & Write Unit (ACWU) in logical blocks, less one.
        acwu / set_acwu: u16 = 532;
        /// Copy Descriptor Formats Supported (CDFS).
        copy_formats / set_copy_formats: u16 = 534;
        /// SGL Support (SGLS), see [`sgls`].
        sgls / set_sgls: u32 = 536;
        /// Maximum Number of Allowed Namespaces (MNAN).
        max_allowed_namespaces / set_max_allowed_namespaces: u32 = 540;
        /// NVM Subsystem NVMe Qualified Name (SUBNQN), UTF-8 that ends with a zero.
        subsystem_nqn / set_subsystem_nqn: [u8; 256] = 768;
        /// Power State Descriptors (PSD0 to PSD31).
        descriptors / set_descriptors: [PowerStateDescriptor; 32] = 2048;
    }

    /// LBA Format (NVM 4.1.5.1).
    pub struct LbaFormat[4] {
        /// Metadata Size (MS) in bytes.
        metadata_bytes / set_metadata_bytes: u16 = 0;
        /// LBA Data Size (LBADS) as a power of two of bytes; 0 for a format that is not supported.
        data_size / set_data_size: u8 = 2;
        /// Relative Performance (RP): 0 best to 3 degraded.
        relative_performance / set_relative_performance: u8 = 3, u8[0..=1];
    }

    /// Identify Namespace data structure (CNS 00h; NVM 4.1.5.1).
    pub struct IdentifyNamespace[4096] {
        /// Namespace Size (NSZE) in logical blocks.
        size_blocks / set_size_blocks: u64 = 0;
        /// Namespace Capacity (NCAP) in logical blocks.
        capacity_blocks / set_capacity_blocks: u64 = 8;
        /// Namespace Utilization (NUSE) in logical blocks.
        used_blocks / set_used_blocks: u64 = 16;
        /// Namespace Features (NSFEAT): bit 0 thin provisioning, bit 2 errors of deallocated blocks, bit 4 the fields of optimal I/O.
        features / set_features: u8 = 24;
        /// Number of LBA Formats (NLBAF), less one.
        lba_format_count / set_lba_format_count: u8 = 25;
        /// Formatted LBA Size (FLBAS), index in bits 3:0 (and 6:5 above).
        formatted / set_formatted: u8 = 26;
        /// Metadata Capabilities (MC).
        metadata_capabilities / set_metadata_capabilities: u8 = 27;
        /// End-to-end Data Protection Capabilities (DPC).
        protection_capabilities / set_protection_capabilities: u8 = 28;
        /// End-to-end Data Protection Type Settings (DPS).
        protection_settings / set_protection_settings: u8 = 29;
        /// Namespace Multi-path I/O and Namespace Sharing Capabilities (NMIC).
        sharing / set_sharing: u8 = 30;
        /// Reservation Capabilities (RESCAP).
        reservations / set_reservations: u8 = 31;
        /// Format Progress Indicator (FPI): bit 7 supported, bits 6:0 per cent that remain.
        format_progress / set_format_progress: u8 = 32;
        /// Deallocate Logical Block Features (DLFEAT): bits 2:0 how deallocated blocks read (1 zeroes), bit 3 DEAC of Write Zeroes.
        deallocate_features / set_deallocate_features: u8 = 33;
        /// Namespace Atomic Write Unit Normal (NAWUN), less one.
        nawun / set_nawun: u16 = 34;
        /// Namespace Atomic Write Unit Power Fail (NAWUPF), less one.
        nawupf / set_nawupf: u16 = 36;
        /// Namespace Optimal I/O Boundary (NOIOB) in logical blocks.
        optimal_boundary_blocks / set_optimal_boundary_blocks: u16 = 46;
        /// NVM Capacity (NVMCAP) in bytes.
        capacity_bytes / set_capacity_bytes: u128 = 48;
        /// Namespace Preferred Write Granularity (NPWG) in logical blocks, less one.
        write_granularity / set_write_granularity: u16 = 64;
        /// Namespace Preferred Write Alignment (NPWA) in logical blocks, less one.
        write_alignment / set_write_alignment: u16 = 66;
        /// Namespace Preferred Deallocate Granularity (NPDG) in logical blocks, less one.
        deallocate_granularity / set_deallocate_granularity: u16 = 68;
        /// Namespace Preferred Deallocate Alignment (NPDA) in logical blocks, less one.
        deallocate_alignment / set_deallocate_alignment: u16 = 70;
        /// Namespace Optimal Write Size (NOWS) in logical blocks, less one.
        optimal_write_size / set_optimal_write_size: u16 = 72;
        /// ANA Group Identifier (ANAGRPID).
        ana_group / set_ana_group: u32 = 92;
        /// Namespace Attributes (NSATTR): bit 0 write protected.
        attributes / set_attributes: u8 = 99;
        /// NVM Set Identifier (NVMSETID).
        nvm_set / set_nvm_set: u16 = 100;
        /// Endurance Group Identifier (ENDGID).
        endurance_group / set_endurance_group: u16 = 102;
        /// Namespace Globally Unique Identifier (NGUID), big-endian.
        nguid / set_nguid: [u8; 16] = 104;
        /// IEEE Extended Unique Identifier (EUI64), big-endian.
        eui64 / set_eui64: [u8; 8] = 120;
        /// LBA Formats (LBAF0 to LBAF63).
        lba_formats / set_lba_formats: [LbaFormat; 64] = 128;
    }

    /// I/O Command Set Independent Identify Namespace data structure (CNS 08h; Base 5.17.2.8).
    pub struct IndependentNamespace[4096] {
        /// Common Namespace Features (NSFEAT).
        features / set_features: u8 = 0;
        /// Namespace Multi-path I/O and Namespace Sharing Capabilities (NMIC).
        sharing / set_sharing: u8 = 1;
        /// Reservation Capabilities (RESCAP).
        reservations / set_reservations: u8 = 2;
        /// Format Progress Indicator (FPI).
        format_progress / set_format_progress: u8 = 3;
        /// ANA Group Identifier (ANAGRPID).
        ana_group / set_ana_group: u32 = 4;
        /// Namespace Attributes (NSATTR).
        attributes / set_attributes: u8 = 8;
        /// NVM Set Identifier (NVMSETID).
        nvm_set / set_nvm_set: u16 = 10;
        /// Endurance Group Identifier (ENDGID).
        endurance_group / set_endurance_group: u16 = 12;
        /// Namespace Status (NSTAT): bit 0 ready.
        status / set_status: u8 = 14;
    }

    /// I/O Command Set specific Identify Controller data structure of the NVM command set (CNS 06h, CSI 00h; NVM 4.1.5.4).
    pub struct NvmController[4096] {
        /// Verify Size Limit (VSL) as a power of two of minimum memory pages, 0 for no limit.
        verify_limit / set_verify_limit: u8 = 0;
        /// Write Zeroes Size Limit (WZSL) as a power of two of minimum memory pages, 0 for no limit.
        write_zeroes_limit / set_write_zeroes_limit: u8 = 1;
        /// Write Uncorrectable Size Limit (WUSL) as a power of two of minimum memory pages, 0 for no limit.
        write_uncorrectable_limit / set_write_uncorrectable_limit: u8 = 2;
        /// Dataset Management Ranges Limit (DMRL), 0 for no limit.
        dataset_ranges / set_dataset_ranges: u8 = 3;
        /// Dataset Management Range Size Limit (DMRSL) in logical blocks, 0 for no limit.
        dataset_range_blocks / set_dataset_range_blocks: u32 = 4;
        /// Dataset Management Size Limit (DMSL) in logical blocks, 0 for no limit.
        dataset_blocks / set_dataset_blocks: u64 = 8;
    }
}

impl PowerStateDescriptor {
    /// Maximum power in microwatts.
    pub fn max_power_uw(&self) -> u64 {
        let unit_uw = if self.max_power_scale() { 100 } else { 10_000 };
        u64::from(self.max_power()) * unit_uw
    }

    /// Idle power in microwatts, where it is reported.
    pub fn idle_power_uw(&self) -> Option<u64> {
        scaled_uw(self.idle_power(), self.idle_power_scale())
    }

    /// Active power in microwatts, where it is reported.
    pub fn active_power_uw(&self) -> Option<u64> {
        scaled_uw(self.active_power(), self.active_power_scale())
    }

    /// Sets the maximum power in milliwatts, in the finer unit where that can hold it.
    pub fn set_max_power_mw(&mut self, milliwatts: u32) -> &mut PowerStateDescriptor {
        let (value, fine) = in_units(milliwatts);
        self.set_max_power(value).set_max_power_scale(fine)
    }

    /// Sets the idle power in milliwatts, in the finer unit where that can hold it.
    pub fn set_idle_power_mw(&mut self, milliwatts: u32) -> &mut PowerStateDescriptor {
        let (value, fine) = in_units(milliwatts);
        self.set_idle_power(value)
            .set_idle_power_scale(if fine { 1 } else { 2 })
    }
}

fn scaled_uw(value: u16, scale: u8) -> Option<u64> {
    match scale {
        1 => Some(u64::from(value) * 100),
        2 => Some(u64::from(value) * 10_000),
        _ => None,
    }
}

/// Milliwatts in tenths of them where they fit, else in tens; and which.
fn in_units(milliwatts: u32) -> (u16, bool) {
    match u16::try_from(u64::from(milliwatts) * 10) {
        Ok(tenths) => (tenths, true),
        Err(_) => (
            u16::try_from(milliwatts.div_ceil(10)).unwrap_or(u16::MAX),
            false,
        ),
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

    /// The power states there are, state 0 first.
    pub fn power_state_descriptors(&self) -> impl Iterator<Item = PowerStateDescriptor> {
        let count = (usize::from(self.power_states()) + 1).min(POWER_STATES);
        self.descriptors().into_iter().take(count)
    }

    /// Largest transfer of one command in bytes, with the controller's CAP.MPSMIN; `None` for no limit.
    pub fn max_transfer_bytes(&self, mps_min: u8) -> Option<u64> {
        match self.mdts() {
            0 => None,
            mdts => Some(
                1_u64
                    .checked_shl(12 + u32::from(mps_min) + u32::from(mdts))
                    .unwrap_or(u64::MAX),
            ),
        }
    }
}

impl LbaFormat {
    /// Bytes of data in a logical block; `None` for a format that is not supported.
    pub fn block_bytes(&self) -> Option<u64> {
        match self.data_size() {
            size @ 9..=63 => Some(1 << size),
            _ => None,
        }
    }
}

impl IdentifyNamespace {
    /// Index of the LBA format in use.
    pub fn format_index(&self) -> u8 {
        let formatted = self.formatted();
        // The upper bits count where there are more than 16 formats (NVM 4.1.5.1, FLBAS).
        let high = if self.lba_format_count() > 15 {
            formatted >> 5 & 3
        } else {
            0
        };
        high << 4 | formatted & 15
    }

    /// The LBA format in use.
    pub fn format(&self) -> LbaFormat {
        let formats = self.lba_formats();
        formats
            .get(usize::from(self.format_index()))
            .copied()
            .unwrap_or_default()
    }

    /// The LBA formats there are.
    pub fn formats(&self) -> impl Iterator<Item = LbaFormat> {
        let count = (usize::from(self.lba_format_count()) + 1).min(LBA_FORMATS);
        self.lba_formats().into_iter().take(count)
    }

    /// Size in bytes; `None` where the format in use makes no sense.
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_blocks().checked_mul(self.format().block_bytes()?)
    }
}
