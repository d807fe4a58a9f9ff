//! Log pages (Base 5.16.1).

use crate::wire::{Wire, codes, text, wire};

mod health;
mod ocp;
mod vendor;

pub use health::{CriticalWarning, SelfTestLog, SelfTestResult, SmartLog};
pub use ocp::{OCP_GUID, OcpSmartLog};
pub use vendor::{IntelSmartItem, IntelSmartLog, VendorCounters, VendorLog, WdcStatisticsLog};

codes! {
    /// Log Page Identifier (LID; Base 5.16.1).
    pub struct LogId(u8) {
        SUPPORTED_PAGES = 0x00, "Supported Log Pages";
        ERROR = 0x01, "Error Information";
        SMART = 0x02, "SMART / Health Information";
        FIRMWARE_SLOT = 0x03, "Firmware Slot Information";
        CHANGED_NAMESPACES = 0x04, "Changed Namespace List";
        COMMAND_EFFECTS = 0x05, "Commands Supported and Effects";
        SELF_TEST = 0x06, "Device Self-test";
        TELEMETRY_HOST = 0x07, "Telemetry Host-Initiated";
        TELEMETRY_CONTROLLER = 0x08, "Telemetry Controller-Initiated";
        ENDURANCE_GROUP = 0x09, "Endurance Group Information";
        ANA = 0x0c, "Asymmetric Namespace Access";
        FDP_CONFIGURATIONS = 0x20, "FDP Configurations";
        HANDLE_USAGE = 0x21, "Reclaim Unit Handle Usage";
        FDP_STATISTICS = 0x22, "FDP Statistics";
        FDP_EVENTS = 0x23, "FDP Events";
        SANITIZE = 0x81, "Sanitize Status";
        OCP_SMART = 0xc0, "OCP SMART / Health Information Extended";
        VENDOR_CA = 0xca, "vendor-specific log CAh (Intel, Solidigm, Western Digital)";
    }

    /// Sanitize Status (bits 2:0 of SSTAT; Base 5.16.1.25).
    pub struct SanitizeState(u8) {
        NEVER = 0x0, "never sanitized";
        COMPLETED = 0x1, "completed successfully";
        IN_PROGRESS = 0x2, "in progress";
        FAILED = 0x3, "failed";
        COMPLETED_NO_DEALLOCATE = 0x4, "completed successfully without deallocation as requested";
    }
}

wire! {
    /// One entry of the Error Information log (Base 5.16.1.2), latest first.
    pub struct ErrorEntry[64] {
        error_count / set_error_count: u64 = 0,
            "Error Count: unique number of the error; 0 for an unused entry.";
        sqid / set_sqid: u16 = 8, "Submission Queue ID.";
        cid / set_cid: u16 = 10, "Command ID.";
        status_field / set_status_field: u16 = 12,
            "Status Field, bits 15:1, with the phase tag in bit 0.";
        parameter_byte / set_parameter_byte: u8 = 14,
            "Parameter Error Location, byte of the command.";
        parameter_bit / set_parameter_bit: u8 = 15, u8[0..=2],
            "Parameter Error Location, bit of that byte.";
        lba / set_lba: u64 = 16, "LBA: first block with the error.";
        nsid / set_nsid: u32 = 24, "Namespace.";
        transport / set_transport: u8 = 29, "Transport Type (TRTYPE).";
        csi / set_csi: u8 = 30, "Command Set Indicator (CSI).";
        opcode / set_opcode: u8 = 31, "Opcode.";
    }

    /// Firmware Slot Information (Base 5.16.1.4).
    pub struct FirmwareSlotLog[512] {
        active_slot / set_active_slot: u8 = 0, u8[0..=2], "Active Firmware Info: the active slot.";
        revisions / set_revisions: [[u8; 8]; 7] = 8,
            "Firmware Revision for Slot 1 to 7, ASCII, zeroes for an empty slot.";
    }

    /// One command in Commands Supported and Effects (Base 5.16.1.6).
    pub struct CommandEffect[4] {
        supported / set_supported: bool = 0, u32[0..=0], "Command Supported (CSUPP).";
        content_change / set_content_change: bool = 0, u32[1..=1],
            "Logical Block Content Change (LBCC).";
        namespace_capability_change / set_namespace_capability_change: bool = 0, u32[2..=2],
            "Namespace Capability Change (NCC).";
        /// Command Submission and Execution (CSE): 0 no restriction, 1 alone in its namespace, 2
        /// alone in the subsystem.
        execution / set_execution: u8 = 0, u32[16..=18];
        scope / set_scope: u16 = 0, u32[20..=31], "Command Scope (CSP).";
    }

    /// Commands Supported and Effects (Base 5.16.1.6).
    pub struct CommandEffectsLog[4096] {
        admin / set_admin: [CommandEffect; 256] = 0, "Admin commands by opcode.";
        io / set_io: [CommandEffect; 256] = 1024, "I/O commands by opcode.";
    }

    /// Header of both telemetry log pages (Base 5.16.1.8 and 5.16.1.9); data blocks of 512 bytes
    /// follow.
    pub struct TelemetryHeader[512] {
        lid / set_lid: u8 = 0, "Log Identifier.";
        ieee_oui / set_ieee_oui: [u8; 3] = 5, "IEEE OUI Identifier, least significant byte first.";
        area1_last_block / set_area1_last_block: u16 = 8, "Data Area 1 Last Block.";
        area2_last_block / set_area2_last_block: u16 = 10, "Data Area 2 Last Block.";
        area3_last_block / set_area3_last_block: u16 = 12, "Data Area 3 Last Block.";
        host_generation / set_host_generation: u8 = 381, "Host-Initiated Data Generation Number.";
        reason / set_reason: [u8; 128] = 384, "Reason Identifier, vendor specific.";
    }

    /// Sanitize Status (Base 5.16.1.25).
    pub struct SanitizeLog[512] {
        progress / set_progress: u16 = 0,
            "Sanitize Progress (SPROG) in 65,536ths; FFFFh when no operation is in progress.";
        state / set_state: u8 = 2, u16[0..=2],
            "Status of the most recent operation, see [`SanitizeState`].";
        passes / set_passes: u8 = 2, u16[3..=7], "Completed passes of an overwrite.";
        erased / set_erased: bool = 2, u16[8..=8],
            "Global Data Erased: no write since the last sanitize.";
        command / set_command: u32 = 4, "Sanitize Command Dword 10 Information (SCDW10).";
        /// Estimated Times in seconds For Overwrite, Block Erase and Crypto Erase, then With
        /// No-Deallocate; FFFFFFFFh if not reported.
        estimates_s / set_estimates_s: [u32; 6] = 8;
    }

    /// One page in Supported Log Pages (Base 5.16.1.1).
    pub struct SupportedPage[4] {
        supported / set_supported: bool = 0, u32[0..=0], "LID Supported (LSUPP).";
        specific / set_specific: u16 = 2, "LID Specific Parameter.";
    }

    /// Supported Log Pages (Base 5.16.1.1).
    pub struct SupportedPagesLog[1024] {
        pages / set_pages: [SupportedPage; 256] = 0, "By log page identifier.";
    }
}

/// Used entries of an Error Information log, latest first.
pub fn error_entries(data: &[u8]) -> impl Iterator<Item = ErrorEntry> {
    let entries = data.chunks_exact(ErrorEntry::SIZE).map(ErrorEntry::load);
    entries.filter(|entry| entry.error_count() != 0)
}

impl ErrorEntry {
    /// Status code type and status code.
    pub fn status(&self) -> crate::StatusCode {
        crate::StatusCode(self.status_field() >> 1 & 0x7ff)
    }
}

impl FirmwareSlotLog {
    /// Revisions by slot (1 to 7), of slots in use.
    pub fn slots(&self) -> impl Iterator<Item = (u8, String)> {
        let revisions = (1..).zip(self.revisions());
        revisions
            .filter(|(_, revision)| revision.iter().any(|&byte| byte != 0))
            .map(|(slot, revision)| (slot, text(&revision)))
    }
}

impl SanitizeLog {
    /// State of the most recent operation.
    pub fn sanitize_state(&self) -> SanitizeState {
        SanitizeState(self.state())
    }
}
