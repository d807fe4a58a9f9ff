//! Data pages that a simulated drive regenerates instead of storing them.

use std::fmt::Debug;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// What all pages of one writer have in common; opaque to the drive.
pub type Family = [u64; 2];

/// Regenerates pages from a family and a serial number.
pub trait PageGenerator: Debug + Send + Sync {
    /// Family and serial number that this page at `offset` claims to have. The drive compares the
    /// regenerated page byte by byte, so a wrong answer costs only time.
    fn recognise(&self, offset: u64, page: &[u8; PAGE_BYTES]) -> Option<(Family, u32)>;

    /// Generates a page; must not panic on an unknown family.
    fn generate(&self, family: Family, serial: u32, offset: u64, page: &mut [u8; PAGE_BYTES]);
}
