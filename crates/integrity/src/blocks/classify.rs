//! The decision table is in [`crate::blocks`]. Where a block is not intact as a whole, each sector
//! is compared with the content that each candidate write would have left; payloads are keyed by
//! generation, so one sector identifies its write.

use assay_units::SECTOR_BYTES;
use xxhash_rust::xxh3::xxh3_64;

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
    let intact = header.is_some_and(|h| {
        h.len_bytes as usize == block.len() && xxh3_64(&block[HEADER_BYTES..]) == h.payload_checksum
    });
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
        return explained;
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
        Some(h) if expected == Expected::AnyOfSeed && intact && h.offset_bytes == offset_bytes => {
            Some(FindingKind::Stale {
                found_generation: h.generation,
                found_seed: Some(h.seed),
            })
        }
        Some(h) => lost(expected, FoundInstead::OtherSeed(h.seed)),
        None if block.iter().all(|&byte| byte == 0) => lost(expected, FoundInstead::Zeroes),
        None => lost(expected, FoundInstead::ForeignBytes),
    }
}

/// An intact block of this seed and offset.
fn by_generation(found_generation: u64, expected: Expected) -> Option<FindingKind> {
    let newest = match expected {
        Expected::AnyOfSeed | Expected::Unwritten => return None,
        Expected::Generation(newest) | Expected::Uncertain { newest } => newest,
    };
    let instead = FoundInstead::FutureGeneration(found_generation);
    match expected {
        _ if found_generation == newest => None,
        _ if !is_older(found_generation, newest) => Some(FindingKind::Lost(instead)),
        Expected::Uncertain { .. } => None,
        _ => Some(FindingKind::Stale {
            found_generation,
            found_seed: None,
        }),
    }
}

/// No trace of this job: a finding unless the write may be missing.
fn lost(expected: Expected, instead: FoundInstead) -> Option<FindingKind> {
    match expected {
        Expected::Generation(_) | Expected::AnyOfSeed => Some(FindingKind::Lost(instead)),
        Expected::Uncertain { .. } | Expected::Unwritten => None,
    }
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
            (Expected::Generation(newest) | Expected::Uncertain { newest }, _) => {
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
            self.verifier
                .stamp_block(image, self.offset_bytes, generation);
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
        if header_near || sector_near {
            Similarity::Near(bits)
        } else {
            Similarity::Foreign
        }
    }

    /// None also where whole sectors of writes that may have reached the medium are accepted.
    fn by_sectors(&self, header: Option<BlockHeader>) -> Option<Option<FindingKind>> {
        let candidates = self.candidates(header);
        let mut image = vec![0; self.block.len()];
        let mut matches = self.matches(&candidates, &mut image);
        if !self.is_keyed() {
            // Zeroes of all writes are equal: the header decides.
            let (similarity, candidate) = matches[0];
            if similarity == Similarity::Foreign {
                return None;
            }
            matches.iter_mut().for_each(|best| best.1 = candidate);
        }
        // Candidates are in order of age unless only the seed is known.
        let newer = |a: usize, b: usize| {
            if is_older(candidates[a], candidates[b]) {
                b
            } else {
                a
            }
        };
        let ours = matches.iter().filter(|best| best.0 != Similarity::Foreign);
        let newest = ours.map(|best| best.1).reduce(newer)?;
        let is_near = |best: &SectorMatch| matches!(best.0, Similarity::Near(_));
        if matches!(self.expected, Expected::Uncertain { .. }) && !matches.iter().any(is_near) {
            return Some(None);
        }
        let origin = |&(similarity, candidate): &SectorMatch| match similarity {
            Similarity::Exact if candidate == newest => None,
            Similarity::Exact => Some(OriginClass::Earlier),
            Similarity::Near(_) => Some(OriginClass::Damaged),
            // Of a first write, the rest may be the content before it.
            Similarity::Foreign if candidates[newest] == 1 => Some(OriginClass::Earlier),
            Similarity::Foreign => Some(OriginClass::Foreign),
        };
        let runs: Vec<_> = (0_u64..)
            .zip(&matches)
            .filter_map(|(sector, best)| {
                let granules = sector..sector + 1;
                origin(best).map(|origin| MismatchRun { granules, origin })
            })
            .collect();
        let class = mismatch::classify(&runs, &(0..matches.len() as u64));
        Some(Some(if class == Some(MismatchClass::Torn) {
            let sector = runs[0].granules.start;
            let (similarity, candidate) = matches[sector as usize];
            FindingKind::Torn {
                newer: candidates[newest],
                older: (similarity != Similarity::Foreign).then(|| candidates[candidate]),
                first_old_sector: sector as u32,
            }
        } else {
            self.corrupt(&candidates, &matches, newest, &mut image)
        }))
    }

    fn corrupt(
        &self,
        candidates: &[u64],
        matches: &[SectorMatch],
        newest: usize,
        image: &mut [u8],
    ) -> FindingKind {
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
            (Similarity::Foreign, _) => newest,
            (_, candidate) => candidate,
        };
        self.verifier
            .stamp_block(image, self.offset_bytes, candidates[candidate]);
        let start = sector * SECTOR;
        let mut pairs = self.block[start..].iter().zip(&image[start..]);
        let within = pairs.position(|(found, written)| found != written);
        FindingKind::Corrupt {
            first_bad_byte: (start + within.unwrap_or(0)) as u32,
            flipped_bits: flipped_bits.filter(|&bits| bits <= MAX_COUNTED_FLIPS),
        }
    }
}
