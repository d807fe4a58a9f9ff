//! Vendor-specific log pages with endurance counters, of published layouts. A page has no
//! identifier of its layout, so it is compared with the standard's health log before use. Bytes
//! that do not fit the layout give `None`.

use super::LogId;
use crate::wire::{Wire, wire};

/// PCI vendor identifiers of drives with [`IntelSmartLog`]: Intel and Solidigm.
const INTEL: [u16; 2] = [0x8086, 0x025e];
/// PCI vendor identifiers of drives with [`WdcStatisticsLog`]: Western Digital and its SanDisk.
const WDC: [u16; 2] = [0x1b96, 0x15b7];
/// Unit of the byte counters of [`IntelSmartLog`].
const INTEL_UNIT_BYTES: u64 = 32 << 20;

wire! {
    /// An attribute of [`IntelSmartLog`].
    pub struct IntelSmartItem[12] {
        key / set_key: u8 = 0, "Attribute.";
        normalized / set_normalized: u8 = 3, "Normalised value.";
        raw / set_raw: [u8; 6] = 5, "Raw value, least significant byte first.";
    }

    /// Additional SMART Attributes, log CAh of Intel and Solidigm (Intel SSD DC P3700 Series,
    /// Product Specification, "Additional SMART Attributes"; Solidigm, "SSD Data Center Family
    /// SMART Attributes"). Attributes are found by their key.
    pub struct IntelSmartLog[512] {
        items / set_items: [IntelSmartItem; 42] = 0, "Attributes.";
    }

    /// Device statistics, log CAh of Western Digital (nvme-wdc-vs-smart-add-log(1) of nvme-cli
    /// names the fields).
    pub struct WdcStatisticsLog[512] {
        media_bytes_written / set_media_bytes_written: u128 = 0, "NAND Bytes Written.";
        media_bytes_read / set_media_bytes_read: u128 = 16, "NAND Bytes Read.";
        bad_blocks / set_bad_blocks: u64 = 32, u64[16..=63], "NAND Bad Block Count, raw.";
        max_erases / set_max_erases: u32 = 65, "User Data Erase Counts, maximum.";
        min_erases / set_min_erases: u32 = 69, "User Data Erase Counts, minimum.";
        reserved / set_reserved: [[u8; 8]; 49] = 120, "Reserved, zeroes.";
    }
}

impl IntelSmartLog {
    /// Wear Levelling Count: least, most and mean erases, 16 bits each.
    pub const WEAR: u8 = 0xad;
    /// NAND Bytes Written, units of 32 MiB.
    pub const MEDIA_WRITTEN: u8 = 0xf4;
    /// Host Bytes Written, units of 32 MiB.
    pub const HOST_WRITTEN: u8 = 0xf5;

    /// Raw value of an attribute; `None` where it occurs not exactly once.
    pub fn raw(&self, key: u8) -> Option<[u8; 6]> {
        let items = self.items();
        let mut found = items.iter().filter(|item| item.key() == key);
        let item = found.next()?;
        found.next().is_none().then(|| item.raw())
    }

    fn number(&self, key: u8) -> Option<u64> {
        let [a, b, c, d, e, f] = self.raw(key)?;
        Some(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }
}

/// A vendor-specific log with endurance counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendorLog {
    /// [`IntelSmartLog`].
    Intel,
    /// [`WdcStatisticsLog`].
    Wdc,
}

/// Counters of a [`VendorLog`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VendorCounters {
    /// Written to the media, bytes.
    pub media_written_bytes: u64,
    /// Step of that counter, bytes.
    pub media_unit_bytes: u64,
    /// Written by the host, bytes, in the same steps; none where the log does not have it.
    pub host_written_bytes: Option<u64>,
    /// Read from the media, bytes.
    pub media_read_bytes: Option<u64>,
    /// Least and most erases of a block of user data.
    pub erases: Option<(u32, u32)>,
    /// Mean erases.
    pub mean_erases: Option<u32>,
    /// Bad blocks.
    pub bad_blocks: Option<u64>,
}

impl VendorLog {
    /// Bytes of a page.
    pub const BYTES: usize = 512;

    /// The log of a vendor's drives, by PCI vendor identifier; that a drive is of this vendor does
    /// not mean that it has the log.
    pub fn of_vendor(vendor_id: u16) -> Option<VendorLog> {
        if INTEL.contains(&vendor_id) {
            Some(VendorLog::Intel)
        } else if WDC.contains(&vendor_id) {
            Some(VendorLog::Wdc)
        } else {
            None
        }
    }

    /// Its identifier.
    pub fn id(self) -> LogId {
        LogId::VENDOR_CA
    }

    /// The counters of a page; `None` where its bytes do not fit the layout or exceed 64 bits.
    pub fn counters(self, page: &[u8; VendorLog::BYTES]) -> Option<VendorCounters> {
        match self {
            VendorLog::Intel => intel(&IntelSmartLog::load(page)),
            VendorLog::Wdc => wdc(&WdcStatisticsLog::load(page)),
        }
    }
}

fn intel(log: &IntelSmartLog) -> Option<VendorCounters> {
    let bytes = |key: u8| log.number(key)?.checked_mul(INTEL_UNIT_BYTES);
    let wear = log.raw(IntelSmartLog::WEAR).map(|[a, b, c, d, e, f]| {
        [[a, b], [c, d], [e, f]].map(|pair| u32::from(u16::from_le_bytes(pair)))
    });
    let wear = wear.filter(|[least, most, mean]| least <= mean && mean <= most);
    Some(VendorCounters {
        media_written_bytes: bytes(IntelSmartLog::MEDIA_WRITTEN)?,
        media_unit_bytes: INTEL_UNIT_BYTES,
        host_written_bytes: Some(bytes(IntelSmartLog::HOST_WRITTEN)?),
        erases: wear.map(|[least, most, _]| (least, most)),
        mean_erases: wear.map(|[.., mean]| mean),
        ..VendorCounters::default()
    })
}

fn wdc(log: &WdcStatisticsLog) -> Option<VendorCounters> {
    let is_reserved = log.reserved().as_flattened().iter().all(|&byte| byte == 0);
    let (least, most) = (log.min_erases(), log.max_erases());
    (is_reserved && least <= most).then_some(())?;
    Some(VendorCounters {
        media_written_bytes: u64::try_from(log.media_bytes_written()).ok()?,
        media_unit_bytes: 1,
        host_written_bytes: None,
        media_read_bytes: Some(u64::try_from(log.media_bytes_read()).ok()?),
        erases: Some((least, most)),
        mean_erases: None,
        bad_blocks: Some(log.bad_blocks()),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/vendor.rs"]
mod tests;
