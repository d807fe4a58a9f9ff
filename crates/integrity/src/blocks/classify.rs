//! Where a block is not intact as a whole, each sector
//! is compared with the content that each candidate write would have left; payloads are keyed by
//! generation, so one sector identifies its write.

use assay_units::SECTOR_BYTES;

use super::header::{BlockHeader, HEADER_BYTES, HeaderClaim, differing_bits};
use super::map::{GENERATION_BITS, earlier_generation, is_older};
use super::{MAX_COUNTED_FLIPS, Verifier};
use crate::data::DataPattern;
use crate::finding::{Expected, FindingKind, FoundInstead};
use crate::mismatch::{self, MismatchClass, MismatchRun, OriginClass};

const SECTOR: usize = SECTOR_BYTES as usize;
/// Number of earlier (and, if only the seed is known, later) writes that are candidates.
const GENERATIONS_AROUND: u64 = 8;
/// Headers of other writes differ in 32 bits of the checksum alone (standard deviation 4).
const MAX_HEADER_FLIPS: u32 = 16;
/// Unrelated payloads differ in 50 % of their bits if incompressible, in 30 % with an alphabet of
/// 32 bytes, the smallest.
const MAX_SECTOR_FLIPS: u32 = SECTOR as u32;

/// The mismatch, or `None` when the block holds what it may hold.
#[cold]
pub(super) fn classify(
    verifier: &Verifier,
    block: &[u8],
    offset_bytes: u64,
    expected: Expected,
) -> Option<FindingKind> {
    let header = BlockHeader::decode(block);
    let intact = header.is_some_and(|header| header.describes(block));
    let ours = header.filter(|h| h.seed == verifier.seed);
    if let Some(header) = ours {
        if header.len_bytes != verifier.interval_bytes || header.pattern != verifier.payload.pattern
        {
            return lost(expected, FoundInstead::OtherLayout(header.len_bytes));
        }
        if header.offset_bytes != offset_bytes && (intact || expected == Expected::Unwritten) {
            return Some(FindingKind::Misplaced {
                belongs_to_bytes: header.offset_bytes,
                found_generation: header.generation,
            });
        }
        if header.offset_bytes == offset_bytes && intact {
            return by_generation(header.generation, expected);
        }
    }
    if expected == Expected::Unwritten {
        return None;
    }
    let here = ours.filter(|h| h.offset_bytes == offset_bytes);
    let case = SectorComparison {
        verifier,
        block,
        offset_bytes,
        expected,
        header_may_be_damaged: header.is_none() || here.is_some(),
    };
    if let Some(explained) = case.by_sectors(here) {
        return Some(explained);
    }
    let claims_to_be_here = HeaderClaim::read(block, MAX_COUNTED_FLIPS)
        .is_some_and(|claim| claim.seed == verifier.seed && claim.offset_bytes == offset_bytes);
    if claims_to_be_here {
        // Header of this block, but no candidate write explains the content.
        return Some(FindingKind::Corrupt {
            first_bad_byte: here.map_or(0, |_| HEADER_BYTES as u32),
            flipped_bits: None,
        });
    }
    match header.filter(|h| h.seed != verifier.seed) {
        Some(h) => lost(expected, FoundInstead::OtherSeed(h.seed)),
        None if block.iter().all(|&byte| byte == 0) => lost(expected, FoundInstead::Zeroes),
        None => lost(expected, FoundInstead::ForeignBytes),
    }
}

/// What became of a block that an earlier job wrote and that is not intact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Corrupt(FindingKind),
    /// Whole sectors are those of another write, which may be one that was interrupted, or another
    /// program's.
    Overwritten,
}

/// Of a block of the verifier's seed, pattern and length at this offset; `None` where it has no
/// trace of such a block.
#[cold]
pub(super) fn damage(verifier: &Verifier, block: &[u8], offset_bytes: u64) -> Option<Damage> {
    let header = BlockHeader::decode(block);
    let here = header.filter(|h| h.seed == verifier.seed && h.offset_bytes == offset_bytes);
    let case = SectorComparison {
        verifier,
        block,
        offset_bytes,
        expected: Expected::AnyGeneration,
        header_may_be_damaged: header.is_none() || here.is_some(),
    };
    case.damage(here)
}

/// An intact block of this seed and offset.
fn by_generation(found_generation: u64, expected: Expected) -> Option<FindingKind> {
    match expected {
        Expected::Generation(newest) if is_older(found_generation, newest) => {
            Some(FindingKind::Stale { found_generation })
        }
        Expected::Generation(newest) if found_generation != newest => {
            let instead = FoundInstead::FutureGeneration(found_generation);
            Some(FindingKind::Lost(instead))
        }
        _ => None,
    }
}

/// No trace of this job: a finding where it wrote the block.
fn lost(expected: Expected, instead: FoundInstead) -> Option<FindingKind> {
    matches!(expected, Expected::Generation(_)).then_some(FindingKind::Lost(instead))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Similarity {
    Exact,
    /// Close enough to come from that write; number of wrong bits.
    Near(u32),
    Foreign,
}

/// The index is meaningless for foreign sectors.
type SectorMatch = (Similarity, usize);

struct SectorComparison<'a> {
    verifier: &'a Verifier,
    block: &'a [u8],
    offset_bytes: u64,
    expected: Expected,
    /// A valid header of another seed or offset excludes damage, however similar.
    header_may_be_damaged: bool,
}

impl SectorComparison<'_> {
    fn is_keyed(&self) -> bool {
        self.verifier.payload.pattern != DataPattern::Zero
    }

    /// Generations that may have left a sector here, the likeliest and newest first.
    fn candidates(&self, header: Option<BlockHeader>) -> Vec<u64> {
        let back_from = |newest: u64| {
            (0..=GENERATIONS_AROUND).map_while(move |steps| earlier_generation(newest, steps))
        };
        let mut candidates: Vec<u64> = match (self.expected, header) {
            (Expected::Generation(newest) | Expected::WholeOrAbsent { newest }, _) => {
                back_from(newest).collect()
            }
            // The generation comes from the medium and may be any number.
            (_, Some(header)) => back_from(header.generation.saturating_add(GENERATIONS_AROUND))
                .chain(back_from(header.generation).skip(1))
                .collect(),
            (_, None) => {
                let claim = HeaderClaim::read(self.block, MAX_COUNTED_FLIPS);
                let claimed = claim.map(|claim| claim.generation).into_iter();
                let one_bit_off = claimed.clone().flat_map(|generation| {
                    (0..GENERATION_BITS).map(move |bit| generation ^ 1 << bit)
                });
                let unknown = back_from(GENERATIONS_AROUND);
                claimed.chain(one_bit_off).chain(unknown).collect()
            }
        };
        if let Some(header) = header
            && !candidates.contains(&header.generation)
        {
            candidates.push(header.generation);
        }
        candidates
    }

    fn matches(&self, candidates: &[u64], image: &mut [u8]) -> Vec<SectorMatch> {
        let mut matches = vec![(Similarity::Foreign, 0); self.block.len().div_ceil(SECTOR)];
        for (candidate, &generation) in candidates.iter().enumerate() {
            self.verifier.stamp_block(image, self.offset_bytes, generation);
            let sectors = self.block.chunks(SECTOR).zip(image.chunks(SECTOR));
            for (index, (best, (found, written))) in matches.iter_mut().zip(sectors).enumerate() {
                *best = (*best).min((self.similarity(index, found, written), candidate));
            }
        }
        matches
    }

    fn similarity(&self, index: usize, found: &[u8], written: &[u8]) -> Similarity {
        if found == written {
            return Similarity::Exact;
        }
        let bits = differing_bits(found, written);
        let header_near = index == 0
            && self.header_may_be_damaged
            && differing_bits(&found[..HEADER_BYTES], &written[..HEADER_BYTES]) <= MAX_HEADER_FLIPS;
        // The first sector of a zero block is identified by its header alone.
        let sector_near = bits <= MAX_SECTOR_FLIPS && (index > 0 || self.is_keyed());
        if header_near || sector_near { Similarity::Near(bits) } else { Similarity::Foreign }
    }

    /// `None` where no sector is similar to one of a candidate write.
    fn best_matches(&self, header: Option<BlockHeader>) -> Option<Matches> {
        let candidates = self.candidates(header);
        let mut image = vec![0; self.block.len()];
        let mut sectors = self.matches(&candidates, &mut image);
        if !self.is_keyed() {
            // Zeroes of all writes are equal: the header decides.
            let (similarity, candidate) = sectors[0];
            if similarity == Similarity::Foreign {
                return None;
            }
            sectors.iter_mut().for_each(|best| best.1 = candidate);
        }
        // Candidates are in order of age unless only the seed is known.
        let newer = |a: usize, b: usize| match is_older(candidates[a], candidates[b]) {
            true => b,
            false => a,
        };
        let ours = sectors.iter().filter(|best| best.0 != Similarity::Foreign);
        let newest = ours.map(|best| best.1).reduce(newer)?;
        Some(Matches { candidates, sectors, newest, image })
    }

    fn by_sectors(&self, header: Option<BlockHeader>) -> Option<FindingKind> {
        let mut found = self.best_matches(header)?;
        let (candidates, newest) = (&found.candidates, found.newest);
        let origin = |&(similarity, candidate): &SectorMatch| match similarity {
            Similarity::Exact if candidate == newest => None,
            Similarity::Exact => Some(OriginClass::Earlier),
            Similarity::Near(_) => Some(OriginClass::Damaged),
            // Of a first write, the rest may be the content before it.
            Similarity::Foreign if candidates[newest] == 1 => Some(OriginClass::Earlier),
            Similarity::Foreign => Some(OriginClass::Foreign),
        };
        let runs: Vec<_> = (0_u64..)
            .zip(&found.sectors)
            .filter_map(|(sector, best)| {
                let granules = sector..sector + 1;
                origin(best).map(|origin| MismatchRun { granules, origin })
            })
            .collect();
        let class = mismatch::classify(&runs, &(0..found.sectors.len() as u64));
        if class != Some(MismatchClass::Torn) {
            return Some(self.corrupt(&mut found));
        }
        let sector = runs[0].granules.start;
        let (similarity, candidate) = found.sectors[sector as usize];
        Some(FindingKind::Torn {
            newer: candidates[newest],
            older: (similarity != Similarity::Foreign).then(|| candidates[candidate]),
            first_old_sector: sector as u32,
        })
    }

    fn damage(&self, header: Option<BlockHeader>) -> Option<Damage> {
        let mut found = self.best_matches(header)?;
        let written = &mut found.image;
        let generation = found.candidates[found.newest];
        self.verifier.stamp_block(written, self.offset_bytes, generation);
        let sectors = self.block.chunks(SECTOR).zip(written.chunks(SECTOR));
        let mut matched = found.sectors.iter().zip(sectors);
        let is_overwritten =
            matched.any(|(&(similarity, candidate), (found_sector, written))| match similarity {
                Similarity::Exact => candidate != found.newest,
                Similarity::Near(_) => false,
                Similarity::Foreign => !self.is_keyed() || is_replaced(found_sector, written),
            });
        Some(match is_overwritten {
            true => Damage::Overwritten,
            false => Damage::Corrupt(self.corrupt(&mut found)),
        })
    }

    fn corrupt(&self, found: &mut Matches) -> FindingKind {
        let matches = &found.sectors;
        let flipped_bits: Option<u32> = matches
            .iter()
            .map(|best| match best.0 {
                Similarity::Exact => Some(0),
                Similarity::Near(bits) => Some(bits),
                Similarity::Foreign => None,
            })
            .sum();
        let bad = matches.iter().position(|best| best.0 != Similarity::Exact);
        let sector = bad.unwrap_or(0);
        let candidate = match matches[sector] {
            (Similarity::Foreign, _) => found.newest,
            (_, candidate) => candidate,
        };
        let generation = found.candidates[candidate];
        let image = &mut found.image;
        self.verifier.stamp_block(image, self.offset_bytes, generation);
        let start = sector * SECTOR;
        let mut pairs = self.block[start..].iter().zip(&image[start..]);
        let within = pairs.position(|(found, written)| found != written);
        FindingKind::Corrupt {
            first_bad_byte: (start + within.unwrap_or(0)) as u32,
            flipped_bits: flipped_bits.filter(|&bits| bits <= MAX_COUNTED_FLIPS),
        }
    }
}

/// Whether a sector was written as a whole by something else: a sector that is damaged in part has
/// at least a quarter of its bytes left, of unrelated bytes at most 1 of 32 are equal by chance.
fn is_replaced(found: &[u8], written: &[u8]) -> bool {
    let equal = found.iter().zip(written).filter(|(a, b)| a == b).count();
    equal < found.len() / 4
}

/// The likeliest write of each sector of a block.
struct Matches {
    candidates: Vec<u64>,
    sectors: Vec<SectorMatch>,
    /// Index of the newest candidate that left a sector.
    newest: usize,
    /// Space for the block as a candidate wrote it.
    image: Vec<u8>,
}
