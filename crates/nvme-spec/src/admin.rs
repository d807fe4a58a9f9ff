//! Admin commands (Base 5): views of a submission queue entry.
//!
//! Each has `new` for its opcode with zeroes, its fields, and is made from and into a [`crate::SubmissionEntry`], which has the data
//! pointer.

use crate::opcode::AdminOpcode;
use crate::wire::{codes, commands};

commands! {
    /// Create I/O Completion Queue (Base 5.4). PRP1 is the queue.
    pub struct CreateCompletionQueue = AdminOpcode::CREATE_COMPLETION_QUEUE => {
        /// Queue Identifier (QID).
        qid / set_qid: u16 = 40;
        /// Queue Size (QSIZE), less one.
        size / set_size: u16 = 42;
        /// Physically Contiguous (PC).
        contiguous / set_contiguous: bool = 44, u32[0..=0];
        /// Interrupts Enabled (IEN).
        interrupts / set_interrupts: bool = 44, u32[1..=1];
        /// Interrupt Vector (IV).
        vector / set_vector: u16 = 46;
    }

    /// Create I/O Submission Queue (Base 5.5). PRP1 is the queue.
    pub struct CreateSubmissionQueue = AdminOpcode::CREATE_SUBMISSION_QUEUE => {
        /// Queue Identifier (QID).
        qid / set_qid: u16 = 40;
        /// Queue Size (QSIZE), less one.
        size / set_size: u16 = 42;
        /// Physically Contiguous (PC).
        contiguous / set_contiguous: bool = 44, u32[0..=0];
        /// Queue Priority (QPRIO), for weighted round robin.
        priority / set_priority: u8 = 44, u32[1..=2];
        /// Completion Queue Identifier (CQID).
        cqid / set_cqid: u16 = 46;
        /// NVM Set Identifier (NVMSETID).
        nvm_set / set_nvm_set: u16 = 48;
    }

    /// Delete I/O Submission Queue (Base 5.7).
    pub struct DeleteSubmissionQueue = AdminOpcode::DELETE_SUBMISSION_QUEUE => {
        /// Queue Identifier (QID).
        qid / set_qid: u16 = 40;
    }

    /// Delete I/O Completion Queue (Base 5.6).
    pub struct DeleteCompletionQueue = AdminOpcode::DELETE_COMPLETION_QUEUE => {
        /// Queue Identifier (QID).
        qid / set_qid: u16 = 40;
    }

    /// Identify (Base 5.17).
    pub struct IdentifyCommand = AdminOpcode::IDENTIFY => {
        /// Controller or Namespace Structure (CNS), see [`crate::identify::Cns`].
        cns / set_cns: u8 = 40;
        /// Controller Identifier (CNTID).
        controller / set_controller: u16 = 42;
        /// CNS Specific Identifier.
        cns_specific / set_cns_specific: u16 = 44;
        /// Command Set Identifier (CSI).
        csi / set_csi: u8 = 47;
        /// UUID Index.
        uuid_index / set_uuid_index: u8 = 56, u32[0..=6];
    }

    /// Get Log Page (Base 5.16).
    pub struct GetLogPage = AdminOpcode::GET_LOG_PAGE => {
        /// Log Page Identifier (LID), see [`crate::log::LogId`].
        lid / set_lid: u8 = 40;
        /// Log Specific Field (LSP).
        log_specific / set_log_specific: u8 = 40, u32[8..=14];
        /// Retain Asynchronous Event (RAE).
        retain_event / set_retain_event: bool = 40, u32[15..=15];
        /// Number of Dwords Lower (NUMDL); see [`GetLogPage::dwords`].
        dwords_low / set_dwords_low: u16 = 42;
        /// Number of Dwords Upper (NUMDU).
        dwords_high / set_dwords_high: u16 = 44;
        /// Log Specific Identifier (LSI).
        log_specific_id / set_log_specific_id: u16 = 46;
        /// Log Page Offset (LPOL and LPOU) in bytes.
        offset / set_offset: u64 = 48;
        /// UUID Index.
        uuid_index / set_uuid_index: u8 = 56, u32[0..=6];
        /// Offset Type (OT): the offset counts entries instead of bytes.
        offset_counts_entries / set_offset_counts_entries: bool = 56, u32[23..=23];
        /// Command Set Identifier (CSI).
        csi / set_csi: u8 = 59;
    }

    /// Get Features (Base 5.15).
    pub struct GetFeatures = AdminOpcode::GET_FEATURES => {
        /// Feature Identifier (FID), see [`crate::feature::FeatureId`].
        fid / set_fid: u8 = 40;
        /// Select (SEL), see [`select`].
        select / set_select: u8 = 40, u32[8..=10];
        /// Command Dword 11, as the feature has it.
        value / set_value: u32 = 44;
        /// UUID Index.
        uuid_index / set_uuid_index: u8 = 56, u32[0..=6];
    }

    /// Set Features (Base 5.27).
    pub struct SetFeatures = AdminOpcode::SET_FEATURES => {
        /// Feature Identifier (FID), see [`crate::feature::FeatureId`].
        fid / set_fid: u8 = 40;
        /// Save (SV): keep it through power cycles and resets.
        save / set_save: bool = 40, u32[31..=31];
        /// Command Dword 11, as the feature has it.
        value / set_value: u32 = 44;
        /// UUID Index.
        uuid_index / set_uuid_index: u8 = 56, u32[0..=6];
    }

    /// Abort (Base 5.1).
    pub struct Abort = AdminOpcode::ABORT => {
        /// Submission Queue Identifier (SQID) of the command to be aborted.
        sqid / set_sqid: u16 = 40;
        /// Command Identifier of the command to be aborted.
        aborted_cid / set_aborted_cid: u16 = 42;
    }

    /// Asynchronous Event Request (Base 5.2).
    pub struct AsyncEventRequest = AdminOpcode::ASYNC_EVENT_REQUEST => {}

    /// Device Self-test (Base 5.9).
    pub struct DeviceSelfTest = AdminOpcode::DEVICE_SELF_TEST => {
        /// Self-test Code (STC), see [`SelfTestCode`].
        code / set_code: u8 = 40, u32[0..=3];
    }

    /// Format NVM (Base 5.14).
    pub struct FormatNvm = AdminOpcode::FORMAT_NVM => {
        /// LBA Format Lower (LBAFL); see [`FormatNvm::lba_format`].
        lba_format_low / set_lba_format_low: u8 = 40, u32[0..=3];
        /// Metadata Settings (MSET): as part of an extended logical block.
        extended_metadata / set_extended_metadata: bool = 40, u32[4..=4];
        /// Protection Information (PI).
        protection / set_protection: u8 = 40, u32[5..=7];
        /// Protection Information Location (PIL): first.
        protection_first / set_protection_first: bool = 40, u32[8..=8];
        /// Secure Erase Settings (SES), see [`SecureErase`].
        secure_erase / set_secure_erase: u8 = 40, u32[9..=11];
        /// LBA Format Upper (LBAFU).
        lba_format_high / set_lba_format_high: u8 = 40, u32[12..=13];
    }

    /// Sanitize (Base 5.24).
    pub struct Sanitize = AdminOpcode::SANITIZE => {
        /// Sanitize Action (SANACT), see [`SanitizeAction`].
        action / set_action: u8 = 40, u32[0..=2];
        /// Allow Unrestricted Sanitize Exit (AUSE).
        unrestricted_exit / set_unrestricted_exit: bool = 40, u32[3..=3];
        /// Overwrite Pass Count (OWPASS), 0 for 16.
        overwrite_passes / set_overwrite_passes: u8 = 40, u32[4..=7];
        /// Overwrite Invert Pattern Between Passes (OIPBP).
        invert_pattern / set_invert_pattern: bool = 40, u32[8..=8];
        /// No-Deallocate After Sanitize (NDAS).
        no_deallocate / set_no_deallocate: bool = 40, u32[9..=9];
        /// Overwrite Pattern (OVRPAT).
        pattern / set_pattern: u32 = 44;
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
        EXIT_MEDIA_VERIFICATION = 0x5, "Exit Media Verification State";
    }
}

/// Select (SEL) of Get Features (Base 5.15).
pub mod select {
    /// The current value.
    pub const CURRENT: u8 = 0;
    /// The value as shipped.
    pub const DEFAULT: u8 = 1;
    /// The saved value.
    pub const SAVED: u8 = 2;
    /// What can be done with the feature: bit 0 saveable, bit 1 per namespace, bit 2 changeable.
    pub const SUPPORTED: u8 = 3;
}

impl GetLogPage {
    /// A page's first `len_bytes` (rounded up to dwords, at least one) from `offset` on.
    pub fn of(lid: crate::log::LogId, offset: u64, len_bytes: u32) -> GetLogPage {
        let mut command = GetLogPage::new();
        let less_one = len_bytes.div_ceil(4).saturating_sub(1);
        command
            .set_lid(lid.0)
            .set_offset(offset)
            .set_dwords_low(less_one as u16)
            .set_dwords_high((less_one >> 16) as u16);
        command
    }

    /// How many dwords are asked for: Number of Dwords counts from 0.
    pub fn dwords(&self) -> u64 {
        (u64::from(self.dwords_high()) << 16 | u64::from(self.dwords_low())) + 1
    }
}

impl FormatNvm {
    /// The LBA format's index, of both halves.
    pub fn lba_format(&self) -> u8 {
        self.lba_format_high() << 4 | self.lba_format_low()
    }

    /// Sets both halves of the LBA format's index.
    pub fn set_lba_format(&mut self, index: u8) -> &mut FormatNvm {
        self.set_lba_format_low(index & 15)
            .set_lba_format_high(index >> 4)
    }
}
