//! Admin commands (Base 5): views of a [`crate::SubmissionEntry`], which has the data pointer. Each
//! view has `new` (opcode set, all else 0), accessors of its fields, and conversions.

use assay_units::constants;

use crate::opcode::AdminOpcode;
use crate::wire::{codes, commands};

commands! {
    /// Create I/O Completion Queue (Base 5.4). PRP1 is the queue.
    pub struct CreateCompletionQueue = AdminOpcode::CREATE_COMPLETION_QUEUE => {
        qid / set_qid: u16 = 40, "Queue Identifier (QID).";
        size / set_size: u16 = 42, "Queue Size (QSIZE), less one.";
        contiguous / set_contiguous: bool = 44, u32[0..=0], "Physically Contiguous (PC).";
        interrupts / set_interrupts: bool = 44, u32[1..=1], "Interrupts Enabled (IEN).";
        vector / set_vector: u16 = 46, "Interrupt Vector (IV).";
    }

    /// Create I/O Submission Queue (Base 5.5). PRP1 is the queue.
    pub struct CreateSubmissionQueue = AdminOpcode::CREATE_SUBMISSION_QUEUE => {
        qid / set_qid: u16 = 40, "Queue Identifier (QID).";
        size / set_size: u16 = 42, "Queue Size (QSIZE), less one.";
        contiguous / set_contiguous: bool = 44, u32[0..=0], "Physically Contiguous (PC).";
        cqid / set_cqid: u16 = 46, "Completion Queue Identifier (CQID).";
    }

    /// Delete I/O Submission Queue (Base 5.7).
    pub struct DeleteSubmissionQueue = AdminOpcode::DELETE_SUBMISSION_QUEUE => {
        qid / set_qid: u16 = 40, "Queue Identifier (QID).";
    }

    /// Delete I/O Completion Queue (Base 5.6).
    pub struct DeleteCompletionQueue = AdminOpcode::DELETE_COMPLETION_QUEUE => {
        qid / set_qid: u16 = 40, "Queue Identifier (QID).";
    }

    /// Identify (Base 5.17).
    pub struct IdentifyCommand = AdminOpcode::IDENTIFY => {
        cns / set_cns: u8 = 40,
            "Controller or Namespace Structure (CNS), see [`crate::identify::Cns`].";
        controller / set_controller: u16 = 42, "Controller Identifier (CNTID).";
        csi / set_csi: u8 = 47, "Command Set Identifier (CSI).";
    }

    /// Get Log Page (Base 5.16).
    pub struct GetLogPage = AdminOpcode::GET_LOG_PAGE => {
        lid / set_lid: u8 = 40, "Log Page Identifier (LID), see [`crate::log::LogId`].";
        log_specific / set_log_specific: u8 = 40, u32[8..=14], "Log Specific Field (LSP).";
        retain_event / set_retain_event: bool = 40, u32[15..=15],
            "Retain Asynchronous Event (RAE).";
        dwords_low / set_dwords_low: u16 = 42,
            "Number of Dwords Lower (NUMDL); see [`GetLogPage::dwords`].";
        dwords_high / set_dwords_high: u16 = 44, "Number of Dwords Upper (NUMDU).";
        endurance_group / set_endurance_group: u16 = 46,
            "Log Specific Identifier (LSI): the endurance group of pages that belong to one.";
        offset / set_offset: u64 = 48, "Log Page Offset (LPOL and LPOU) in bytes.";
        offset_counts_entries / set_offset_counts_entries: bool = 56, u32[23..=23],
            "Offset Type (OT): the offset counts entries instead of bytes.";
        csi / set_csi: u8 = 59, "Command Set Identifier (CSI).";
    }

    /// Get Features (Base 5.15).
    pub struct GetFeatures = AdminOpcode::GET_FEATURES => {
        fid / set_fid: u8 = 40, "Feature Identifier (FID), see [`crate::feature::FeatureId`].";
        select / set_select: u8 = 40, u32[8..=10], "Select (SEL), see [`select`].";
        value / set_value: u32 = 44, "Command Dword 11, specific to the feature.";
    }

    /// Set Features (Base 5.27).
    pub struct SetFeatures = AdminOpcode::SET_FEATURES => {
        fid / set_fid: u8 = 40, "Feature Identifier (FID), see [`crate::feature::FeatureId`].";
        save / set_save: bool = 40, u32[31..=31],
            "Save (SV): persistent over power cycles and resets.";
        value / set_value: u32 = 44, "Command Dword 11, specific to the feature.";
        second_value / set_second_value: u32 = 48, "Command Dword 12, specific to the feature.";
    }

    /// Abort (Base 5.1).
    pub struct Abort = AdminOpcode::ABORT => {
        sqid / set_sqid: u16 = 40,
            "Submission Queue Identifier (SQID) of the command to be aborted.";
        aborted_cid / set_aborted_cid: u16 = 42, "Command Identifier of the command to be aborted.";
    }

    /// Asynchronous Event Request (Base 5.2).
    pub struct AsyncEventRequest = AdminOpcode::ASYNC_EVENT_REQUEST => {}

    /// Device Self-test (Base 5.9).
    pub struct DeviceSelfTest = AdminOpcode::DEVICE_SELF_TEST => {
        code / set_code: u8 = 40, u32[0..=3], "Self-test Code (STC), see [`SelfTestCode`].";
    }

    /// Format NVM (Base 5.14).
    pub struct FormatNvm = AdminOpcode::FORMAT_NVM => {
        lba_format_low / set_lba_format_low: u8 = 40, u32[0..=3],
            "LBA Format Lower (LBAFL); see [`FormatNvm::lba_format`].";
        extended_metadata / set_extended_metadata: bool = 40, u32[4..=4],
            "Metadata Settings (MSET): as part of an extended logical block.";
        protection / set_protection: u8 = 40, u32[5..=7], "Protection Information (PI).";
        protection_first / set_protection_first: bool = 40, u32[8..=8],
            "Protection Information Location (PIL): first.";
        secure_erase / set_secure_erase: u8 = 40, u32[9..=11],
            "Secure Erase Settings (SES), see [`SecureErase`].";
        lba_format_high / set_lba_format_high: u8 = 40, u32[12..=13], "LBA Format Upper (LBAFU).";
    }

    /// Sanitize (Base 5.24).
    pub struct Sanitize = AdminOpcode::SANITIZE => {
        action / set_action: u8 = 40, u32[0..=2],
            "Sanitize Action (SANACT), see [`SanitizeAction`].";
        unrestricted_exit / set_unrestricted_exit: bool = 40, u32[3..=3],
            "Allow Unrestricted Sanitize Exit (AUSE).";
        no_deallocate / set_no_deallocate: bool = 40, u32[9..=9],
            "No-Deallocate After Sanitize (NDAS).";
        pattern / set_pattern: u32 = 44, "Overwrite Pattern (OVRPAT).";
    }
}

codes! {
    /// Self-test Code (STC; Base 5.9).
    pub struct SelfTestCode(u8) {
        SHORT = 0x1, "Short device self-test operation";
        EXTENDED = 0x2, "Extended device self-test operation";
        VENDOR = 0xe, "Vendor specific";
        ABORT = 0xf, "Abort device self-test operation";
    }

    /// Secure Erase Settings (SES; Base 5.14).
    pub struct SecureErase(u8) {
        NONE = 0x0, "No secure erase operation requested";
        USER_DATA = 0x1, "User Data Erase";
        CRYPTOGRAPHIC = 0x2, "Cryptographic Erase";
    }

    /// Sanitize Action (SANACT; Base 5.24).
    pub struct SanitizeAction(u8) {
        EXIT_FAILURE_MODE = 0x1, "Exit Failure Mode";
        BLOCK_ERASE = 0x2, "Block Erase";
        OVERWRITE = 0x3, "Overwrite";
        CRYPTO_ERASE = 0x4, "Crypto Erase";
    }
}

constants! {
    /// Select (SEL) of Get Features (Base 5.15).
    pub mod select: u8 {
        CURRENT = 0, "The current value.";
        DEFAULT = 1, "The default value.";
        SAVED = 2, "The saved value.";
        SUPPORTED = 3,
            "Supported capabilities: bit 0 saveable, bit 1 per namespace, bit 2 changeable.";
    }
}

impl GetLogPage {
    /// Reads `len_bytes` of a log page (at least 1, rounded up to dwords) from `offset` on.
    pub fn for_log(lid: crate::log::LogId, offset: u64, len_bytes: u32) -> GetLogPage {
        let mut command = GetLogPage::new();
        assert!(len_bytes > 0, "Number of Dwords cannot be 0");
        let less_one = len_bytes.div_ceil(4) - 1;
        command
            .set_lid(lid.0)
            .set_offset(offset)
            .set_dwords_low(less_one as u16)
            .set_dwords_high((less_one >> 16) as u16);
        command
    }

    /// Number of dwords requested.
    pub fn dwords(&self) -> u64 {
        (u64::from(self.dwords_high()) << 16 | u64::from(self.dwords_low())) + 1
    }
}

impl FormatNvm {
    /// Index of the LBA format, from both fields.
    pub fn lba_format(&self) -> u8 {
        self.lba_format_high() << 4 | self.lba_format_low()
    }

    /// Sets both fields of the LBA format index.
    pub fn set_lba_format(&mut self, index: u8) -> &mut FormatNvm {
        self.set_lba_format_low(index & 15).set_lba_format_high(index >> 4)
    }
}
