//! Test 07: writes leave what is next to them as it was.

use super::context::{BenchRun, TestContext, TestError, WriteMode};
use assay_integrity::pattern::{ExpectedData, ExpectedLayout, Pattern};
use assay_integrity::planned_faults::BLOCK_BYTES;
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
        let sessions: Vec<(StreamRange, u64)> =
            (0..4).map(|n| (context.part(n * each, each), context.seed())).collect();
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
        let layout = sessions.iter().fold(ExpectedLayout::default(), |layout, (range, seed)| {
            layout.then(range.bytes(), ExpectedData::Stream(Pattern::new(*seed), 0))
        });
        context.compare(streamer, &window, &layout, "adjacent sessions")?;
        let alone = neighbours(streamer, context, layout)?;
        Ok(format!(
            "4 sessions of {} chunks, written in the order {ORDER:?}, all intact: nothing was \
             overwritten; {alone} chunks written alone in random order left their neighbours \
             intact",
            each * u64::from(window.drives)
        ))
    })
}

/// Chunks written alone, each flushed, while those on both sides hold what must stay: first every
/// odd one, then every even one. A stream in order would hide damage to the chunk after each
/// write, which it writes next. Half of them are written in part, so that the rest must stay. Each
/// half is written in a random order and in the reverse of it, with everything read back after
/// each: of two chunks further apart, each is once the later one. `held`: what the window holds.
/// Returns the number of chunks.
fn neighbours(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    held: ExpectedLayout,
) -> Result<u64, TestError> {
    let chunks = context.window.chunks_per_drive().min(ALONE_CHUNKS);
    let area = context.part(0, chunks);
    let mut held = held.part(0, area.bytes());
    let each = area.bytes() / chunks;
    let block = u64::from(context.min_io_bytes).max(BLOCK_BYTES);
    let mut rng = Rng::new(context.seed());
    for parity in [1, 0] {
        let mut half: Vec<u64> = (parity..chunks).step_by(2).collect();
        for left in (1..half.len()).rev() {
            half.swap(left, rng.below(left as u64 + 1) as usize);
        }
        for _ in 0..2 {
            for &n in &half {
                let bytes = match rng.below(2) {
                    0 => each,
                    _ => (1 + rng.below(each / block)) * block,
                };
                let seed = write_alone(streamer, context, n, bytes)?;
                held = held.overwritten(n * each, ExpectedLayout::stream(seed, bytes));
            }
            let what = "after writes of single chunks";
            context.compare(streamer, &area, &held, what)?;
            half.reverse();
        }
    }
    Ok(area.chunks())
}

/// A flushed stream of its own in one chunk; returns its seed.
fn write_alone(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    chunk: u64,
    bytes: u64,
) -> Result<u64, TestError> {
    let (range, seed) = (context.part(chunk, 1), context.seed());
    let name = format!("the write of chunk {chunk} alone");
    let stream = (seed, name.as_str());
    let status = context.write(streamer, &range, stream, bytes, WriteMode::FLUSH)?;
    context.ended(&status, bytes, range.last)?;
    Ok(seed)
}
