//! Every kind of finding is injected and classified, and right data give no finding.

use assay_units::Rng;
use proptest::prelude::*;

use super::*;
use crate::finding::FoundInstead;
use crate::mismatch::MismatchClass;

const SEED: u64 = 0x5eed;
const HERE: u64 = 1 << 20;

fn verifier(interval_bytes: u32, pattern: DataPattern) -> Verifier {
    Verifier::new(SEED, interval_bytes, pattern).unwrap()
}

fn keyed_patterns() -> impl Strategy<Value = DataPattern> {
    let ratios = [1.05, 1.5, 3.0, 10.0, 20.0];
    prop_oneof![
        Just(DataPattern::Incompressible),
        (0..ratios.len()).prop_map(move |i| DataPattern::Compressible {
            ratio: crate::data::Ratio::new(ratios[i]).unwrap()
        }),
    ]
}

fn patterns() -> impl Strategy<Value = DataPattern> {
    prop_oneof![keyed_patterns(), Just(DataPattern::Zero)]
}

fn intervals() -> impl Strategy<Value = u32> {
    (9_u32..14).prop_map(|bits| 1 << bits)
}

fn written(verifier: &Verifier, offset_bytes: u64, generation: u64) -> Vec<u8> {
    let mut block = vec![0; verifier.interval_bytes as usize];
    verifier.stamp(&mut block, offset_bytes, generation);
    block
}

/// Every block is right, wrong or not judged.
fn accounted(report: &VerifyReport) -> u64 {
    report.judged_blocks() + report.not_judged().values().sum::<u64>()
}

/// The first finding of a buffer.
fn check(verifier: &Verifier, buffer: &[u8], offset: u64, expected: Expected) -> Option<Finding> {
    let mut report = VerifyReport::default();
    verifier.check(buffer, offset, |_| expected, &mut report);
    assert_eq!(accounted(&report), buffer.len() as u64 / u64::from(verifier.interval_bytes));
    let first = report.first_findings();
    assert_eq!(report.findings() == 0, first.is_empty());
    first.first().copied()
}

fn kind(verifier: &Verifier, block: &[u8], expected: Expected) -> Option<FindingKind> {
    let found = check(verifier, block, HERE, expected);
    if let Some(finding) = &found {
        assert_eq!((finding.offset_bytes, finding.expected), (HERE, expected));
        assert!(!finding.to_string().is_empty());
    }
    found.map(|finding| finding.kind)
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Rng::new(seed).fill(&mut bytes);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Stamped blocks pass under every matching expectation.
    #[test]
    fn no_false_alarm(
        pattern in patterns(), interval in intervals(), blocks in 1_u64..9, offset in 0_u64..1 << 40, generation in 1..=MAX_GENERATION,
    ) {
        let verifier = verifier(interval, pattern);
        let offset = offset * 512;
        let mut buffer = vec![0xaa; (blocks * u64::from(interval)) as usize];
        verifier.stamp(&mut buffer, offset, generation);
        for expected in [
            Expected::Generation(generation), Expected::Unwritten,
            Expected::Uncertain { newest: generation }, Expected::Uncertain { newest: generation % MAX_GENERATION + 1 },
        ] {
            prop_assert_eq!(check(&verifier, &buffer, offset, expected), None);
        }
    }

    /// Up to eight flipped bits anywhere in a block are found, counted, and the first wrong byte
    /// named.
    #[test]
    fn flipped_bits_are_found_and_counted(
        pattern in patterns(), interval in intervals(), generation in 1_u64..20, seed: u64, flips in 1_u32..=8,
    ) {
        let verifier = verifier(interval, pattern);
        let mut block = written(&verifier, HERE, generation);
        let mut rng = Rng::new(seed);
        let mut bits = std::collections::BTreeSet::new();
        while (bits.len() as u32) < flips {
            bits.insert(rng.below(u64::from(interval) * 8));
        }
        for &bit in &bits {
            block[(bit / 8) as usize] ^= 1 << (bit % 8);
        }
        let found = kind(&verifier, &block, Expected::Generation(generation));
        let first_bad_byte = (bits.first().unwrap() / 8) as u32;
        prop_assert_eq!(found, Some(FindingKind::Corrupt { first_bad_byte, flipped_bits: Some(flips) }));
    }

    /// Garbage that does not cover the whole block is corruption.
    #[test]
    fn garbage_is_corruption(
        pattern in keyed_patterns(), interval in intervals(), generation in 2_u64..20, seed: u64, start: u32, len in 1_u32..2048,
    ) {
        let verifier = verifier(interval, pattern);
        let mut block = written(&verifier, HERE, generation);
        let good = block.clone();
        let len = len.min(interval / 2) as usize;
        let start = start as usize % (block.len() - len + 1);
        block[start..start + len].copy_from_slice(&noise(len, seed));
        let first = block.iter().zip(&good).position(|(a, b)| a != b);
        let found = kind(&verifier, &block, Expected::Generation(generation));
        match first {
            None => prop_assert_eq!(found, None),
            // A single half-erased sector is not similar to anything, unless its header is left.
            Some(_) if interval == 512 && start < 64 => prop_assert!(found.is_some()),
            Some(first) => {
                let Some(FindingKind::Corrupt { first_bad_byte, .. }) = found else {
                    return Err(TestCaseError::fail(format!("{found:?}")));
                };
                prop_assert_eq!(first_bad_byte as usize, first);
            }
        }
    }

    /// Sectors of two writes in any arrangement.
    #[test]
    fn torn_writes_are_torn(
        pattern in keyed_patterns(), interval_bits in 10_u32..14, generation in 2_u64..1000, behind in 1_u64..=8, choice: u32,
    ) {
        let verifier = verifier(1 << interval_bits, pattern);
        let older = generation.saturating_sub(behind).max(1);
        let (new, old) = (written(&verifier, HERE, generation), written(&verifier, HERE, older));
        let sectors = new.len() / 512;
        let from_old: Vec<bool> = (0..sectors).map(|s| choice >> (s % 32) & 1 == 1).collect();
        prop_assume!(from_old.contains(&true) && from_old.contains(&false));
        let block: Vec<u8> = (0..new.len()).map(|i| if from_old[i / 512] { old[i] } else { new[i] }).collect();
        let expected = Expected::Generation(generation);
        let first_old_sector = from_old.iter().position(|&o| o).unwrap() as u32;
        prop_assert_eq!(
            kind(&verifier, &block, expected),
            Some(FindingKind::Torn { newer: generation, older: Some(older), first_old_sector })
        );
    }

    /// An incomplete first write: the remainder is the previous content.
    #[test]
    fn torn_first_writes_are_torn(pattern in keyed_patterns(), interval_bits in 10_u32..14, choice: u32, seed: u64, zeroes: bool) {
        let verifier = verifier(1 << interval_bits, pattern);
        let new = written(&verifier, HERE, 1);
        let before = if zeroes { vec![0; new.len()] } else { noise(new.len(), seed) };
        let sectors = new.len() / 512;
        let old: Vec<bool> = (0..sectors).map(|s| choice >> (s % 32) & 1 == 1).collect();
        prop_assume!(old.contains(&true) && old.contains(&false));
        let block: Vec<u8> = (0..new.len()).map(|i| if old[i / 512] { before[i] } else { new[i] }).collect();
        let first_old_sector = old.iter().position(|&o| o).unwrap() as u32;
        prop_assert_eq!(
            kind(&verifier, &block, Expected::Generation(1)),
            Some(FindingKind::Torn { newer: 1, older: None, first_old_sector })
        );
    }

    #[test]
    fn misplaced_blocks_name_their_location(pattern in patterns(), interval in intervals(), other in 0_u64..1 << 30, generation in 1_u64..100) {
        let verifier = verifier(interval, pattern);
        let other = other * 512;
        prop_assume!(other != HERE);
        let block = written(&verifier, other, generation);
        let misplaced = Some(FindingKind::Misplaced { belongs_to_bytes: other, found_generation: generation });
        for expected in [
            Expected::Generation(generation), Expected::Generation(5), Expected::Unwritten,
        ] {
            prop_assert_eq!(kind(&verifier, &block, expected), misplaced);
        }
    }

    #[test]
    fn older_writes_are_stale(pattern in patterns(), interval in intervals(), found in 1_u64..1000, behind in 1_u64..1000) {
        let verifier = verifier(interval, pattern);
        let block = written(&verifier, HERE, found);
        let expected = found + behind;
        prop_assert_eq!(
            kind(&verifier, &block, Expected::Generation(expected)),
            Some(FindingKind::Stale { found_generation: found })
        );
        // A newer generation than expected is of another run.
        let instead = FoundInstead::FutureGeneration(found);
        if behind < found {
            let expected = Expected::Generation(found - behind);
            prop_assert_eq!(kind(&verifier, &block, expected), Some(FindingKind::Lost(instead)));
        }
    }

    /// Content before the job: zeroes, foreign bytes, another job's block.
    #[test]
    fn missing_writes_are_lost(pattern in patterns(), interval in intervals(), generation in 1_u64..100, seed: u64) {
        prop_assume!(seed != SEED);
        let verifier = verifier(interval, pattern);
        let len = interval as usize;
        let foreign = Verifier::new(seed, interval, pattern).unwrap();
        let cases = [
            (vec![0; len], FoundInstead::Zeroes),
            (noise(len, seed), FoundInstead::ForeignBytes),
            (vec![0xff; len], FoundInstead::ForeignBytes),
            (written(&foreign, HERE, generation), FoundInstead::OtherSeed(seed)),
            (written(&foreign, HERE + 4096, generation), FoundInstead::OtherSeed(seed)),
        ];
        for (block, instead) in cases {
            prop_assert_eq!(
                kind(&verifier, &block, Expected::Generation(generation)),
                Some(FindingKind::Lost(instead))
            );
                prop_assert_eq!(kind(&verifier, &block, Expected::Unwritten), None);
        }
    }

    /// Arbitrary bytes, with and without a plausible header, are classified without panic and never
    /// accepted.
    #[test]
    fn arbitrary_bytes_never_panic_and_never_pass(
        pattern in patterns(), interval in intervals(), seed: u64, with_header: bool, expected_generation in 0_u64..1 << 60,
    ) {
        let verifier = verifier(interval, pattern);
        let mut block = noise(interval as usize, seed);
        if with_header {
            block[..64].copy_from_slice(&written(&verifier, HERE, seed)[..64]);
        }
        prop_assert!(kind(&verifier, &block, Expected::Generation(expected_generation)).is_some());
        prop_assert!(with_header || kind(&verifier, &block, Expected::Unwritten).is_none());
    }

    /// A job on an in-memory drive: overlapping reads and writes of several sizes, some writes
    /// failing (old, new, or torn data). A correct drive never causes a finding, one that drops
    /// writes always does.
    #[test]
    fn a_job_on_a_drive_in_memory(pattern in keyed_patterns(), seed: u64, drops: bool) {
        const BLOCKS: u64 = 32;
        const INTERVAL: u32 = 1024;
        let verifier = verifier(INTERVAL, pattern);
        let mut map = GenerationMap::new(4096, BLOCKS * u64::from(INTERVAL), INTERVAL).unwrap();
        let mut medium = noise(4096 + (BLOCKS * u64::from(INTERVAL)) as usize, seed);
        let mut rng = Rng::new(seed);
        let mut findings = VerifyReport::default();
        let mut dropped = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let len = 1 + rng.below(4);
            let start = rng.below(BLOCKS - len + 1);
            let (offset, bytes) = (4096 + start * u64::from(INTERVAL), len as u32 * INTERVAL);
            let range = offset as usize..offset as usize + bytes as usize;
            if rng.below(2) == 0 {
                prop_assert_eq!(map.begin_write(offset, bytes), Begin::Begun);
                let mut buffer = vec![0; bytes as usize];
                verifier.stamp_write(&mut buffer, offset, &map);
                let (fails, drop) = (rng.below(10) == 0, drops && rng.below(10) == 0);
                if fails {
                    for (i, sector) in buffer.chunks(512).enumerate() {
                        if rng.below(2) == 0 {
                            medium[range.start + i * 512..][..512].copy_from_slice(sector);
                        }
                    }
                    dropped.retain(|block| !(start..start + len).contains(block));
                } else if drop {
                    dropped.extend(start..start + len);
                } else {
                    medium[range].copy_from_slice(&buffer);
                    dropped.retain(|block| !(start..start + len).contains(block));
                }
                map.finish_write(offset, bytes, !fails);
            } else if dropped.is_empty() {
                prop_assert_eq!(map.begin_read(offset, bytes), Begin::Begun);
                verifier.check(&medium[range], offset, |at| map.expected(at), &mut findings);
                map.finish_read(offset, bytes);
            }
        }
        prop_assert!(findings.is_clean(), "{:?}", findings.first_findings());
        let mut from = 4096;
        while let Some((offset, len)) = map.next_written(from, 16 * 1024) {
            from = offset + u64::from(len);
            verifier.check(&medium[offset as usize..][..len as usize], offset, |at| map.expected(at), &mut findings);
        }
        // Exactly the dropped blocks: old, missing, or what a failed write before left.
        let found: Vec<u64> = findings.first_findings().iter().map(|f| (f.offset_bytes - 4096) / u64::from(INTERVAL)).collect();
        prop_assert_eq!(found, dropped.into_iter().collect::<Vec<_>>(), "{:?}", findings.first_findings());
        prop_assert_eq!(findings.count(MismatchClass::Misplaced), 0);
    }
}

/// With zero payloads the header identifies all mismatches but tears.
#[test]
fn zero_payloads_are_zero() {
    let verifier = verifier(4096, DataPattern::Zero);
    let mut block = written(&verifier, HERE, 3);
    assert!(block[64..].iter().all(|&byte| byte == 0));
    block[4000] = 0x80;
    let corrupt = FindingKind::Corrupt { first_bad_byte: 4000, flipped_bits: Some(1) };
    assert_eq!(kind(&verifier, &block, Expected::Generation(3)), Some(corrupt));
    block[..64].fill(0);
    let lost = FindingKind::Lost(FoundInstead::ForeignBytes);
    assert_eq!(kind(&verifier, &block, Expected::Generation(3)), Some(lost));
}

/// A block with an erased header is not lost if its payload is there.
#[test]
fn a_wiped_header_is_corruption() {
    for interval in [512, 4096] {
        let verifier = verifier(interval, DataPattern::Incompressible);
        let mut block = written(&verifier, HERE, 3);
        block[..64].fill(0);
        let found = kind(&verifier, &block, Expected::Generation(3));
        let corrupt = FindingKind::Corrupt { first_bad_byte: 0, flipped_bits: None };
        assert_eq!(found, Some(corrupt), "{interval}");
    }
}

#[test]
fn another_layout_of_the_same_seed_is_an_earlier_run() {
    let small = verifier(512, DataPattern::Incompressible);
    let mut block = vec![0; 4096];
    small.stamp(&mut block, HERE, 1);
    let large = verifier(4096, DataPattern::Incompressible);
    let lost = FindingKind::Lost(FoundInstead::OtherLayout(512));
    assert_eq!(kind(&large, &block, Expected::Generation(1)), Some(lost));
    assert_eq!(kind(&large, &block, Expected::Unwritten), None);
    let zero = verifier(4096, DataPattern::Zero);
    let block = written(&zero, HERE, 1);
    let lost = FindingKind::Lost(FoundInstead::OtherLayout(4096));
    assert_eq!(kind(&large, &block, Expected::Generation(1)), Some(lost));
}

#[test]
fn every_block_of_a_buffer_is_checked() {
    let verifier = verifier(512, DataPattern::Incompressible);
    let mut buffer = vec![0; 512 * 8];
    verifier.stamp(&mut buffer, HERE, 1);
    buffer[512 * 3 + 100] ^= 1;
    buffer[512 * 7 + 511] ^= 2;
    let mut findings = VerifyReport::default();
    verifier.check(&buffer, HERE, |_| Expected::Generation(1), &mut findings);
    assert_eq!(
        (findings.findings(), findings.judged_blocks(), findings.count(MismatchClass::Corrupt)),
        (2, 8, 2)
    );
    let first = findings.first_findings();
    let found: Vec<_> = first.iter().map(|f| (f.offset_bytes, f.kind)).collect();
    let flip = |first_bad_byte| FindingKind::Corrupt { first_bad_byte, flipped_bits: Some(1) };
    assert_eq!(found, [(HERE + 512 * 3, flip(100)), (HERE + 512 * 7, flip(511))]);
    let first = first[0].to_string();
    assert!(first.contains("1 bit flipped"), "{first}");
}

#[test]
fn findings_are_counted_beyond_the_limit() {
    let one = |offset_bytes| Finding {
        kind: FindingKind::Lost(FoundInstead::Zeroes),
        offset_bytes,
        len_bytes: 512,
        expected: Expected::Generation(1),
    };
    let mut first = VerifyReport::default();
    (0..70).for_each(|i| first.push(one(i)));
    let mut second = first.clone();
    (70..140).for_each(|i| second.push(one(i)));
    first.merge(&second);
    assert_eq!(
        (first.count(MismatchClass::Lost), first.findings(), first.first_findings().len()),
        (210, 210, VerifyReport::KEPT)
    );
    assert_eq!(second.first_findings().len(), VerifyReport::KEPT);
    assert!(!first.is_clean() && VerifyReport::default().is_clean());
}

#[test]
fn intervals_fit_the_blocks() {
    for (common, align, chosen, interval) in [
        (4096, 4096, None, 4096),
        (512, 512, None, 512),
        (131_072, 131_072, None, 4096),
        (131_072, 512, None, 512),
        (2048, 4096, None, 2048),
        (512, 1536, None, 512),
        (131_072, 131_072, Some(65_536), 65_536),
    ] {
        assert_eq!(interval_for(common, align, chosen), Ok(interval), "{common} {align}");
    }
    for (chosen, align) in [(8192, 4096), (1000, 4096), (256, 4096), (4096, 512)] {
        assert!(interval_for(4096, align, Some(chosen)).is_err(), "{chosen} {align}");
    }
    assert!(Verifier::new(1, 0, DataPattern::Zero).is_err());
}
