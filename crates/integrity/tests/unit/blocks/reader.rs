//! Blocks of earlier jobs: what is intact is right whoever wrote it, what is damaged is found, and
//! what others wrote since is not judged.

use assay_units::Rng;
use proptest::prelude::*;

use super::*;
use crate::blocks::HEADER_BYTES;
use crate::mismatch::MismatchClass;

const UNIT: u32 = 4096;
const AREA: usize = 64 * 1024;
/// Of the area on the drive.
const START: u64 = 1 << 20;

fn report_of(bytes: &[u8], seed: Option<u64>) -> VerifyReport {
    let mut report = VerifyReport::default();
    BlockReader::new(seed, UNIT).check(bytes, START, &mut report);
    report
}

fn stamped(seed: u64, interval_bytes: u32, generation: u64) -> Vec<u8> {
    let verifier = Verifier::new(seed, interval_bytes, DataPattern::Incompressible).unwrap();
    let mut bytes = vec![0; AREA];
    verifier.stamp(&mut bytes, START, generation);
    bytes
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Rng::new(seed).fill(&mut bytes);
    bytes
}

fn unjudged(report: &VerifyReport) -> Vec<(&'static str, u64)> {
    let reasons = report.not_judged();
    reasons.iter().map(|(reason, n)| (reason.name(), *n)).collect()
}

/// Writes of several jobs, sizes and programs, trims and writes that were cut off: the content that
/// a drive without a fault has after them.
fn faultless(seed: u64, writes: u32) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut medium = match rng.below(3) {
        0 => vec![0; AREA],
        1 => noise(AREA, seed),
        _ => stamped(1, 4096, 1),
    };
    for number in 0..u64::from(writes) {
        let interval = 512 << rng.below(5);
        let mut len = interval * (1 + rng.below(8));
        let at = rng.below(AREA as u64 / interval) * interval;
        len = len.min(AREA as u64 - at);
        let range = at as usize..(at + len) as usize;
        let mut content = match rng.below(5) {
            0 => vec![0; len as usize],
            1 => noise(len as usize, number),
            _ => {
                let (seed, generation) = (1 + rng.below(3), 1 + rng.below(20));
                let pattern = DataPattern::Incompressible;
                let verifier = Verifier::new(seed, interval as u32, pattern).unwrap();
                let mut content = vec![0; len as usize];
                verifier.stamp(&mut content, START + at, generation);
                content
            }
        };
        if rng.below(4) == 0 {
            // Killed: sectors of the write, in any order, did not reach the drive.
            for (old, new) in medium[range.clone()].chunks(512).zip(content.chunks_mut(512)) {
                if rng.below(2) == 0 {
                    new.copy_from_slice(old);
                }
            }
        }
        medium[range].copy_from_slice(&content);
    }
    medium
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_drive_without_a_fault_is_never_condemned(seed: u64, writes in 0_u32..12, asks: bool) {
        let report = report_of(&faultless(seed, writes), asks.then_some(1));
        prop_assert!(report.is_clean(), "{:?}", report.first_findings());
    }

    /// A few flipped bits in a block that is otherwise intact, and that is not the first one.
    #[test]
    fn flipped_bits_are_found(seed: u64, flips in 1_u32..=8, interval_bits in 9_u32..14) {
        let interval = 1_u64 << interval_bits;
        let mut bytes = stamped(5, interval as u32, 3);
        let mut rng = Rng::new(seed);
        let block = 1 + rng.below(AREA as u64 / interval - 1);
        let mut bits = std::collections::BTreeSet::new();
        while (bits.len() as u32) < flips {
            bits.insert(rng.below(interval * 8));
        }
        for bit in bits {
            bytes[(block * interval + bit / 8) as usize] ^= 1 << (bit % 8);
        }
        let report = report_of(&bytes, None);
        prop_assert_eq!(report.findings(), 1, "{:?}", report);
        let finding = report.first_findings()[0];
        prop_assert_eq!(finding.offset_bytes, START + block * interval);
        let is_corrupt = matches!(finding.kind, FindingKind::Corrupt { .. });
        prop_assert!(is_corrupt, "{}", finding);
        prop_assert_eq!(report.intact_blocks, AREA as u64 / interval - 1);
    }

    /// Bytes in the middle of a sector were changed by nothing that writes sectors.
    #[test]
    fn garbage_within_a_sector_is_found(seed: u64, len in 8_usize..300) {
        let mut bytes = stamped(5, 4096, 3);
        let at = 4096 + 1024 + (Rng::new(seed).below(200) as usize);
        bytes[at..at + len].copy_from_slice(&noise(len, seed));
        let report = report_of(&bytes, None);
        prop_assert_eq!(report.findings(), 1, "{:?}", report);
    }

    #[test]
    fn a_block_of_the_job_at_a_wrong_address_is_found(from in 0_usize..16, to in 0_usize..16) {
        prop_assume!(from != to);
        let mut bytes = stamped(5, 4096, 3);
        bytes.copy_within(from * 4096..(from + 1) * 4096, to * 4096);
        let report = report_of(&bytes, None);
        prop_assert_eq!(report.findings(), 1);
        let belongs_to_bytes = START + from as u64 * 4096;
        prop_assert_eq!(
            report.first_findings()[0].kind,
            FindingKind::Misplaced { belongs_to_bytes, found_generation: 3 }
        );
    }
}

#[test]
fn blocks_of_several_jobs_are_intact() {
    let mut bytes = stamped(1, 4096, 1);
    bytes[AREA / 2..].copy_from_slice(&stamped(2, 512, 7)[AREA / 2..]);
    let report = report_of(&bytes, None);
    assert_eq!((report.intact_blocks, report.findings()), (8 + 64, 0));
    assert_eq!((unjudged(&report), report.seed()), (vec![], None));
    // Asked for one of them, the other is not judged.
    let report = report_of(&bytes, Some(1));
    assert_eq!((report.intact_blocks, report.findings()), (8, 0));
    assert_eq!((unjudged(&report), report.seed()), (vec![("other_job", 64)], Some(1)));
}

/// An image that was copied to another offset, or a partition read through its drive.
#[test]
fn blocks_that_all_belong_elsewhere_are_not_judged() {
    let verifier = Verifier::new(5, 4096, DataPattern::Incompressible).unwrap();
    let mut bytes = vec![0; AREA];
    verifier.stamp(&mut bytes, START + 4096, 1);
    let report = report_of(&bytes, None);
    assert_eq!((report.findings(), report.intact_blocks), (0, 0));
    assert_eq!(unjudged(&report), [("other_address", 16)]);
}

#[test]
fn what_no_verifying_job_wrote_is_not_judged() {
    assert_eq!(unjudged(&report_of(&noise(AREA, 3), None)), [("other_data", 16)]);
    assert_eq!(unjudged(&report_of(&vec![0; AREA], None)), [("zeroes", 16)]);
    let long = stamped(5, 8192, 1);
    let report = report_of(&long[..4096], None);
    assert_eq!(unjudged(&report), [("longer_than_read", 1)]);
}

#[test]
fn a_damaged_header_of_the_first_block_is_found() {
    let mut bytes = stamped(5, 4096, 3);
    for byte in [3, 60] {
        bytes[byte] ^= 1;
        assert_eq!(report_of(&bytes, None).findings(), 1, "{byte}");
        bytes[byte] ^= 1;
    }
}

/// A damaged header says nothing of its block before an intact one was read: it is judged then.
#[test]
fn a_damaged_header_before_all_intact_blocks_is_found() {
    let sound = stamped(1, UNIT, 1);
    for read_bytes in [UNIT as usize, AREA] {
        for at in (0..HEADER_BYTES).chain([AREA - UNIT as usize + 20]) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x10;
            let (mut reader, mut report) = (BlockReader::new(None, UNIT), VerifyReport::default());
            for (read, offset) in bytes.chunks(read_bytes).zip((START..).step_by(read_bytes)) {
                reader.check(read, offset, &mut report);
            }
            assert_eq!(unjudged(&report), [], "byte {at}");
            assert_eq!(report.count(MismatchClass::Corrupt), 1, "byte {at}");
            let found = report.first_findings()[0];
            assert_eq!(found.offset_bytes, START + (at / UNIT as usize * UNIT as usize) as u64);
            assert_eq!(report.intact_blocks, (AREA / UNIT as usize) as u64 - 1);
        }
    }
    // Of an area without an intact block nothing is known.
    let mut alone = sound[..UNIT as usize].to_vec();
    alone[20] ^= 0x10;
    assert_eq!(unjudged(&report_of(&alone, None)), [("other_data", 1)]);
}
