//! Tests 01 to 06: interrupted and flushed streams.

use super::context::{BenchRun, CommandAfter, TestContext, TestError, WriteMode, fail, read};
use assay_integrity::pattern::{Diagnosis, ExpectedData, ExpectedLayout, Pattern};
use assay_stream::registers::{BEAT_BYTES, ControlBits, StatusBits};
use assay_stream::status::StreamStatus;
use assay_stream::streamer::Streamer;

/// A stream end inside a chunk: five beats and seven bytes.
const ODD_BYTES: u64 = 5 * BEAT_BYTES + 7;

/// 01: an interrupted stream leaves no data in the ring for the next one; all on the same rings.
pub(super) fn left_over(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let window = context.window;
        let half = window.chunks_per_drive() / 2;
        let (low, high) = (context.part(0, half), context.part(half, half));
        let first = context.write_known(streamer, &window, "the first stream")?;
        // Data read ahead of a stopped replay must not appear in the next one.
        let few = half * u64::from(window.drives) / 2;
        let mut sink = CommandAfter { left: few, control: ControlBits::STOP };
        let cut = read(streamer, &window, window.bytes(), context.min_io_bytes, &mut sink)?;
        context.progress.check(&cut)?;
        if !cut.status.has(StatusBits::STOPPED) || cut.chunks != few {
            return fail(format!(
                "wrong status: a replay stopped at chunk {few} ended after {} as {:?}",
                cut.chunks, cut.status
            ));
        }
        let layout = ExpectedLayout::stream(first, window.bytes()).part(low.bytes(), high.bytes());
        context.compare(streamer, &high, &layout, "the replay after one that was stopped")?;
        // Chunks of a stopped stream must not appear in the next one.
        let (cut, next) = (context.seed(), context.seed());
        let order = WriteMode::order(few, ControlBits::STOP);
        let stopped = context.write(
            streamer,
            &low,
            (cut, "the stream that was stopped"),
            low.bytes(),
            order,
        )?;
        let odd = context.chunks(few) + ODD_BYTES;
        context.write(streamer, &high, (next, "the stream after it"), odd, WriteMode::default())?;
        let layout = ExpectedLayout::stream(cut, stopped.bytes);
        context.compare(streamer, &low, &layout, "the stream that was stopped")?;
        context.compare(
            streamer,
            &high,
            &ExpectedLayout::stream(next, odd),
            "the stream after one that was stopped",
        )?;
        Ok(format!(
            "streams cut off after {few} and {} chunks left no data behind: the next streams \
             began with their own first beat",
            stopped.chunks
        ))
    })
}

/// 02: the checker detects a wrong seed and a wrong length.
pub(super) fn checker(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let window = context.window;
        let chunks = window.chunks() / 2;
        let bytes = context.chunks(chunks) + ODD_BYTES;
        let (seed, other) = (context.seed(), context.seed());
        context.write(streamer, &window, (seed, "the stream"), bytes, WriteMode::FLUSH)?;
        let right = ExpectedLayout::stream(seed, bytes);
        context.compare(streamer, &window, &right, "no error")?;

        let (found, status) =
            context.read_back(streamer, &window, &ExpectedLayout::stream(other, bytes))?;
        let first = found.chunks.first();
        let named = first.and_then(|wrong| wrong.diagnosis.clone());
        if first.map(|wrong| wrong.beat) != Some(0) || named != Some(Diagnosis::WrongSeed(seed)) {
            return fail(format!(
                "wrong seed: the checker of seed {other:#x} should fail at beat 0 and name seed \
                 {seed:#x}, and reported {named:?}"
            ));
        }

        // A longer expected length: the first partial beat must be found.
        let end = bytes / BEAT_BYTES;
        let (found, _) = context.read_back(
            streamer,
            &window,
            &ExpectedLayout::stream(seed, bytes + context.chunks(1)),
        )?;
        let first = found.chunks.first().map(|wrong| wrong.beat);
        if first != Some(end) {
            return fail(format!(
                "wrong length: the checker of a longer stream should fail at beat {end}, and \
                 failed at {first:?}"
            ));
        }
        let check = |expected| Diagnosis::check_length(status.bytes, expected);
        let (longer, shorter, same) =
            (check(bytes + BEAT_BYTES), check(bytes - BEAT_BYTES), check(bytes));
        let (Err(Diagnosis::Short { .. }), Err(Diagnosis::Long { .. }), Ok(())) =
            (&longer, &shorter, &same)
        else {
            return fail(format!(
                "wrong length: {} bytes were read of {bytes}; one beat more: {longer:?}, one \
                 less: {shorter:?}",
                status.bytes
            ));
        };
        Ok(format!(
            "wrong seed fails at beat 0, wrong length at beat {end}, the right ones pass over \
             {bytes} bytes"
        ))
    })
}

/// 03: durable data survive a power loss.
pub(super) fn flush(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    let (first, window) = bench.open(|streamer, context| {
        let window = context.window;
        let seed = context.seed();
        let stream = (seed, "the flushed stream");
        let status = context.write(streamer, &window, stream, window.bytes(), WriteMode::FLUSH)?;
        context.ended(&status, window.bytes(), window.last)?;
        if status.durable_bytes != window.bytes() {
            return fail(format!(
                "not durable: {} of {} bytes were reported durable after the flush",
                status.durable_bytes,
                window.bytes()
            ));
        }
        Ok((seed, window))
    })?;
    let cut = bench.host.lose_power();
    let what = if cut { "flushed, and lost in a power cut" } else { "flushed" };
    let (second, status) = bench.open(|streamer, context| {
        let layout = ExpectedLayout::stream(first, window.bytes());
        context.compare(streamer, &window, &layout, what)?;
        // A flush while the stream continues, and an end without one.
        let seed = context.seed();
        let chunks = window.chunks();
        let mode = WriteMode {
            flush_after: false,
            orders: [
                Some((chunks / 2, ControlBits::FLUSH_NOW)),
                Some((chunks * 3 / 4, ControlBits::STOP)),
            ],
        };
        let stream = (seed, "the stream flushed on its way");
        let status = context.write(streamer, &window, stream, window.bytes(), mode)?;
        Ok((seed, status))
    })?;
    let cut = bench.host.lose_power() && cut;
    let sure = if cut { status.durable_bytes } else { status.bytes };
    bench.open(|streamer, context| {
        context.compare(streamer, &window, &ExpectedLayout::stream(second, sure), what)?;
        let flushed = window.chunks();
        let now = status.durable_bytes / u64::from(window.chunk_bytes);
        Ok(if cut {
            format!(
                "the power was cut (simulated) and all durable data are there: {flushed} chunks \
                 flushed at the end, {now} during the stream"
            )
        } else {
            format!(
                "flushes succeed and the data read back ({flushed} chunks flushed at the end, \
                 {now} during the stream); no power was cut, which alone would prove durability"
            )
        })
    })
}

/// 04: a stream that ends inside a chunk.
pub(super) fn early_last(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let window = context.window;
        let old = context.write_known(streamer, &window, "the old pattern")?;
        let chunks = window.chunks() / 3;
        let bytes = context.chunks(chunks) + ODD_BYTES;
        let seed = context.seed();
        let status =
            context.write(streamer, &window, (seed, "the stream"), bytes, WriteMode::FLUSH)?;
        let (_, last) = window.locate(chunks);
        let bits = StatusBits::FINISHED.with(StatusBits::EARLY_LAST).with(StatusBits::LAST_VALID);
        let beats = bytes.div_ceil(BEAT_BYTES);
        let reported = (status.status, status.last_address_written, status.bytes, status.beats);
        if reported != (bits, Some(last), bytes, beats) {
            return fail(format!(
                "wrong status: {reported:?} and should be {:?}",
                (bits, Some(last), bytes, beats)
            ));
        }
        // The drive takes whole blocks: the last one is padded with zeroes.
        let unit = u64::from(context.min_io_bytes.max(1));
        let block_end = bytes.next_multiple_of(unit).min(context.chunks(chunks + 1));
        let behind = ExpectedData::Stream(Pattern::new(old), block_end / BEAT_BYTES);
        let layout = ExpectedLayout::stream(seed, bytes)
            .then(block_end - bytes, ExpectedData::Zeroes)
            .then(window.bytes() - block_end, behind);
        let (found, _) = context.read_back(streamer, &window, &layout)?;
        if let Some(first) = found.chunks.first() {
            let what = if first.at_byte < bytes {
                "a stream that ended early"
            } else {
                "overrun after the stream's end"
            };
            let words = context.explain(streamer, &window, &layout, &found)?;
            return fail(format!("{what}: {words}"));
        }
        Ok(format!(
            "{bytes} bytes ended inside chunk {chunks}: early_last, last address {last}, {beats} \
             beats; nothing after them was changed"
        ))
    })
}

/// An interrupted stream over an old pattern, its status, and the first beat that must be old.
struct Cut {
    old: u64,
    new: u64,
    status: StreamStatus,
    /// The captured last address.
    last: u64,
    first_stale_beat: u64,
}

fn cut(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    control: ControlBits,
) -> Result<Cut, TestError> {
    let window = context.window;
    let old = context.write_known(streamer, &window, "the old pattern")?;
    let new = context.seed();
    let chunks = window.chunks() * 2 / 5;
    let order = WriteMode::order(chunks, control);
    let stream = (new, "the new stream");
    let status = context.write(streamer, &window, stream, window.bytes(), order)?;
    let bit = if control == ControlBits::ABORT { StatusBits::ABORTED } else { StatusBits::STOPPED };
    if status.status != bit.with(StatusBits::LAST_VALID) {
        return fail(format!(
            "wrong status: {:?} and should be {bit:?} and last_valid",
            status.status
        ));
    }
    let Some(last) = status.last_address_written else {
        return fail("no last address was captured");
    };
    // The captured address must be that of the last chunk counted.
    let last_chunk = status.chunks.checked_sub(1);
    let counted = last_chunk.map(|chunk| window.locate(chunk).1);
    if counted != Some(last) || status.bytes != context.chunks(status.chunks) {
        return fail(format!(
            "wrong status: {} chunks and {} bytes do not end at the captured last address {last}",
            status.chunks, status.bytes
        ));
    }
    let first_stale_beat = if window.drives == 1 {
        (last - window.first + context.chunks(1)) / BEAT_BYTES
    } else {
        status.chunks * context.chunk_beats()
    };
    Ok(Cut { old, new, status, last, first_stale_beat })
}

/// From the first beat after the captured chunk on, everything is old.
fn checked(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    cut: &Cut,
) -> Result<(), TestError> {
    let window = context.window;
    let new_bytes = cut.first_stale_beat * BEAT_BYTES;
    let head = ExpectedLayout::stream(cut.new, new_bytes);
    context.compare(streamer, &window, &head, "up to the captured last address")?;
    let all = ExpectedLayout::stream(cut.new, window.bytes());
    let (found, _) = context.read_back(streamer, &window, &all)?;
    let first = found.chunks.first();
    match first.map(|wrong| wrong.beat) {
        Some(beat) if beat == cut.first_stale_beat => {}
        Some(beat) => {
            // Earlier if this second read failed where the first did not.
            let bytes = beat.saturating_sub(cut.first_stale_beat) * BEAT_BYTES;
            return fail(format!(
                "overrun: the checker failed at beat {beat} and must at beat {}: {bytes} bytes of \
                 the new stream lie after the captured last address {}, written after the end",
                cut.first_stale_beat, cut.last
            ));
        }
        None => return fail("overrun: the new stream fills the window, and should have ended"),
    }
    let behind = ExpectedData::Stream(Pattern::new(cut.old), cut.first_stale_beat);
    let layout = ExpectedLayout::default()
        .then(new_bytes, ExpectedData::Anything)
        .then(window.bytes() - new_bytes, behind);
    context.compare(streamer, &window, &layout, "after the captured last address")?;
    Ok(())
}

fn cut_text(context: &TestContext<'_>, cut: &Cut) -> String {
    let chunks = context.window.chunks();
    format!(
        "ended after {} of {chunks} chunks; last address {}; the checker fails at beat {}, the \
         first of the next chunk; {} chunks after it hold the old pattern",
        cut.status.chunks,
        cut.last,
        cut.first_stale_beat,
        chunks - cut.status.chunks
    )
}

/// 05: abort mid-write, with a flush.
pub(super) fn abort(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    let cut = bench.open(|streamer, context| {
        let cut = cut(streamer, context, ControlBits::ABORT)?;
        if cut.status.durable_bytes != cut.status.bytes {
            return fail(format!(
                "not durable: {} of {} bytes were reported durable, and an abort flushes",
                cut.status.durable_bytes, cut.status.bytes
            ));
        }
        Ok(cut)
    })?;
    let lost = bench.host.lose_power();
    bench.open(|streamer, context| {
        checked(streamer, context, &cut)?;
        let durable = if lost { "; durable through a simulated power loss" } else { "; flushed" };
        Ok(cut_text(context, &cut) + durable)
    })
}

/// 06: stop mid-write, without a flush.
pub(super) fn stop(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let cut = cut(streamer, context, ControlBits::STOP)?;
        if cut.status.durable_bytes != 0 {
            return fail(format!(
                "wrong status: {} bytes were reported durable, and a stop does not flush",
                cut.status.durable_bytes
            ));
        }
        checked(streamer, context, &cut)?;
        Ok(cut_text(context, &cut))
    })
}
