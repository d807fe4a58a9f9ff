//! Bits of the Identify Controller data structure (Base 5.17.2.1).

/// Bits of CMIC (Controller Multi-Path I/O and Namespace Sharing Capabilities).
pub mod cmic {
    /// The subsystem has, or may have, several ports.
    pub const PORTS: u8 = 1 << 0;
    /// The subsystem has, or may have, several controllers.
    pub const CONTROLLERS: u8 = 1 << 1;
    /// The controller is an SR-IOV virtual function: another one is beside it.
    pub const VIRTUAL_FUNCTION: u8 = 1 << 2;
}

/// Bits of OACS (Optional Admin Command Support).
pub mod oacs {
    /// Security Send and Receive.
    pub const SECURITY: u16 = 1 << 0;
    /// Format NVM.
    pub const FORMAT: u16 = 1 << 1;
    /// Firmware Commit and Image Download.
    pub const FIRMWARE: u16 = 1 << 2;
    /// Namespace Management and Attachment.
    pub const NAMESPACES: u16 = 1 << 3;
    /// Device Self-test.
    pub const SELF_TEST: u16 = 1 << 4;
}

/// Bits of ONCS (Optional NVM Command Support).
pub mod oncs {
    /// Compare.
    pub const COMPARE: u16 = 1 << 0;
    /// Write Uncorrectable.
    pub const WRITE_UNCORRECTABLE: u16 = 1 << 1;
    /// Dataset Management.
    pub const DATASET_MANAGEMENT: u16 = 1 << 2;
    /// Write Zeroes.
    pub const WRITE_ZEROES: u16 = 1 << 3;
    /// Save of Set Features and Select of Get Features.
    pub const SAVE_FEATURES: u16 = 1 << 4;
    /// Timestamp.
    pub const TIMESTAMP: u16 = 1 << 6;
    /// Verify.
    pub const VERIFY: u16 = 1 << 7;
    /// Copy.
    pub const COPY: u16 = 1 << 8;
}

/// Bits of LPA (Log Page Attributes).
pub mod lpa {
    /// SMART / Health per namespace.
    pub const SMART_PER_NAMESPACE: u8 = 1 << 0;
    /// Commands Supported and Effects.
    pub const COMMAND_EFFECTS: u8 = 1 << 1;
    /// Extended data: offsets, and lengths of 32 bits.
    pub const EXTENDED_DATA: u8 = 1 << 2;
    /// Telemetry.
    pub const TELEMETRY: u8 = 1 << 3;
}

/// Bits of SANICAP (Sanitize Capabilities).
pub mod sanicap {
    /// Crypto Erase.
    pub const CRYPTO_ERASE: u32 = 1 << 0;
    /// Block Erase.
    pub const BLOCK_ERASE: u32 = 1 << 1;
    /// Overwrite.
    pub const OVERWRITE: u32 = 1 << 2;
    /// No-Deallocate After Sanitize is refused.
    pub const NO_DEALLOCATE_INHIBITED: u32 = 1 << 29;
}

/// Bits of SGLS (SGL Support).
pub mod sgls {
    /// SGLs, without requirements of alignment or granularity.
    pub const SUPPORTED: u32 = 1 << 0;
    /// Keyed SGL Data Block descriptors.
    pub const KEYED: u32 = 1 << 2;
    /// Bit Bucket descriptors.
    pub const BIT_BUCKET: u32 = 1 << 16;
    /// SGLs longer than the data.
    pub const LONGER: u32 = 1 << 18;
}
