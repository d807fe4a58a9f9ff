//! Controller registers (Base 3.1.3) and doorbells (NVMe over PCIe Transport 1.0c, section 3.1.2).

use assay_units::constants;

use crate::wire::wire;

pub use offset::*;

/// The first doorbell: Submission Queue 0 Tail.
pub const DOORBELLS: u64 = 0x1000;

/// Offset of a submission queue's tail doorbell, with the doorbell stride of CAP.DSTRD.
pub const fn sq_doorbell(qid: u16, stride: u8) -> u64 {
    DOORBELLS + 2 * qid as u64 * (4 << stride)
}

/// Offset of a completion queue's head doorbell, with the doorbell stride of CAP.DSTRD.
pub const fn cq_doorbell(qid: u16, stride: u8) -> u64 {
    DOORBELLS + (2 * qid as u64 + 1) * (4 << stride)
}

wire! {
    /// Controller Capabilities (Base 3.1.3.1).
    pub struct Capabilities[8] as u64 {
        mqes / set_mqes: u16 = 0, "Maximum Queue Entries Supported (MQES), less one.";
        contiguous_queues / set_contiguous_queues: bool = 0, u64[16..=16],
            "Contiguous Queues Required (CQR).";
        /// Arbitration Mechanism Supported (AMS): bit 0 weighted round robin with urgent class, bit
        /// 1 vendor specific.
        ams / set_ams: u8 = 0, u64[17..=18];
        timeout / set_timeout: u8 = 0, u64[24..=31],
            "Timeout (TO): the longest wait for CSTS.RDY, in units of 500 ms.";
        doorbell_stride / set_doorbell_stride: u8 = 0, u64[32..=35],
            "Doorbell Stride (DSTRD): doorbells are 4 << this bytes apart.";
        subsystem_reset / set_subsystem_reset: bool = 0, u64[36..=36],
            "NVM Subsystem Reset Supported (NSSRS).";
        css / set_css: u8 = 0, u64[37..=44],
            "Command Sets Supported (CSS): bit 0 NVM, bit 6 one or more I/O command \
             sets, bit 7 none.";
        mps_min / set_mps_min: u8 = 0, u64[48..=51],
            "Memory Page Size Minimum (MPSMIN): 2^(12 + this) bytes.";
        mps_max / set_mps_max: u8 = 0, u64[52..=55],
            "Memory Page Size Maximum (MPSMAX): 2^(12 + this) bytes.";
        memory_buffer / set_memory_buffer: bool = 0, u64[57..=57],
            "Controller Memory Buffer Supported (CMBS).";
    }

    /// Version (Base 3.1.3.2).
    pub struct Version[4] as u32 {
        tertiary / set_tertiary: u8 = 0, "Tertiary Version Number (TER).";
        minor / set_minor: u8 = 1, "Minor Version Number (MNR).";
        major / set_major: u16 = 2, "Major Version Number (MJR).";
    }

    /// Controller Configuration (Base 3.1.3.5).
    pub struct Configuration[4] as u32 {
        enable / set_enable: bool = 0, u32[0..=0], "Enable (EN).";
        css / set_css: u8 = 0, u32[4..=6],
            "I/O Command Set Selected (CSS): 0 NVM, 6 all supported ones, 7 admin only.";
        mps / set_mps: u8 = 0, u32[7..=10], "Memory Page Size (MPS): 2^(12 + this) bytes.";
        ams / set_ams: u8 = 0, u32[11..=13], "Arbitration Mechanism Selected (AMS): 0 round robin.";
        shutdown / set_shutdown: u8 = 0, u32[14..=15],
            "Shutdown Notification (SHN): 1 normal, 2 abrupt.";
        io_sq_entry_size / set_io_sq_entry_size: u8 = 0, u32[16..=19],
            "I/O Submission Queue Entry Size (IOSQES) as a power of two: 6.";
        io_cq_entry_size / set_io_cq_entry_size: u8 = 0, u32[20..=23],
            "I/O Completion Queue Entry Size (IOCQES) as a power of two: 4.";
    }

    /// Controller Status (Base 3.1.3.6).
    pub struct ControllerStatus[4] as u32 {
        ready / set_ready: bool = 0, u32[0..=0], "Ready (RDY).";
        fatal / set_fatal: bool = 0, u32[1..=1], "Controller Fatal Status (CFS).";
        shutdown / set_shutdown: u8 = 0, u32[2..=3],
            "Shutdown Status (SHST): 0 normal, 1 in progress, 2 complete.";
        subsystem_reset / set_subsystem_reset: bool = 0, u32[4..=4],
            "NVM Subsystem Reset Occurred (NSSRO).";
        paused / set_paused: bool = 0, u32[5..=5], "Processing Paused (PP).";
    }

    /// Admin Queue Attributes (Base 3.1.3.8).
    pub struct AdminQueueAttributes[4] as u32 {
        sq_size / set_sq_size: u16 = 0, u32[0..=11],
            "Admin Submission Queue Size (ASQS), less one.";
        cq_size / set_cq_size: u16 = 0, u32[16..=27],
            "Admin Completion Queue Size (ACQS), less one.";
    }
}

constants! {
    /// Offsets of the registers.
    pub mod offset: u64 {
        CAP = 0x00, "Controller Capabilities (CAP), 8 bytes.";
        VS = 0x08, "Version (VS), 4 bytes.";
        INTMS = 0x0c, "Interrupt Mask Set (INTMS), 4 bytes.";
        INTMC = 0x10, "Interrupt Mask Clear (INTMC), 4 bytes.";
        CC = 0x14, "Controller Configuration (CC), 4 bytes.";
        CSTS = 0x1c, "Controller Status (CSTS), 4 bytes.";
        AQA = 0x24, "Admin Queue Attributes (AQA), 4 bytes.";
        ASQ = 0x28, "Admin Submission Queue Base Address (ASQ), 8 bytes.";
        ACQ = 0x30, "Admin Completion Queue Base Address (ACQ), 8 bytes.";
    }

    /// Shutdown Status (CSTS.SHST).
    pub mod shutdown_status: u8 {
        NORMAL = 0, "Normal operation, no shutdown requested.";
        OCCURRING = 1, "Shutdown processing is in progress.";
        COMPLETE = 2, "Shutdown processing is complete: power may be removed.";
    }
}

impl Version {
    /// Parses `"1.4"` or `"1.2.1"`.
    pub fn parse(text: &str) -> Option<Version> {
        let mut parts = text.split('.');
        let mut version = Version::default();
        version.set_major(parts.next()?.parse().ok()?);
        version.set_minor(parts.next()?.parse().ok()?);
        if let Some(tertiary) = parts.next() {
            version.set_tertiary(tertiary.parse().ok()?);
        }
        parts.next().is_none().then_some(version)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())?;
        if self.tertiary() > 0 {
            write!(f, ".{}", self.tertiary())?;
        }
        Ok(())
    }
}
