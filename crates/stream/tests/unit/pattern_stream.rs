use super::*;
use crate::source::{SizedSource, StreamSource};
use assay_integrity::pattern::{DataOrigin, Diagnosis};

fn stream(seed: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    Pattern::new(seed).at(0).fill(&mut out);
    out
}

fn check(expected: u64, bytes: &[u8], length_bytes: u64) -> StreamFindings {
    let chunks = bytes.len().div_ceil(8192) as u64;
    let mut sink = PatternSink::new(Pattern::new(expected), 8192, chunks);
    for chunk in bytes.chunks(8192) {
        sink.put(chunk, &Registers::default()).unwrap();
    }
    sink.findings(Some(length_bytes))
}

#[test]
fn the_pattern_source_passes_the_check() {
    let mut source = SizedSource::pattern(Pattern::new(5), 20_001);
    let registers = Registers::default();
    let mut all = Vec::new();
    let mut chunk = vec![0; 8192];
    loop {
        let filled = source.fill(&mut chunk, &registers).unwrap();
        all.extend_from_slice(&chunk[..filled.bytes]);
        if filled.last {
            break;
        }
    }
    assert_eq!(all, stream(5, 20_001));
    let found = check(5, &all, 20_001);
    assert!(found.is_clean(), "{found:?}");
    assert_eq!(found.beats, 1251);
}

#[test]
fn a_stream_is_checked_from_its_first_byte() {
    let all = stream(5, 20_000);
    let mut sink = PatternSink::new(Pattern::new(5), 8192, 3);
    sink.begin(8192);
    sink.put(&all[8192..16_384], &Registers::default()).unwrap();
    let mut last = all[16_384..].to_vec();
    last[100] ^= 1;
    sink.put(&last, &Registers::default()).unwrap();
    let found = sink.findings(None);
    assert_eq!((found.beats, found.wrong_beats, found.wrong_chunks), (738, 1, 1));
    assert_eq!(found.first.map(|first| first.beat), Some(1024 + 6));
    assert!(matches!(found.diagnosis().cloned(), Some(Diagnosis::BitFlip { beat: 1030, .. })));
}

#[test]
fn mismatches_are_diagnosed() {
    let mut old = stream(1, 40_000);
    let new = stream(2, 40_000);
    assert_eq!(check(2, &old, 40_000).diagnosis().cloned(), Some(Diagnosis::WrongSeed(1)));
    // The third chunk was not written.
    old[..16_384].copy_from_slice(&new[..16_384]);
    old[24_576..].copy_from_slice(&new[24_576..]);
    let found = check(2, &old, 40_000);
    assert_eq!(found.diagnosis().cloned(), Some(Diagnosis::Whole(DataOrigin::Seed(1))));
    assert_eq!(found.first.map(|m| m.beat), Some(1024));
    assert_eq!((found.wrong_beats, found.wrong_chunks), (512, 1));
    let short = check(2, &new[..30_000], 40_000);
    assert!(matches!(short.diagnosis(), Some(Diagnosis::Short { .. })), "{short:?}");
}
