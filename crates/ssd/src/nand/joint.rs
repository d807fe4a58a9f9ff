//! Joint reads (`nand.joint_reads`): one sense of a page serves every read of it that comes before
//! the sense has ended.
//!
//! A die senses a page into its register, from which any part is then transferred. A controller
//! that sorts the reads that wait for a die by page senses once for all of them. So sequential
//! reads that are striped in parts of a page over the dies take a sense per page, not per part,
//! while random reads take one each: the two limits of a drive whose random reads of 4 and 8 KiB
//! have one rate in bytes and whose sequential reads have a higher one (the P4510 of 1 TB).
//!
//! # Non-goals
//! Reads that come when the sense has ended, and find the page still in its register.

use super::{Nand, Sense};

/// Pages with a sense that has not ended, of a plane: 128 commands of 128 KiB of several streams
/// have fewer.
const PENDING_PER_PLANE: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct JointReads {
    /// Page and end of its sense, by a hash of the page; a newer page replaces an older one.
    pending: Vec<(u64, u64)>,
}

impl JointReads {
    pub(super) fn new(planes: usize) -> JointReads {
        let slots = (planes * PENDING_PER_PLANE).next_power_of_two();
        JointReads { pending: vec![(u64::MAX, 0); slots] }
    }

    fn slot(&self, page: u64) -> usize {
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize & (self.pending.len() - 1)
    }

    pub(super) fn begin(&mut self, page: u64, sensed_ns: u64) {
        let slot = self.slot(page);
        self.pending[slot] = (page, sensed_ns);
    }

    /// When the page is in its register, if a sense of it has not ended by `issue_ns`.
    fn ends_ns(&self, page: u64, issue_ns: u64) -> Option<u64> {
        let (pending, sensed_ns) = self.pending[self.slot(page)];
        (pending == page && sensed_ns >= issue_ns).then_some(sensed_ns)
    }
}

impl Sense {
    /// Address of the page of one plane, or of all planes, that it senses.
    pub(super) fn page_address(&self, page_sectors: u32) -> u64 {
        let plane = (self.first_sector).map_or(0xff, |sector| sector / page_sectors);
        u64::from(self.group) << 16 | u64::from(self.page) << 8 | u64::from(plane)
    }
}

impl Nand {
    /// Returns when `sectors` sectors are in the controller where a sense that other reads wait for
    /// serves them, too.
    #[inline]
    pub fn join(&mut self, now_ns: u64, issue_ns: u64, sense: Sense, sectors: u32) -> Option<u64> {
        let joint = self.joint.as_ref()?;
        let sensed_ns = joint.ends_ns(sense.page_address(self.page_sectors), issue_ns)?;
        let transfer_ns = self.transfer_ns(sectors);
        let channel = &mut self.channels[usize::from(self.channel_of[sense.die as usize])];
        Some(channel.reserve(now_ns, sensed_ns, transfer_ns))
    }
}
