//! Data pointers: physical region pages and scatter-gather lists (Base 4.1).

use crate::wire::{codes, wire};

/// Bytes of one PRP entry in a list (Base 4.1.1).
pub const PRP_ENTRY_BYTES: u64 = 8;

codes! {
    /// SGL Descriptor Type (Base 4.1.2.1).
    pub struct SglType(u8) {
        DATA_BLOCK = 0x0, "SGL Data Block descriptor";
        BIT_BUCKET = 0x1, "SGL Bit Bucket descriptor";
        SEGMENT = 0x2, "SGL Segment descriptor";
        LAST_SEGMENT = 0x3, "SGL Last Segment descriptor";
        KEYED_DATA_BLOCK = 0x4, "Keyed SGL Data Block descriptor";
        TRANSPORT_DATA_BLOCK = 0x5, "Transport SGL Data Block descriptor";
        VENDOR = 0xf, "Vendor Specific";
    }
}

wire! {
    /// SGL descriptor (Base 4.1.2.1).
    pub struct SglDescriptor[16] {
        address / set_address: u64 = 0, "Address: of data, or of the next segment.";
        length / set_length: u32 = 8,
            "Length in bytes: of data, or of the next segment (a multiple of 16).";
        sub_type / set_sub_type: u8 = 15, u8[0..=3],
            "Sub Type: 0 for an address, 1 an offset, Ah the transport.";
        kind / set_kind: u8 = 15, u8[4..=7], "Type, see [`SglType`].";
    }
}

impl SglDescriptor {
    /// Descriptor with an address.
    pub fn new(kind: SglType, address: u64, length: u32) -> SglDescriptor {
        let mut descriptor = SglDescriptor::default();
        descriptor.set_kind(kind.0).set_address(address).set_length(length);
        descriptor
    }

    /// Type of the descriptor.
    pub fn sgl_type(&self) -> SglType {
        SglType(self.kind())
    }
}
