use super::classify::{Damage, damage};
use super::header::HeaderClaim;
use super::{BlockHeader, MAGIC, MAX_COUNTED_FLIPS, Verifier, check_interval};
use crate::data::DataPattern;
use crate::finding::{Expected, Finding, FindingKind, Unjudged, VerifyReport};
use assay_units::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;
/// Blocks with a damaged header that are kept until an intact block says what they are.
const MOST_UNKNOWN: usize = 16;
/// As much of each is kept; a longer one is judged only behind an intact one.
const UNKNOWN_BYTES: usize = 64 << 10;

/// Checks blocks that other jobs wrote, each by its own header: any seed, pattern and length. What
/// no verifying job wrote, and what was overwritten since, is not judged.
#[derive(Clone, Debug)]
pub struct BlockReader {
    /// The only seed that is judged; `None` for all.
    wanted_seed: Option<u64>,
    /// Unit in which bytes without a header are counted.
    unit_bytes: u32,
    /// Of the last intact block: blocks with a damaged header are compared with it.
    last: Option<(u64, DataPattern, u32)>,
    /// What begins as a block does and is none of what was known so far: offset and bytes. Counted
    /// as not judged.
    unknown: Vec<(u64, Vec<u8>)>,
}

impl BlockReader {
    pub fn new(wanted_seed: Option<u64>, unit_bytes: u32) -> BlockReader {
        BlockReader { wanted_seed, unit_bytes, last: None, unknown: Vec::new() }
    }

    /// Check the bytes that were read from `offset_bytes`.
    pub fn check(&mut self, buffer: &[u8], offset_bytes: u64, report: &mut VerifyReport) {
        let mut at = 0;
        while at < buffer.len() {
            let here = offset_bytes + at as u64;
            at += self.check_first(&buffer[at..], here, report);
        }
    }

    /// Check the block at the start of the bytes; returns how many of them are accounted for.
    #[inline]
    fn check_first(&mut self, rest: &[u8], here: u64, report: &mut VerifyReport) -> usize {
        let header = BlockHeader::decode(rest);
        let Some(header) = header.filter(|h| check_interval(h.len_bytes).is_ok()) else {
            return self.check_without_header(rest, here, report);
        };
        let unjudged = if self.wanted_seed.is_some_and(|seed| seed != header.seed) {
            Unjudged::OtherJob
        } else if header.len_bytes as usize > rest.len() {
            Unjudged::LongerThanRead
        } else {
            let block = &rest[..header.len_bytes as usize];
            if self.check_block(&header, block, here, report) {
                return block.len();
            }
            Unjudged::PartlyOverwritten
        };
        report.add_unjudged(unjudged, 1);
        self.unit(rest, here)
    }

    /// Whether the block is intact or a finding.
    #[inline]
    fn check_block(
        &mut self,
        header: &BlockHeader,
        block: &[u8],
        here: u64,
        report: &mut VerifyReport,
    ) -> bool {
        let (seed, is_here) = (header.seed, header.offset_bytes == here);
        let kind = match (header.describes(block), is_here) {
            (true, true) => {
                report.intact_blocks += 1;
                let last = (seed, header.pattern, header.len_bytes);
                if self.last != Some(last) {
                    report.add_seed(seed);
                    self.last = Some(last);
                    self.judge_unknown(report);
                }
                return true;
            }
            (true, false) => FindingKind::Misplaced {
                belongs_to_bytes: header.offset_bytes,
                found_generation: header.generation,
            },
            (false, true) => {
                match damage_of((seed, header.pattern, header.len_bytes), block, here) {
                    Some(Damage::Corrupt(kind)) => kind,
                    Some(Damage::Overwritten) | None => return false,
                }
            }
            (false, false) => return false,
        };
        let finding = Finding {
            kind,
            offset_bytes: here,
            len_bytes: header.len_bytes,
            expected: Expected::AnyGeneration,
        };
        match kind {
            FindingKind::Misplaced { .. } => report.push_displaced(seed, finding),
            _ => report.push(finding),
        }
        true
    }

    /// Judges blocks that could not be, now that there is an intact one to compare them with.
    #[cold]
    fn judge_unknown(&mut self, report: &mut VerifyReport) {
        let mut judged_to = 0;
        for (here, bytes) in std::mem::take(&mut self.unknown) {
            report.take_unjudged(Unjudged::OtherData);
            // Otherwise it is a part of the block before it.
            if here >= judged_to {
                judged_to = here + self.check_without_header(&bytes, here, report) as u64;
            }
        }
    }

    #[cold]
    fn check_without_header(&mut self, rest: &[u8], here: u64, report: &mut VerifyReport) -> usize {
        let unit = self.unit(rest, here);
        if rest[..unit].iter().all(|&byte| byte == 0) {
            report.add_unjudged(Unjudged::Zeroes, 1);
            return unit;
        }
        let claim = HeaderClaim::read(rest, MAX_COUNTED_FLIPS)
            .filter(|claim| claim.offset_bytes == here && check_interval(claim.len_bytes).is_ok())
            .and_then(|claim| Some((claim.seed, claim.pattern?, claim.len_bytes)));
        for block_of in [claim, self.last].into_iter().flatten() {
            let (seed, _, len_bytes) = block_of;
            let len = len_bytes as usize;
            let is_wanted = self.wanted_seed.is_none_or(|wanted| wanted == seed);
            if !is_wanted || len > rest.len() || !here.is_multiple_of(u64::from(len_bytes)) {
                continue;
            }
            match damage_of(block_of, &rest[..len], here) {
                Some(Damage::Corrupt(kind)) => {
                    report.push(Finding {
                        kind,
                        offset_bytes: here,
                        len_bytes,
                        expected: Expected::AnyGeneration,
                    });
                    return len;
                }
                Some(Damage::Overwritten) => {
                    report.add_unjudged(Unjudged::PartlyOverwritten, 1);
                    return unit;
                }
                None => {}
            }
        }
        report.add_unjudged(Unjudged::OtherData, 1);
        let begins_as_block = HeaderClaim::read(rest, MAX_COUNTED_FLIPS).is_some();
        if begins_as_block && self.unknown.len() < MOST_UNKNOWN {
            let kept = &rest[..rest.len().min(UNKNOWN_BYTES)];
            self.unknown.push((here, kept.to_vec()));
        }
        unit
    }

    /// Up to the end of the unit, or to a sector that begins as a block does.
    fn unit(&self, rest: &[u8], here: u64) -> usize {
        let unit = u64::from(self.unit_bytes.max(SECTOR as u32));
        let left = (unit - here % unit).min(rest.len() as u64) as usize;
        let mut sectors = (SECTOR..left).step_by(SECTOR);
        sectors.find(|&at| rest[at..].starts_with(&MAGIC)).unwrap_or(left)
    }
}

fn damage_of(block_of: (u64, DataPattern, u32), block: &[u8], here: u64) -> Option<Damage> {
    let (seed, pattern, len_bytes) = block_of;
    let verifier = Verifier::new(seed, len_bytes, pattern).ok()?;
    damage(&verifier, block, here)
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/reader.rs"]
mod tests;
