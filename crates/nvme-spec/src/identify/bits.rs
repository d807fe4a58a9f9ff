//! Bits of the Identify Controller data structure (Base 5.17.2.1).

use assay_units::constants;

constants! {
    /// Bits of CMIC (Controller Multi-Path I/O and Namespace Sharing Capabilities).
    pub mod cmic: u8 {
        PORTS = 1 << 0, "The subsystem has, or may have, several ports.";
        CONTROLLERS = 1 << 1, "The subsystem has, or may have, several controllers.";
        VIRTUAL_FUNCTION = 1 << 2, "The controller is an SR-IOV virtual function.";
    }

    /// Bits of CTRATT (Controller Attributes; Base 2.1, figure of Identify Controller).
    pub mod ctratt: u32 {
        ENDURANCE_GROUPS = 1 << 4, "Endurance Groups.";
        FLEXIBLE_DATA_PLACEMENT = 1 << 19, "Flexible Data Placement (FDPS).";
    }

    /// Bits of OAES (Optional Asynchronous Events Supported).
    pub mod oaes: u32 {
        NAMESPACE_ATTRIBUTES = 1 << 8, "Namespace Attribute Notices.";
    }

    /// Bits of OACS (Optional Admin Command Support).
    pub mod oacs: u16 {
        SECURITY = 1 << 0, "Security Send and Receive.";
        FORMAT = 1 << 1, "Format NVM.";
        FIRMWARE = 1 << 2, "Firmware Commit and Image Download.";
        NAMESPACES = 1 << 3, "Namespace Management and Attachment.";
        SELF_TEST = 1 << 4, "Device Self-test.";
    }

    /// Bits of ONCS (Optional NVM Command Support).
    pub mod oncs: u16 {
        COMPARE = 1 << 0, "Compare.";
        WRITE_UNCORRECTABLE = 1 << 1, "Write Uncorrectable.";
        DATASET_MANAGEMENT = 1 << 2, "Dataset Management.";
        WRITE_ZEROES = 1 << 3, "Write Zeroes.";
        SAVE_FEATURES = 1 << 4, "Save of Set Features and Select of Get Features.";
        TIMESTAMP = 1 << 6, "Timestamp.";
        VERIFY = 1 << 7, "Verify.";
        COPY = 1 << 8, "Copy.";
    }

    /// Bits of LPA (Log Page Attributes).
    pub mod lpa: u8 {
        COMMAND_EFFECTS = 1 << 1, "Commands Supported and Effects.";
        EXTENDED_DATA = 1 << 2, "Extended data: offsets, and lengths of 32 bits.";
        TELEMETRY = 1 << 3, "Telemetry.";
    }

    /// Bits of SANICAP (Sanitize Capabilities).
    pub mod sanicap: u32 {
        CRYPTO_ERASE = 1 << 0, "Crypto Erase.";
        BLOCK_ERASE = 1 << 1, "Block Erase.";
        OVERWRITE = 1 << 2, "Overwrite.";
        NO_DEALLOCATE_INHIBITED = 1 << 29, "No-Deallocate After Sanitize is rejected.";
    }

    /// Bits of SGLS (SGL Support).
    pub mod sgls: u32 {
        SUPPORTED = 1 << 0, "SGLs, without requirements of alignment or granularity.";
        BIT_BUCKET = 1 << 16, "Bit Bucket descriptors.";
        LONGER = 1 << 18, "SGLs may be longer than the data.";
        OFFSET = 1 << 20, "Data Block descriptors with an offset: in-capsule data.";
        TRANSPORT = 1 << 21, "Transport SGL Data Block descriptors.";
    }
}
