//! Queue entries (Base 3.3.3).

use crate::data_pointer::SglDescriptor;
use crate::status::StatusCode;
use crate::wire::{Wire, wire};

wire! {
    /// Submission queue entry (Base 3.3.3.1). [`crate::admin`] and [`crate::nvm`] have views per
    /// command.
    pub struct SubmissionEntry[64] {
        opcode / set_opcode: u8 = 0, "Opcode (OPC), see [`crate::opcode`].";
        fused / set_fused: u8 = 1, u8[0..=1], "Fused Operation (FUSE): 0 for a normal operation.";
        /// PRP or SGL for Data Transfer (PSDT): 0 for PRPs, 1 for SGLs with a contiguous metadata
        /// buffer, 2 for SGLs with a metadata SGL.
        psdt / set_psdt: u8 = 1, u8[6..=7];
        cid / set_cid: u16 = 2,
            "Command Identifier (CID), unique among the commands outstanding in its queue.";
        nsid / set_nsid: u32 = 4, "Namespace Identifier (NSID).";
        cdw2 / set_cdw2: u32 = 8, "Command Dword 2.";
        cdw3 / set_cdw3: u32 = 12, "Command Dword 3.";
        prp1 / set_prp1: u64 = 24, "PRP Entry 1 (PRP1), a byte address in host memory.";
        prp2 / set_prp2: u64 = 32, "PRP Entry 2 (PRP2): second page, or PRP list.";
        cdw10 / set_cdw10: u32 = 40, "Command Dword 10.";
        cdw11 / set_cdw11: u32 = 44, "Command Dword 11.";
        cdw12 / set_cdw12: u32 = 48, "Command Dword 12.";
        cdw13 / set_cdw13: u32 = 52, "Command Dword 13.";
        cdw14 / set_cdw14: u32 = 56, "Command Dword 14.";
        cdw15 / set_cdw15: u32 = 60, "Command Dword 15.";
    }

    /// Completion queue entry (Base 3.3.3.2).
    pub struct CompletionEntry[16] {
        dw0 / set_dw0: u32 = 0, "Command Specific, dword 0.";
        dw1 / set_dw1: u32 = 4, "Command Specific, dword 1.";
        sq_head / set_sq_head: u16 = 8,
            "SQ Head Pointer (SQHD): the host may reuse the entries before it.";
        sqid / set_sqid: u16 = 10, "SQ Identifier (SQID).";
        cid / set_cid: u16 = 12, "Command Identifier (CID).";
        phase / set_phase: bool = 14, u16[0..=0],
            "Phase Tag (P): inverted on each wrap of the queue, to identify new entries.";
        sc / set_sc: u8 = 14, u16[1..=8], "Status Code (SC).";
        sct / set_sct: u8 = 14, u16[9..=11], "Status Code Type (SCT).";
        more / set_more: bool = 14, u16[14..=14], "More (M): the error log has an entry for it.";
        do_not_retry / set_do_not_retry: bool = 14, u16[15..=15],
            "Do Not Retry (DNR): a retry would fail.";
    }
}

impl SubmissionEntry {
    /// SGL descriptor (SGL1), which replaces both PRP entries.
    #[inline]
    pub fn sgl1(&self) -> SglDescriptor {
        SglDescriptor::load(&self.as_bytes()[24..40])
    }

    /// Sets the SGL descriptor, and PSDT to SGL.
    pub fn set_sgl1(&mut self, descriptor: SglDescriptor) -> &mut SubmissionEntry {
        descriptor.store(&mut self.as_bytes_mut()[24..40]);
        self.set_psdt(1)
    }

    /// Sets both PRP entries, and PSDT to PRP.
    pub fn set_prps(&mut self, prp1: u64, prp2: u64) -> &mut SubmissionEntry {
        self.set_prp1(prp1).set_prp2(prp2).set_psdt(0)
    }
}

impl CompletionEntry {
    /// Status code type and status code.
    #[inline]
    pub fn status(&self) -> StatusCode {
        StatusCode::new(self.sct(), self.sc())
    }

    /// Sets status code type and status code.
    #[inline]
    pub fn set_status(&mut self, status: StatusCode) -> &mut CompletionEntry {
        self.set_sct(status.sct()).set_sc(status.sc())
    }

    /// The 16-bit status field with the phase tag in bit 0, as in the error log (Base 5.16.1.2).
    pub fn status_field(&self) -> u16 {
        u16::load(&self.as_bytes()[14..])
    }
}
