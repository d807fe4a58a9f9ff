//! Huge pages for the tables of a simulated drive.

use assay_io::memory::prefer_huge_pages;

/// Have the kernel use huge pages for the tables of a simulated drive, all of whose accesses are at random places.
pub fn prefer_huge_tables(drive: &assay_ssd::Drive) {
    if let Some(tables) = drive.tables() {
        prefer_huge_pages(tables.l2p);
        prefer_huge_pages(tables.p2l);
        prefer_huge_pages(tables.stale);
    }
}
