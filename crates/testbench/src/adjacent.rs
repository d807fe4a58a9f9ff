//! Test 07: writes leave what is next to them as it was.

use super::context::{BenchRun, TestContext, TestError, WriteMode};
use assay_integrity::pattern::{ExpectedData, ExpectedLayout, Pattern};
use assay_stream::range::StreamRange;
use assay_stream::streamer::Streamer;
use assay_units::Rng;

/// Chunks per drive that are written alone.
const ALONE_CHUNKS: u64 = 64;

/// 07: four adjacent sessions, written third, first, fourth, second.
pub(super) fn adjacent(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    const ORDER: [u64; 4] = [2, 0, 3, 1];
    bench.open(|streamer, context| {
        let window = context.window;
        let each = window.chunks_per_drive() / 4;
        let sessions: Vec<(StreamRange, u64)> = (0..4)
            .map(|n| (context.part(n * each, each), context.seed()))
            .collect();
        for n in ORDER {
            let (range, seed) = &sessions[n as usize];
            let name = format!("session {n}");
            let status = context.write(
                streamer,
                range,
                (*seed, &name),
                range.bytes(),
                WriteMode::default(),
            )?;
            context.ended(&status, range.bytes(), range.last)?;
        }
        let layout = sessions
            .iter()
            .fold(ExpectedLayout::default(), |layout, (range, seed)| {
                layout.then(range.bytes(), ExpectedData::Stream(Pattern::new(*seed), 0))
            });
        context.compare(streamer, &window, &layout, "adjacent sessions")?;
        let row = context.chunk_beats() * u64::from(window.drives);
        let of_session = |n: u64| {
            let (_, seed) = sessions[(n / each) as usize];
            ExpectedData::Stream(Pattern::new(seed), n % each * row)
        };
        let alone = window.chunks_per_drive().min(ALONE_CHUNKS);
        let mut held: Vec<ExpectedData> = (0..alone).map(of_session).collect();
        let alone = neighbours(streamer, context, &mut held)?;
        Ok(format!(
            "4 sessions of {} chunks, written in the order {ORDER:?}, all intact: nothing was \
             overwritten; {alone} chunks written alone in random order left their neighbours intact",
            each * u64::from(window.drives)
        ))
    })
}

/// Chunks written alone, each flushed, while those on both sides hold what must stay: first every
/// odd one, then every even one. A stream in order would hide damage to the chunk after each
/// write, which it writes next. Each half is written in a random order and in the reverse of it,
/// with everything read back after each: of two chunks further apart, each is once the later one.
/// `held`: what each chunk holds. Returns the number of chunks.
fn neighbours(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    held: &mut [ExpectedData],
) -> Result<u64, TestError> {
    let chunks = held.len() as u64;
    let area = context.part(0, chunks);
    let each = area.bytes() / chunks;
    let mut rng = Rng::new(context.seed());
    for parity in [1, 0] {
        let mut half: Vec<u64> = (parity..chunks).step_by(2).collect();
        for left in (1..half.len()).rev() {
            half.swap(left, rng.below(left as u64 + 1) as usize);
        }
        for _ in 0..2 {
            for &n in &half {
                let (range, name) = (context.part(n, 1), format!("the write of chunk {n} alone"));
                let seed = context.write_known(streamer, &range, &name)?;
                held[n as usize] = ExpectedData::Stream(Pattern::new(seed), 0);
            }
            let layout = held.iter().fold(ExpectedLayout::default(), |layout, data| {
                layout.then(each, *data)
            });
            let what = "after writes of single chunks";
            context.compare(streamer, &area, &layout, what)?;
            half.reverse();
        }
    }
    Ok(area.chunks())
}
