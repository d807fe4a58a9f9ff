//! Flexible Data Placement (Base 2.1; TP4146): log pages, feature, and reclaim unit handle status.

use crate::opcode::NvmOpcode;
use crate::wire::{codes, commands, wire};

/// Directive Type of a write with a placement identifier in its Directive Specific field: Data
/// Placement (Base 2.1).
pub const DATA_PLACEMENT: u8 = 2;
/// Reclaim unit handle type: initially isolated.
pub const INITIALLY_ISOLATED: u8 = 1;
/// Management operation of I/O Management Receive: Reclaim Unit Handle Status.
pub const HANDLE_STATUS: u8 = 1;

/// Management operation of I/O Management Send: Reclaim Unit Handle Update.
pub const HANDLE_UPDATE: u8 = 1;
/// Log Specific Field of the FDP Events log: host events instead of controller events.
pub const HOST_EVENTS: u8 = 1;

codes! {
    /// FDP Event Type (Base 2.1, log 23h): host events below 80h, then controller events.
    pub struct FdpEventType(u8) {
        NOT_FULLY_WRITTEN = 0x00, "Reclaim Unit Not Fully Written To Capacity";
        TIME_LIMIT_EXCEEDED = 0x01, "Reclaim Unit Time Limit Exceeded";
        RESET_MODIFIED_HANDLES = 0x02, "Controller Level Reset Modified Reclaim Unit Handles";
        INVALID_PLACEMENT_ID = 0x03, "Invalid Placement Identifier";
        MEDIA_REALLOCATED = 0x80, "Media Reallocated";
        IMPLICITLY_MODIFIED = 0x81, "Implicitly Modified Reclaim Unit Handle";
    }
}

wire! {
    /// Head of FDP Events (Base 2.1, log 23h); [`FdpEvent`]s follow, oldest first.
    pub struct FdpEventsHead[64] {
        events / set_events: u32 = 0, "Number of FDP Events (NFDPE).";
    }

    /// FDP Event.
    pub struct FdpEvent[64] {
        kind / set_kind: u8 = 0, "FDP Event Type, see [`FdpEventType`].";
        has_placement_id / set_has_placement_id: bool = 1, u8[0..=0],
            "Placement Identifier Valid (PIV).";
        has_nsid / set_has_nsid: bool = 1, u8[1..=1], "NSID Valid (NSIDV).";
        has_location / set_has_location: bool = 1, u8[2..=2],
            "Location Valid (LV): reclaim group and handle.";
        placement_id / set_placement_id: u16 = 2, "Placement Identifier (PID).";
        milliseconds / set_milliseconds: u64 = 4, u64[0..=47],
            "Event Timestamp, as of the feature Timestamp.";
        nsid / set_nsid: u32 = 12, "Namespace Identifier.";
        group / set_group: u16 = 32, "Reclaim Group Identifier (RGID).";
        handle / set_handle: u8 = 34, "Reclaim Unit Handle Identifier (RUHID).";
    }

    /// Flexible Data Placement Events (Base 2.1, feature 1Eh), dword 11.
    pub struct FdpEventsSelection[4] as u32 {
        placement_handle / set_placement_handle: u16 = 0, "Placement Handle (PHNDL).";
        types / set_types: u8 = 2,
            "Number of FDP Event Types (NOET): of the list of Set Features, a byte each.";
    }

    /// Supported FDP Event Descriptor, data of Get Features.
    pub struct FdpEventDescriptor[2] {
        kind / set_kind: u8 = 0, "FDP Event Type.";
        enabled / set_enabled: bool = 1, u8[0..=0], "FDP Event Enabled (FDPEE).";
    }

    /// Flexible Data Placement feature: of Get Features and Set Features, dword 12 of the latter
    /// (Base 2.1, feature 1Dh).
    pub struct FdpFeature[4] as u32 {
        enabled / set_enabled: bool = 0, u32[0..=0], "Flexible Data Placement Enable (FDPE).";
        configuration / set_configuration: u8 = 1, "FDP Configuration Index (FDPCIDX).";
    }

    /// Head of FDP Configurations (Base 2.1, log 20h); [`FdpConfiguration`]s follow.
    pub struct FdpConfigurationsHead[16] {
        configurations / set_configurations: u16 = 0, "Number of FDP Configurations, less one.";
        size_bytes / set_size_bytes: u32 = 4, "Size of this log page.";
    }

    /// FDP Configuration Descriptor; [`HandleDescriptor`]s follow.
    pub struct FdpConfiguration[64] {
        size_bytes / set_size_bytes: u16 = 0, "Descriptor Size, with its handles.";
        group_bits / set_group_bits: u8 = 2, u8[0..=3],
            "Reclaim Group Identifier Format (RGIF): bits of a placement identifier for the group.";
        volatile_cache / set_volatile_cache: bool = 2, u8[4..=4],
            "FDP Volatile Write Cache (FDPVWC).";
        valid / set_valid: bool = 2, u8[7..=7], "FDP Configuration Valid.";
        groups / set_groups: u32 = 4, "Number of Reclaim Groups (NRG).";
        handles / set_handles: u16 = 8, "Number of Reclaim Unit Handles (NRUH).";
        max_placement_ids / set_max_placement_ids: u16 = 10,
            "Max Placement Identifiers (MAXPIDS), less one.";
        namespaces / set_namespaces: u32 = 12, "Number of Namespaces Supported (NNS).";
        unit_bytes / set_unit_bytes: u64 = 16, "Reclaim Unit Nominal Size (RUNS).";
        time_limit_s / set_time_limit_s: u32 = 24,
            "Estimated Reclaim Unit Time Limit (ERUTL), 0 when not reported.";
    }

    /// Reclaim Unit Handle Descriptor.
    pub struct HandleDescriptor[4] {
        isolation / set_isolation: u8 = 0,
            "Reclaim Unit Handle Type (RUHT): [`INITIALLY_ISOLATED`], 2 persistently isolated.";
    }

    /// Head of Reclaim Unit Handle Usage (Base 2.1, log 21h); [`HandleUsage`]s follow.
    pub struct HandleUsageHead[8] {
        handles / set_handles: u16 = 0, "Number of Reclaim Unit Handles (NRUH).";
    }

    /// Reclaim Unit Handle Usage Descriptor.
    pub struct HandleUsage[8] {
        attributes / set_attributes: u8 = 0,
            "Reclaim Unit Handle Attributes (RUHA): 0 unused, 1 specified by the \
             host, 2 by the controller.";
    }

    /// FDP Statistics (Base 2.1, log 22h), in bytes.
    pub struct FdpStatistics[64] {
        host_bytes / set_host_bytes: u128 = 0, "Host Bytes with Metadata Written (HBMW).";
        media_bytes / set_media_bytes: u128 = 16, "Media Bytes with Metadata Written (MBMW).";
        erased_bytes / set_erased_bytes: u128 = 32, "Media Bytes Erased (MBE).";
    }

    /// Head of Reclaim Unit Handle Status (Base 2.1, I/O Management Receive); [`HandleStatus`]
    /// follow.
    pub struct HandleStatusHead[16] {
        descriptors / set_descriptors: u16 = 14,
            "Number of Reclaim Unit Handle Status Descriptors (NRUHSD).";
    }

    /// Reclaim Unit Handle Status Descriptor.
    pub struct HandleStatus[32] {
        placement_id / set_placement_id: u16 = 0, "Placement Identifier (PID).";
        handle / set_handle: u16 = 2, "Reclaim Unit Handle Identifier (RUHID).";
        left_s / set_left_s: u32 = 4,
            "Estimated Active Reclaim Unit Time Remaining (EARUTR), 0 when not reported.";
        left_blocks / set_left_blocks: u64 = 8,
            "Reclaim Unit Available Media Writes (RUAMW), in logical blocks.";
    }

    /// Endurance Group Information (Base 2.1, log 09h). Bytes are counted in units of 10^9.
    pub struct EnduranceGroupLog[512] {
        available_spare / set_available_spare: u8 = 3, "Available Spare in per cent.";
        spare_threshold / set_spare_threshold: u8 = 4, "Available Spare Threshold in per cent.";
        percentage_used / set_percentage_used: u8 = 5, "Percentage Used.";
        endurance_gigabytes / set_endurance_gigabytes: u128 = 32,
            "Endurance Estimate: bytes that may be written at a write amplification of 1; 0 when \
             not reported.";
        gigabytes_read / set_gigabytes_read: u128 = 48, "Data Units Read by the host.";
        gigabytes_written / set_gigabytes_written: u128 = 64, "Data Units Written by the host.";
        media_gigabytes_written / set_media_gigabytes_written: u128 = 80, "Media Units Written.";
        host_reads / set_host_reads: u128 = 96, "Host Read Commands.";
        host_writes / set_host_writes: u128 = 112, "Host Write Commands.";
        media_errors / set_media_errors: u128 = 128, "Media and Data Integrity Errors.";
        capacity_bytes / set_capacity_bytes: u128 = 160, "Total Endurance Group Capacity.";
    }
}

commands! {
    /// I/O Management Send (Base 2.1).
    pub struct IoManagementSend = NvmOpcode::IO_MANAGEMENT_SEND => {
        operation / set_operation: u8 = 40, "Management Operation (MO), see [`HANDLE_UPDATE`].";
        count / set_count: u16 = 42,
            "Management Operation Specific (MOS): placement identifiers in the data, less one.";
    }

    /// I/O Management Receive (Base 2.1).
    pub struct IoManagementReceive = NvmOpcode::IO_MANAGEMENT_RECEIVE => {
        operation / set_operation: u8 = 40, "Management Operation (MO), see [`HANDLE_STATUS`].";
        dwords / set_dwords: u32 = 44, "Number of Dwords (NUMD), less one.";
    }
}
