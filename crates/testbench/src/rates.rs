//! Tests 08 and 10: every byte of streams of every size, with their rates.

use assay_units::text::{format_size, group_digits};

use super::desk::{Bench, Desk, How, Trouble, fail};
use super::layout::Layout;
use super::{MAX_SWEEP_CHUNKS, Rates, Seen};
use assay_stream::lane::Lane;
use assay_stream::range::Range;

/// Short tests write and read the window about so often.
const WINDOW_PASSES: u64 = 30;

/// Chunks of the longest stream of the sweep.
fn longest(range: &Range, span_bytes: Option<u64>) -> u64 {
    let span = span_bytes.unwrap_or(u64::MAX) / u64::from(range.chunk_bytes);
    MAX_SWEEP_CHUNKS.min(range.chunks()).min(span).max(1)
}

/// Chunks of each drive that test 10 uses.
fn full_chunks(range: &Range, span_bytes: Option<u64>) -> u64 {
    let stripe = u64::from(range.chunk_bytes) * u64::from(range.lanes);
    let span = span_bytes.unwrap_or(u64::MAX) / stripe;
    span.clamp(1, range.chunks_per_lane())
}

/// About how much all tests write and read, bytes.
pub(super) fn planned_bytes(range: &Range, window: &Range, span_bytes: Option<u64>) -> u64 {
    let chunk = u64::from(range.chunk_bytes);
    let sweep = longest(range, span_bytes).saturating_mul(2 * 2 * chunk);
    let full = full_chunks(range, span_bytes).saturating_mul(2 * chunk * u64::from(range.lanes));
    window
        .bytes()
        .saturating_mul(WINDOW_PASSES)
        .saturating_add(sweep)
        .saturating_add(full)
}

fn there_and_back(
    lanes: &mut [Lane<'_>],
    desk: &mut Desk<'_>,
    range: &Range,
    (chunks, name): (u64, &str),
    how: How,
) -> Result<Rates, Trouble> {
    let bytes = desk.chunks(chunks);
    let seed = desk.seed();
    let written = desk.write(lanes, range, (seed, name), bytes, how)?;
    let (_, last) = range.place(chunks - 1);
    desk.ended(&written, bytes, last)?;
    if how.flush_after && written.durable_bytes != bytes {
        return fail(format!(
            "not durable: {} of {bytes} bytes were called durable after the flush",
            written.durable_bytes
        ));
    }
    let layout = Layout::stream(seed, bytes);
    let read = desk.compare(lanes, range, &layout, name)?;
    Ok(Rates {
        chunks,
        bytes,
        write_bytes_per_s: written.rate_bytes_per_s(),
        read_bytes_per_s: read.rate_bytes_per_s(),
    })
}

fn mib(bytes_per_s: f64) -> String {
    format!("{:.0}", bytes_per_s / assay_units::MIB as f64)
}

fn best(rows: &[Rates], rate: impl Fn(&Rates) -> f64) -> Option<&Rates> {
    rows.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

/// 08: 1, 2, 4 ... chunks.
pub(super) fn sweep(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let range = desk.range;
        let longest = longest(&range, desk.options.span_bytes);
        let mut chunks = 1;
        while chunks <= longest {
            let name = format!("the stream of {chunks} chunks");
            let rates = there_and_back(lanes, desk, &range, (chunks, &name), How::default())?;
            desk.sweep.push(rates);
            chunks *= 2;
        }
        let rows = &desk.sweep;
        let of = |what: &str, rate: fn(&Rates) -> f64| match (best(rows, rate), rows.last()) {
            (Some(best), Some(last)) => format!(
                "{what} {} MiB/s at {}, {} at {}",
                mib(rate(best)),
                format_size(best.bytes),
                mib(rate(last)),
                format_size(last.bytes)
            ),
            _ => String::new(),
        };
        Ok(Seen::Pass(format!(
            "1 to {} chunks, every byte compared; {}; {}",
            chunks / 2,
            of("writes at most", |r| r.write_bytes_per_s),
            of("reads at most", |r| r.read_bytes_per_s)
        )))
    })
}

/// 10: all of it as one stream.
pub(super) fn full(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    bench.open(|lanes, desk| {
        let whole = desk.range;
        let count = full_chunks(&whole, desk.options.span_bytes);
        let range = Range {
            last: whole.first + desk.chunks(count - 1),
            ..whole
        };
        let stream = (range.chunks(), "the whole stream");
        let rates = there_and_back(lanes, desk, &range, stream, How::FLUSH)?;
        desk.continuous = Some(rates);
        let compared = |what: &str, rate: fn(&Rates) -> f64| {
            let now = rate(&rates);
            match best(&desk.sweep, rate).map(rate).filter(|&peak| peak > 0.0) {
                Some(peak) => format!(
                    "{what} {} MiB/s, {:.0} % of its peak",
                    mib(now),
                    100.0 * now / peak
                ),
                None => format!("{what} {} MiB/s", mib(now)),
            }
        };
        let part = if range == whole {
            String::new()
        } else {
            format!(" of {}", format_size(whole.bytes()))
        };
        Ok(Seen::Pass(format!(
            "{}{part} ({} bytes) as one stream, every byte compared; {}; {}",
            format_size(range.bytes()),
            group_digits(range.bytes()),
            compared("written at", |r| r.write_bytes_per_s),
            compared("read at", |r| r.read_bytes_per_s)
        )))
    })
}
