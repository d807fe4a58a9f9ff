use assay_units::text::{format_size, group_digits};

use super::context::{BenchRun, TestContext, TestError, WriteMode, fail};
use super::{MAX_SWEEP_CHUNKS, StreamRates};
use assay_integrity::pattern::ExpectedLayout;
use assay_stream::range::StreamRange;
use assay_stream::streamer::Streamer;

/// Approximate number of passes of the short tests over the window.
const WINDOW_PASSES: u64 = 36;

fn longest(range: &StreamRange, span_bytes: Option<u64>) -> u64 {
    let chunks = span_bytes.map_or(range.chunks(), |span| span / u64::from(range.chunk_bytes));
    chunks.min(range.chunks()).clamp(1, MAX_SWEEP_CHUNKS)
}

fn full_chunks(range: &StreamRange, span_bytes: Option<u64>) -> u64 {
    let stripe = u64::from(range.chunk_bytes) * u64::from(range.drives);
    let chunks = span_bytes.map_or(range.chunks_per_drive(), |span| span / stripe);
    chunks.clamp(1, range.chunks_per_drive())
}

/// Estimated bytes written and read by all tests.
pub(super) fn planned_bytes(
    range: &StreamRange,
    window: &StreamRange,
    span_bytes: Option<u64>,
) -> u64 {
    let chunk = u64::from(range.chunk_bytes);
    let sweep = longest(range, span_bytes) * 2 * 2 * chunk;
    let full = full_chunks(range, span_bytes) * 2 * chunk * u64::from(range.drives);
    window.bytes() * WINDOW_PASSES + sweep + full
}

fn write_and_read(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
    range: &StreamRange,
    (chunks, name): (u64, &str),
    mode: WriteMode,
) -> Result<StreamRates, TestError> {
    let bytes = context.chunks(chunks);
    let seed = context.seed();
    let written = context.write(streamer, range, (seed, name), bytes, mode)?;
    let (_, last) = range.locate(chunks - 1);
    context.ended(&written, bytes, last)?;
    if mode.flush_after && written.durable_bytes != bytes {
        return fail(format!(
            "not durable: {} of {bytes} bytes were reported durable after the flush",
            written.durable_bytes
        ));
    }
    let layout = ExpectedLayout::stream(seed, bytes);
    let read = context.compare(streamer, range, &layout, name)?;
    Ok(StreamRates {
        chunks,
        bytes,
        write_bytes_per_s: written.rate_bytes_per_s(),
        read_bytes_per_s: read.rate_bytes_per_s(),
    })
}

fn mib(bytes_per_s: f64) -> String {
    format!("{:.0}", bytes_per_s / assay_units::MIB as f64)
}

fn best(rows: &[StreamRates], rate: impl Fn(&StreamRates) -> f64) -> Option<&StreamRates> {
    rows.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

pub(super) fn sweep(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let range = context.range;
        let longest = longest(&range, context.options.span_bytes);
        let mut chunks = 1;
        while chunks <= longest {
            let name = format!("the stream of {chunks} chunks");
            let stream = (chunks, name.as_str());
            let rates = write_and_read(streamer, context, &range, stream, WriteMode::default())?;
            context.report.sweep.push(rates);
            chunks *= 2;
        }
        let rows = &context.report.sweep;
        let of = |what: &str, rate: fn(&StreamRates) -> f64| match (best(rows, rate), rows.last()) {
            (Some(best), Some(last)) => format!(
                "{what} {} MiB/s at {}, {} at {}",
                mib(rate(best)),
                format_size(best.bytes),
                mib(rate(last)),
                format_size(last.bytes)
            ),
            _ => String::new(),
        };
        Ok(format!(
            "1 to {} chunks, every byte compared; {}; {}",
            chunks / 2,
            of("writes at most", |r| r.write_bytes_per_s),
            of("reads at most", |r| r.read_bytes_per_s)
        ))
    })
}

pub(super) fn full(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let whole = context.range;
        let count = full_chunks(&whole, context.options.span_bytes);
        let range = StreamRange { last: whole.first + context.chunks(count - 1), ..whole };
        let stream = (range.chunks(), "the whole stream");
        let rates = write_and_read(streamer, context, &range, stream, WriteMode::FLUSH)?;
        context.report.continuous = Some(rates);
        let compared = |what: &str, rate: fn(&StreamRates) -> f64| {
            let now = rate(&rates);
            let mut text = format!("{what} {} MiB/s", mib(now));
            let peak = best(&context.report.sweep, rate).map_or(0.0, rate);
            if peak > 0.0 {
                text += &format!(", {:.0} % of its peak", 100.0 * now / peak);
            }
            text
        };
        let part = if range == whole {
            String::new()
        } else {
            format!(" of {}", format_size(whole.bytes()))
        };
        Ok(format!(
            "{}{part} ({} bytes) as one stream, every byte compared; {}; {}",
            format_size(range.bytes()),
            group_digits(range.bytes()),
            compared("written at", |r| r.write_bytes_per_s),
            compared("read at", |r| r.read_bytes_per_s)
        ))
    })
}
