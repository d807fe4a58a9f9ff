use super::*;
use crate::pattern::DataOrigin;

fn compare(layout: &ExpectedLayout, bytes: &[u8]) -> StreamFindings {
    let mut verifier = StreamVerifier::new(layout.clone(), 8192, 8);
    bytes.chunks(8192).for_each(|chunk| verifier.check(chunk));
    verifier.finish(4, None)
}

fn made(layout: &ExpectedLayout) -> Vec<u8> {
    let mut out = Vec::new();
    for &(length, holds) in &layout.extents {
        let mut piece = vec![0; length as usize];
        if let ExpectedData::Stream(pattern, beat) = holds {
            pattern.at(beat).fill(&mut piece);
        }
        out.extend(piece);
    }
    out
}

#[test]
fn extents_are_compared_and_mismatches_diagnosed() {
    let old = ExpectedData::Stream(Pattern::new(1), 1280);
    let layout =
        ExpectedLayout::stream(2, 20_007).then(473, ExpectedData::Zeroes).then(20_480, old);
    let mut bytes = made(&layout);
    assert_eq!(bytes.len() as u64, layout.bytes());
    let found = compare(&layout, &bytes);
    assert!(found.chunks.is_empty() && found.bytes == layout.bytes(), "{found:?}");
    // Any part of it, too.
    let part = layout.part(8192, 16_384);
    assert_eq!(made(&part), bytes[8192..24_576]);
    assert!(compare(&part, &bytes[8192..24_576]).chunks.is_empty());
    bytes[20_100] = 1;
    bytes[24_576..32_768]
        .copy_from_slice(&made(&ExpectedLayout::stream(3, 40_960))[24_576..32_768]);
    let found = compare(&layout, &bytes);
    assert_eq!(found.wrong_beats, 1 + 512);
    assert_eq!(found.chunks.len(), 2);
    assert_eq!((found.chunks[0].at_byte, found.chunks[0].expected), (20_100, ExpectedData::Zeroes));
    assert_eq!((found.chunks[1].at_byte, found.chunks[1].beat), (24_576, 1536));
    assert_eq!(found.chunks[1].diagnosis, Some(Diagnosis::Whole(DataOrigin::Seed(3))));
    let anything = ExpectedLayout::default().then(bytes.len() as u64, ExpectedData::Anything);
    assert!(compare(&anything, &bytes).chunks.is_empty());
}

#[test]
fn an_overwritten_layout_keeps_what_is_around() {
    let stream = |seed, beat| ExpectedData::Stream(Pattern::new(seed), beat);
    let layout = ExpectedLayout::stream(1, 4096).overwritten(1024, ExpectedLayout::stream(2, 512));
    let expected = [(1024, stream(1, 0)), (512, stream(2, 0)), (2560, stream(1, 96))];
    assert_eq!(layout.extents, expected);
    let start = layout.overwritten(0, ExpectedLayout::stream(3, 1024));
    assert_eq!(start.extents[0], (1024, stream(3, 0)));
    assert_eq!((start.extents.len(), start.bytes()), (3, 4096));
}
