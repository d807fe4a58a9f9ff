//! Tests 01 to 07: streams that end before their end, side by side, and flushed.

use super::Seen;
use super::desk::{Bench, Desk, How, Trouble, Until, fail, read};
use super::layout::{Holds, Layout};
use assay_integrity::pattern::{Diagnosis, Pattern, Shape};
use assay_stream::lane::Lane;
use assay_stream::range::Range;
use assay_stream::registers::{BEAT_BYTES, Control, StatusBits};
use assay_stream::source::Discard;
use assay_stream::status::Status;

/// A stream's end inside a chunk: five beats and seven bytes.
const ODD_BYTES: u64 = 5 * BEAT_BYTES + 7;

/// 01: a stream that was cut short leaves nothing in the ring for the next one. All of it on the same rings.
pub(super) fn left_over(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let window = desk.window;
        let half = window.chunks_per_lane() / 2;
        let (low, high) = (desk.part(0, half), desk.part(half, half));
        let first = desk.lay(lanes, &window, "the first stream")?;
        // Reading: what was read ahead when the replay was stopped must not come with the next.
        let few = half * u64::from(window.lanes) / 2;
        let mut sink = Until {
            left: few,
            control: Control::STOP,
            sink: &mut Discard,
        };
        let cut = read(lanes, &window, window.bytes(), desk.min_io_bytes, &mut sink)?;
        if let Some(failure) = &cut.failure {
            return fail(format!("device error: {failure}"));
        }
        if !cut.status.has(StatusBits::STOPPED) || cut.chunks != few {
            return fail(format!(
                "wrong status: a replay stopped at chunk {few} ended after {} as {:?}",
                cut.chunks, cut.status
            ));
        }
        let layout = Layout::stream(first, window.bytes()).part(low.bytes(), high.bytes());
        desk.compare(lanes, &high, &layout, "the replay after one that was stopped")?;
        // Writing: chunks of a stream that was stopped must not come with the next.
        let (cut, next) = (desk.seed(), desk.seed());
        let order = How::order(few, Control::STOP);
        let stopped = desk.write(lanes, &low, (cut, "the stream that was stopped"), low.bytes(), order)?;
        let odd = desk.chunks(few) + ODD_BYTES;
        desk.write(lanes, &high, (next, "the stream after it"), odd, How::default())?;
        let layout = Layout::stream(cut, stopped.bytes);
        desk.compare(lanes, &low, &layout, "the stream that was stopped")?;
        desk.compare(lanes, &high, &Layout::stream(next, odd), "the stream after one that was stopped")?;
        Ok(Seen::Pass(format!(
            "streams cut off after {few} and {} chunks left no beat behind: the next began with their own first",
            stopped.chunks
        )))
    })
}

/// 02: the checker fails where it must and passes where it must.
pub(super) fn checker(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let window = desk.window;
        let chunks = window.chunks() / 2;
        let bytes = desk.chunks(chunks) + ODD_BYTES;
        let (seed, other) = (desk.seed(), desk.seed());
        desk.write(lanes, &window, (seed, "the stream"), bytes, How::FLUSH)?;
        let right = Layout::stream(seed, bytes);
        desk.compare(lanes, &window, &right, "no error")?;

        let (found, status) = desk.look(lanes, &window, &Layout::stream(other, bytes))?;
        let first = found.wrong.first();
        let named = first.and_then(|wrong| wrong.diagnosis.clone());
        if first.map(|wrong| wrong.beat) != Some(0) || named != Some(Diagnosis::WrongSeed { seed }) {
            return fail(format!(
                "wrong seed: the checker of seed {other:#x} should fail at beat 0 and name seed {seed:#x}, and said {named:?}"
            ));
        }

        // Longer than it is: the first beat that is not whole must be found.
        let end = bytes / BEAT_BYTES;
        let (found, _) = desk.look(lanes, &window, &Layout::stream(seed, bytes + desk.chunks(1)))?;
        let first = found.wrong.first().map(|wrong| wrong.beat);
        if first != Some(end) {
            return fail(format!(
                "wrong length: the checker of a longer stream should fail at beat {end}, and failed at {first:?}"
            ));
        }
        let length = |length_bytes| Shape {
            length_bytes,
            packet_beats: None,
        };
        let longer = length(bytes + BEAT_BYTES).check_end(status.bytes);
        let shorter = length(bytes - BEAT_BYTES).check_end(status.bytes);
        let same = length(bytes).check_end(status.bytes);
        let (Err(Diagnosis::Short { .. }), Err(Diagnosis::Long { .. }), Ok(())) = (&longer, &shorter, &same) else {
            return fail(format!(
                "wrong length: {} bytes came back of {bytes}; one beat more: {longer:?}, one less: {shorter:?}",
                status.bytes
            ));
        };
        Ok(Seen::Pass(format!(
            "wrong seed fails at beat 0, wrong length at beat {end}, the right ones pass over {bytes} bytes"
        )))
    })
}

/// 03: what was called durable is there after a loss of power.
pub(super) fn flush(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    let (first, window) = bench.open(|lanes, desk| {
        let window = desk.window;
        let seed = desk.seed();
        let status = desk.write(
            lanes,
            &window,
            (seed, "the flushed stream"),
            window.bytes(),
            How::FLUSH,
        )?;
        desk.ended(&status, window.bytes(), window.last)?;
        if status.durable_bytes != window.bytes() {
            return fail(format!(
                "not durable: {} of {} bytes were called durable after the flush",
                status.durable_bytes,
                window.bytes()
            ));
        }
        Ok((seed, window))
    })?;
    let cut = bench.lose_power();
    let what = if cut {
        "flushed, and gone when the power was"
    } else {
        "flushed"
    };
    let (second, status) = bench.open(|lanes, desk| {
        desk.compare(lanes, &window, &Layout::stream(first, window.bytes()), what)?;
        // A flush while the stream goes on, and an end without one.
        let seed = desk.seed();
        let chunks = window.chunks();
        let how = How {
            flush_after: false,
            orders: [
                Some((chunks / 2, Control::FLUSH_NOW)),
                Some((chunks * 3 / 4, Control::STOP)),
            ],
        };
        let stream = (seed, "the stream flushed on its way");
        let status = desk.write(lanes, &window, stream, window.bytes(), how)?;
        Ok((seed, status))
    })?;
    let cut = bench.lose_power() && cut;
    let sure = if cut {
        status.durable_bytes
    } else {
        status.bytes
    };
    bench.open(|lanes, desk| {
        desk.compare(lanes, &window, &Layout::stream(second, sure), what)?;
        let flushed = window.chunks();
        let now = status.durable_bytes / u64::from(window.chunk_bytes);
        Ok(Seen::Pass(if cut {
            format!(
                "the power was cut (a model of it, not a real loss of power) and all that was durable is there: {flushed} chunks flushed after, {now} flushed on the way"
            )
        } else {
            format!(
                "flushes are taken and the data reads back ({flushed} chunks flushed after, {now} flushed on the way); no power was cut, which alone would prove them"
            )
        }))
    })
}

/// 04: a stream that ends inside a chunk.
pub(super) fn early_last(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let window = desk.window;
        let old = desk.lay(lanes, &window, "the old pattern")?;
        let chunks = window.chunks() / 3;
        let bytes = desk.chunks(chunks) + ODD_BYTES;
        let seed = desk.seed();
        let status = desk.write(lanes, &window, (seed, "the stream"), bytes, How::FLUSH)?;
        let (_, last) = window.place(chunks);
        let bits = StatusBits::FINISHED
            .with(StatusBits::EARLY_LAST)
            .with(StatusBits::LAST_VALID);
        let beats = bytes.div_ceil(BEAT_BYTES);
        let told = (status.status, status.last_address_written, status.bytes, status.beats);
        if told != (bits, Some(last), bytes, beats) {
            return fail(format!(
                "wrong status: {told:?} and should be {:?}",
                (bits, Some(last), bytes, beats)
            ));
        }
        // The drive takes whole blocks: the rest of the last one is zeroes.
        let unit = u64::from(desk.min_io_bytes.max(1));
        let block_end = bytes.next_multiple_of(unit).min(desk.chunks(chunks + 1));
        let behind = Holds::Stream(Pattern::new(old), block_end / BEAT_BYTES);
        let layout = Layout::stream(seed, bytes)
            .then(block_end - bytes, Holds::Zeroes)
            .then(window.bytes() - block_end, behind);
        let (found, _) = desk.look(lanes, &window, &layout)?;
        if let Some(first) = found.wrong.first() {
            let what = if first.at_byte < bytes {
                "a stream that ended early"
            } else {
                "overrun behind the stream's end"
            };
            let words = desk.explain(lanes, &window, &layout, &found)?;
            return fail(format!("{what}: {words}"));
        }
        Ok(Seen::Pass(format!(
            "{bytes} bytes ended inside chunk {chunks}: early_last, last address {last}, {beats} beats; nothing behind them was touched"
        )))
    })
}

/// A stream over an old pattern, ended on the way; what it said, and where the first old beat must be.
struct Cut {
    old: u64,
    new: u64,
    status: Status,
    /// The captured last address.
    last: u64,
    first_stale_beat: u64,
}

fn cut(lanes: &mut [Lane<'_>], desk: &mut Desk<'_>, control: Control) -> Result<Cut, Trouble> {
    let window = desk.window;
    let old = desk.lay(lanes, &window, "the old pattern")?;
    let new = desk.seed();
    let chunks = window.chunks() * 2 / 5;
    let order = How::order(chunks, control);
    let status = desk.write(
        lanes,
        &window,
        (new, "the new stream"),
        window.bytes(),
        order,
    )?;
    let bit = if control == Control::ABORT {
        StatusBits::ABORTED
    } else {
        StatusBits::STOPPED
    };
    if status.status != bit.with(StatusBits::LAST_VALID) {
        return fail(format!(
            "wrong status: {:?} and should be {bit:?} and last_valid",
            status.status
        ));
    }
    let Some(last) = status.last_address_written else {
        return fail("no last address was captured");
    };
    // The captured address must be that of the last chunk counted; with one drive that is address arithmetic alone.
    let counted = status
        .chunks
        .checked_sub(1)
        .map(|chunk| window.place(chunk).1);
    if counted != Some(last) || status.bytes != desk.chunks(status.chunks) {
        return fail(format!(
            "wrong status: {} chunks and {} bytes do not end at the captured last address {last}",
            status.chunks, status.bytes
        ));
    }
    let first_stale_beat = if window.lanes == 1 {
        (last - window.first + desk.chunks(1)) / BEAT_BYTES
    } else {
        status.chunks * desk.chunk_beats()
    };
    Ok(Cut {
        old,
        new,
        status,
        last,
        first_stale_beat,
    })
}

/// The checker of the new stream fails at exactly the first beat behind the captured chunk, and everything from there on is old.
fn checked(lanes: &mut [Lane<'_>], desk: &mut Desk<'_>, cut: &Cut) -> Result<(), Trouble> {
    let window = desk.window;
    let new_bytes = cut.first_stale_beat * BEAT_BYTES;
    let head = Layout::stream(cut.new, new_bytes);
    desk.compare(lanes, &window, &head, "up to the captured last address")?;
    let all = Layout::stream(cut.new, window.bytes());
    let (found, _) = desk.look(lanes, &window, &all)?;
    let first = found.wrong.first();
    match first.map(|wrong| wrong.beat) {
        Some(beat) if beat == cut.first_stale_beat => {}
        Some(beat) => {
            let bytes = beat.saturating_sub(cut.first_stale_beat) * BEAT_BYTES;
            return fail(format!(
                "overrun: the checker failed at beat {beat} and must at beat {}: {bytes} bytes of the new stream lie behind the captured last address {}, written after the end",
                cut.first_stale_beat, cut.last
            ));
        }
        None => return fail("overrun: the new stream is everywhere, and should have been ended"),
    }
    let behind = Holds::Stream(Pattern::new(cut.old), cut.first_stale_beat);
    let layout = Layout::default()
        .then(new_bytes, Holds::Anything)
        .then(window.bytes() - new_bytes, behind);
    desk.compare(lanes, &window, &layout, "behind the captured last address")?;
    Ok(())
}

fn told(desk: &Desk<'_>, cut: &Cut) -> String {
    let chunks = desk.window.chunks();
    format!(
        "ended after {} of {chunks} chunks; last address {}; the checker fails at beat {}, the first of the next chunk; {} chunks behind hold the old pattern",
        cut.status.chunks,
        cut.last,
        cut.first_stale_beat,
        chunks - cut.status.chunks
    )
}

/// 05: aborted mid-write; a flush follows.
pub(super) fn abort(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    let cut = bench.open(|lanes, desk| {
        let cut = cut(lanes, desk, Control::ABORT)?;
        if cut.status.durable_bytes != cut.status.bytes {
            return fail(format!(
                "not durable: {} of {} bytes were called durable, and an abort flushes",
                cut.status.durable_bytes, cut.status.bytes
            ));
        }
        Ok(cut)
    })?;
    let lost = bench.lose_power();
    bench.open(|lanes, desk| {
        checked(lanes, desk, &cut)?;
        let durable = if lost {
            "; durable through a loss of power (a model of it)"
        } else {
            "; flushed"
        };
        Ok(Seen::Pass(told(desk, &cut) + durable))
    })
}

/// 06: stopped mid-write; nothing is flushed.
pub(super) fn stop(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let cut = cut(lanes, desk, Control::STOP)?;
        if cut.status.durable_bytes != 0 {
            return fail(format!(
                "wrong status: {} bytes were called durable, and a stop does not flush",
                cut.status.durable_bytes
            ));
        }
        checked(lanes, desk, &cut)?;
        Ok(Seen::Pass(told(desk, &cut)))
    })
}

/// 07: four sessions side by side, written third, first, fourth, second.
pub(super) fn adjacent(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    const ORDER: [u64; 4] = [2, 0, 3, 1];
    bench.open(|lanes, desk| {
        let window = desk.window;
        let each = window.chunks_per_lane() / 4;
        let sessions: Vec<(Range, u64)> = (0..4).map(|n| (desk.part(n * each, each), desk.seed())).collect();
        for n in ORDER {
            let (range, seed) = &sessions[n as usize];
            let name = format!("session {n}");
            let status = desk.write(lanes, range, (*seed, &name), range.bytes(), How::default())?;
            desk.ended(&status, range.bytes(), range.last)?;
        }
        let layout = sessions.iter().fold(Layout::default(), |layout, (range, seed)| {
            layout.then(range.bytes(), Holds::Stream(Pattern::new(*seed), 0))
        });
        desk.compare(lanes, &window, &layout, "adjacent sessions")?;
        Ok(Seen::Pass(format!(
            "4 sessions of {} chunks, written in the order {ORDER:?}, all whole: nothing was overwritten",
            each * u64::from(window.lanes)
        )))
    })
}
