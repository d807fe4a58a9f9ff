//! Every injected mismatch is diagnosed.

use super::*;
use proptest::prelude::*;

const CHUNK_BEATS: u64 = 256;
const CHUNK_BYTES: usize = CHUNK_BEATS as usize * BEAT_BYTES;
const CHUNKS: u64 = 1000;

fn made(seed: u64, first_beat: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Pattern::new(seed).at(first_beat).fill(&mut bytes);
    bytes
}

fn seen(seed: u64, first_beat: u64, bytes: &[u8]) -> Option<Diagnosis> {
    let context = DiagnosisContext {
        pattern: Pattern::new(seed),
        chunk_bytes: CHUNK_BYTES as u64,
        chunks: CHUNKS,
    };
    diagnose(&context, &ReadChunk { first_beat, bytes }, None)
}

fn chunk() -> impl Strategy<Value = u64> {
    (1..CHUNKS).prop_map(|chunk| chunk * CHUNK_BEATS)
}

/// A proper part of a chunk, in beats.
fn part() -> impl Strategy<Value = (u64, u64)> {
    let ordered = (0..CHUNK_BEATS, 1..CHUNK_BEATS)
        .prop_map(|(begin, len)| (begin, (begin + len).min(CHUNK_BEATS)));
    ordered.prop_filter("the whole", |&(begin, end)| end - begin < CHUNK_BEATS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn right_data_have_no_diagnosis(seed: u64, at in chunk(), len in 0..CHUNK_BYTES) {
        prop_assert_eq!(seen(seed, at, &made(seed, at, len)), None);
    }

    #[test]
    fn stale_chunks_name_their_seed(seed: u64, old: u64, at in chunk()) {
        prop_assume!(seed != old);
        prop_assert_eq!(seen(seed, at, &made(old, at, CHUNK_BYTES)), Some(Diagnosis::Whole(DataOrigin::Seed(old))));
        // Seeds may differ in one bit.
        let near = seed ^ 1;
        prop_assert_eq!(seen(seed, at, &made(near, at, CHUNK_BYTES)), Some(Diagnosis::Whole(DataOrigin::Seed(near))));
    }

    #[test]
    fn misplaced_chunks_name_their_location(seed: u64, at in chunk(), from in 0..CHUNKS, shift in 1..CHUNK_BEATS) {
        let from = from * CHUNK_BEATS;
        prop_assume!(from != at);
        prop_assert_eq!(seen(seed, at, &made(seed, from, CHUNK_BYTES)), Some(Diagnosis::Whole(DataOrigin::Place(from))));
        let lost = at + shift;
        prop_assert_eq!(seen(seed, at, &made(seed, lost, CHUNK_BYTES)), Some(Diagnosis::Whole(DataOrigin::Place(lost))));
        // Beats were lost: from there on, all data come early.
        let mut bytes = made(seed, at, CHUNK_BYTES);
        let from = (CHUNK_BEATS - shift) as usize * BEAT_BYTES;
        let len = bytes.len() - from;
        bytes[from..].copy_from_slice(&made(seed, at + CHUNK_BEATS - shift + 3, len));
        let torn = Diagnosis::Torn(MismatchRun { granules: at + CHUNK_BEATS - shift..at + CHUNK_BEATS, origin: DataOrigin::Place(at + CHUNK_BEATS - shift + 3) });
        prop_assert_eq!(seen(seed, at, &bytes), Some(torn));
    }

    /// Bytes lost or duplicated at any location of a chunk, or before it.
    #[test]
    fn shifted_data_names_its_location(seed: u64, at in chunk(), tear in 0..CHUNK_BYTES - 64, by in 1_i64..20_000, late: bool) {
        prop_assume!(by % 16 != 0);
        let by = if late { -by } else { by };
        let begin = (at * 16).wrapping_add_signed(by);
        prop_assume!(begin < at * 16 + (1 << 30));
        let stream = made(seed, begin / 16, CHUNK_BYTES + 16);
        let shifted = &stream[begin as usize % 16..][..CHUNK_BYTES];
        prop_assert_eq!(seen(seed, at, shifted), Some(Diagnosis::Whole(DataOrigin::Shifted(begin))));

        let mut bytes = made(seed, at, CHUNK_BYTES);
        bytes[tear..].copy_from_slice(&shifted[tear..]);
        // A byte of the shifted data may happen to be right.
        let first = made(seed, at, CHUNK_BYTES).iter().zip(&bytes).position(|(a, b)| a != b).unwrap() as u64 / 16;
        let torn = Diagnosis::Torn(MismatchRun { granules: at + first..at + CHUNK_BEATS, origin: DataOrigin::Shifted(begin + first * 16) });
        let whole = Diagnosis::Whole(DataOrigin::Shifted(begin));
        prop_assert_eq!(seen(seed, at, &bytes), Some(if first == 0 { whole } else { torn }));
    }

    #[test]
    fn stale_chunks_of_another_location_name_both(seed: u64, old: u64, at in chunk(), from in 0..CHUNKS) {
        let from = from * CHUNK_BEATS;
        prop_assume!(seed != old && from != at);
        let elsewhere = Diagnosis::Whole(DataOrigin::SeedElsewhere { seed: old, beat: from });
        prop_assert_eq!(seen(seed, at, &made(old, from, CHUNK_BYTES)), Some(elsewhere));
    }

    #[test]
    fn torn_chunks_name_the_part_and_what_is_in_it(
        seed: u64, old: u64, at in chunk(), from in 0..CHUNKS, (begin, end) in part(), kind in 0..5,
    ) {
        let from = from * CHUNK_BEATS;
        prop_assume!(seed != old && from != at);
        let len = (end - begin) as usize * BEAT_BYTES;
        let (wrong, origin) = match kind {
            0 => (made(old, at + begin, len), DataOrigin::Seed(old)),
            1 => (made(seed, from + begin, len), DataOrigin::Place(from + begin)),
            2 => (made(old, from + begin, len), DataOrigin::SeedElsewhere { seed: old, beat: from + begin }),
            3 => (vec![0; len], DataOrigin::Zero),
            _ => (vec![0xff; len], DataOrigin::Ones),
        };
        let mut bytes = made(seed, at, CHUNK_BYTES);
        bytes[begin as usize * BEAT_BYTES..][..len].copy_from_slice(&wrong);
        let torn = Diagnosis::Torn(MismatchRun { granules: at + begin..at + end, origin });
        prop_assert_eq!(seen(seed, at, &bytes), Some(torn));
    }

    /// A tear at any byte.
    #[test]
    fn a_tear_inside_a_beat_is_one_run(
        seed: u64, old: u64, at in chunk(), from in 0..CHUNKS, tear in 1..CHUNK_BYTES - 16, kind in 0..4,
    ) {
        let from = from * CHUNK_BEATS;
        prop_assume!(seed != old && from != at);
        let right = made(seed, at, CHUNK_BYTES);
        let (wrong, place) = match kind {
            0 => (made(old, at, CHUNK_BYTES), None),
            1 => (made(seed, from, CHUNK_BYTES), Some((None, from))),
            2 => (made(old, from, CHUNK_BYTES), Some((Some(old), from))),
            _ => (vec![0; CHUNK_BYTES], None),
        };
        let mut bytes = right.clone();
        bytes[tear..].copy_from_slice(&wrong[tear..]);
        let first = right.iter().zip(&bytes).position(|(a, b)| a != b).unwrap() as u64 / 16;
        prop_assume!(first > 0);
        let origin = match (kind, place) {
            (0, _) => DataOrigin::Seed(old),
            (_, Some((None, beat))) => DataOrigin::Place(beat + first),
            (_, Some((Some(seed), beat))) => DataOrigin::SeedElsewhere { seed, beat: beat + first },
            _ => DataOrigin::Zero,
        };
        let torn = Diagnosis::Torn(MismatchRun { granules: at + first..at + CHUNK_BEATS, origin });
        prop_assert_eq!(seen(seed, at, &bytes), Some(torn));
    }

    #[test]
    fn flipped_bits_are_named(
        seed: u64, at in chunk(), beat in 0..CHUNK_BEATS, bits in prop::collection::btree_set(0_u32..128, 1..=8), more: bool,
    ) {
        let mut bytes = made(seed, at, CHUNK_BYTES);
        let named: Vec<String> = bits.iter().map(u32::to_string).collect();
        let mut mask = 0;
        for bit in bits {
            mask |= 1_u128 << bit;
            bytes[beat as usize * BEAT_BYTES + bit as usize / 8] ^= 1 << (bit % 8);
        }
        let more = more && beat < CHUNK_BEATS - 1;
        if more {
            bytes[CHUNK_BYTES - 1] ^= 0x80;
        }
        let flip = Diagnosis::BitFlip { beat: at + beat, mask, beats: 1 + u64::from(more) };
        let text = flip.to_string();
        prop_assert!(text.contains(&format!(" {}", named.join(", "))), "{text}");
        prop_assert_eq!(seen(seed, at, &bytes), Some(flip));
    }

    #[test]
    fn random_bytes_are_corrupt_and_nothing_else(seed: u64, noise: u64, at in chunk(), (begin, end) in part()) {
        let mut bytes = made(seed, at, CHUNK_BYTES);
        let part = begin as usize * BEAT_BYTES..end as usize * BEAT_BYTES;
        assay_units::Rng::new(noise).fill(&mut bytes[part]);
        let corrupt = Diagnosis::Corrupt { first_beat: at + begin, beats: end - begin };
        prop_assert_eq!(seen(seed, at, &bytes), Some(corrupt));
    }

    /// Two faults in one chunk are both reported.
    #[test]
    fn patchworks_list_their_runs(seed: u64, old: u64, at in chunk(), cut in 1..CHUNK_BEATS - 2) {
        prop_assume!(seed != old);
        let mut bytes = made(seed, at, CHUNK_BYTES);
        let len = cut as usize * BEAT_BYTES;
        bytes[..len].copy_from_slice(&made(old, at, len));
        bytes[CHUNK_BYTES - BEAT_BYTES..].fill(0);
        let pieces = vec![
            MismatchRun { granules: at..at + cut, origin: DataOrigin::Seed(old) },
            MismatchRun { granules: at + CHUNK_BEATS - 1..at + CHUNK_BEATS, origin: DataOrigin::Zero },
        ];
        prop_assert_eq!(seen(seed, at, &bytes), Some(Diagnosis::Patchwork(pieces)));
    }
}

#[test]
fn blank_chunks_are_zero_or_ones() {
    assert_eq!(seen(1, 512, &[0; CHUNK_BYTES]), Some(Diagnosis::Whole(DataOrigin::Zero)));
    assert_eq!(seen(1, 512, &[0xff; CHUNK_BYTES]), Some(Diagnosis::Whole(DataOrigin::Ones)));
    assert_eq!(seen(1, 512, &[0; 100]), Some(Diagnosis::Whole(DataOrigin::Zero)), "a partial beat");
    assert_eq!(seen(1, 512, &[]), None);
}

/// Wrong seed or lost write: another chunk decides.
#[test]
fn a_wrong_seed_covers_the_whole_stream() {
    let (right, wrong) = (Pattern::new(1), 2);
    let context =
        DiagnosisContext { pattern: right, chunk_bytes: CHUNK_BYTES as u64, chunks: CHUNKS };
    let at = |seed, first_beat| (first_beat, made(seed, first_beat, CHUNK_BYTES));
    let reports = |chunk: &(u64, Vec<u8>), other: Option<&(u64, Vec<u8>)>| {
        let [chunk, other] = [Some(chunk), other].map(|seen| {
            seen.map(|(first_beat, bytes)| ReadChunk { first_beat: *first_beat, bytes })
        });
        diagnose(&context, &chunk.unwrap(), other.as_ref()).unwrap()
    };
    let (first, later) = (at(wrong, 0), at(wrong, 512));
    let wrong_seed = Diagnosis::WrongSeed(wrong);
    let stale = Diagnosis::Whole(DataOrigin::Seed(wrong));
    assert_eq!(reports(&first, None), wrong_seed);
    assert_eq!(reports(&first, Some(&later)), wrong_seed);
    assert_eq!(reports(&later, Some(&first)), wrong_seed);
    assert_eq!(reports(&first, Some(&at(1, 512))), stale);
    assert_eq!(reports(&first, Some(&at(3, 512))), stale);
    assert_eq!(reports(&later, None), stale);
    assert_eq!(reports(&later, Some(&at(wrong, 1024))), stale, "the beginning was not seen");
}

/// Too many runs, or unknown for too long: counted, in bounded time.
#[test]
fn a_mess_is_corrupt() {
    let mut bytes = made(1, 512, CHUNK_BYTES);
    for beat in bytes.chunks_mut(5 * BEAT_BYTES) {
        beat[..BEAT_BYTES].fill(0);
    }
    let corrupt = |beats| Some(Diagnosis::Corrupt { first_beat: 512, beats });
    assert_eq!(seen(1, 512, &bytes), corrupt(CHUNK_BEATS.div_ceil(5)));
    let mut noise = vec![0; 4096 * BEAT_BYTES];
    assay_units::Rng::new(5).fill(&mut noise);
    assert_eq!(seen(1, 512, &noise), corrupt(4096));
    let context = DiagnosisContext { pattern: Pattern::new(1), chunk_bytes: 0, chunks: u64::MAX };
    let chunk = ReadChunk { first_beat: u64::MAX, bytes: &noise[..16] };
    let reports = diagnose(&context, &chunk, None);
    assert!(matches!(reports, Some(Diagnosis::Corrupt { beats: 1, .. })), "{reports:?}");
}
