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

/// The senses of a die that have not ended.
#[derive(Clone, Debug, Default)]
struct PendingSenses {
    /// The latest end of all.
    latest_ns: u64,
    /// A bit per hash of a page: most random reads find here that no sense serves them.
    hashes: u64,
    /// Page and end of its sense, in the order in which they were begun.
    senses: Vec<(u64, u64)>,
}

impl PendingSenses {
    fn hash(page: u64) -> u64 {
        1 << (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
    }

    /// Forget what has ended by the model time `now_ns`: no later read is issued before it.
    fn forget(&mut self, now_ns: u64) {
        self.senses.retain(|&(_, sensed_ns)| sensed_ns >= now_ns);
        self.hashes = self.senses.iter().fold(0, |all, &(page, _)| all | PendingSenses::hash(page));
    }
}

#[derive(Clone, Debug)]
pub(super) struct JointReads {
    dies: Vec<PendingSenses>,
}

impl JointReads {
    pub(super) fn new(dies: usize) -> JointReads {
        JointReads { dies: vec![PendingSenses::default(); dies] }
    }

    pub(super) fn begin(&mut self, now_ns: u64, die: u32, page: u64, sensed_ns: u64) {
        let pending = &mut self.dies[die as usize];
        if pending.latest_ns < now_ns || pending.senses.len() == pending.senses.capacity() {
            pending.forget(now_ns);
        }
        pending.latest_ns = pending.latest_ns.max(sensed_ns);
        pending.hashes |= PendingSenses::hash(page);
        pending.senses.push((page, sensed_ns));
    }

    /// When the page is in its register, if a sense of it has not ended by `issue_ns`.
    #[inline]
    fn ends_ns(&self, die: u32, page: u64, issue_ns: u64) -> Option<u64> {
        let pending = &self.dies[die as usize];
        if pending.latest_ns < issue_ns || pending.hashes & PendingSenses::hash(page) == 0 {
            return None;
        }
        let newest = pending.senses.iter().rev().find(|&&(pending, _)| pending == page);
        newest.map(|&(_, sensed_ns)| sensed_ns).filter(|&sensed_ns| sensed_ns >= issue_ns)
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
        let sensed_ns =
            joint.ends_ns(sense.die, sense.page_address(self.page_sectors), issue_ns)?;
        let transfer_ns = self.transfer_ns(sectors);
        let channel = &mut self.channels[usize::from(self.channel_of[sense.die as usize])];
        Some(channel.reserve(now_ns, sensed_ns, transfer_ns))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/joint.rs"]
mod tests;
