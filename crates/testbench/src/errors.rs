use super::context::{BenchRun, TestContext, TestError, fail, read_chunk};
use assay_integrity::pattern::ExpectedLayout;
use assay_stream::range::RangeRequest;
use assay_stream::registers::StatusBits;
use assay_stream::source::DiscardSink;
use assay_stream::streamer::{DriveChunk, Streamer};

type AddressCase = (&'static str, Option<u64>, Option<u64>, StatusBits);

fn address_cases(context: &TestContext<'_>) -> [AddressCase; 6] {
    let chunk = u64::from(context.range.chunk_bytes);
    let end = context.capacity_bytes.next_multiple_of(chunk);
    let first = context.window.first;
    let far = u64::MAX / chunk * chunk;
    use StatusBits as S;
    [
        ("unaligned first", Some(first + 16), None, S::UNALIGNED),
        ("unaligned last", Some(first), Some(first + chunk + 16), S::UNALIGNED),
        ("first after last", Some(first + chunk), Some(first), S::FIRST_AFTER_LAST),
        ("last beyond the media", Some(first), Some(end), S::OUT_OF_RANGE),
        ("first beyond the media", Some(end), None, S::OUT_OF_RANGE),
        ("far beyond the media", Some(first), Some(far), S::OUT_OF_RANGE),
    ]
}

pub(super) fn codes(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    bench.open(|streamer, context| {
        let window = context.window;
        let seed = context.write_known(streamer, &window, "what must stay")?;
        for (what, first, last, bit) in address_cases(context) {
            let request = RangeRequest { first, last, chunk_bytes: window.chunk_bytes };
            match streamer.refusal(&request) {
                None => return fail(format!("{what}: was accepted")),
                Some(status) if status == bit => {}
                Some(status) => {
                    return fail(format!("{what}: STATUS is {status:?} and should be {bit:?}"));
                }
            }
        }
        let end = beyond(streamer, context)?;
        let layout = ExpectedLayout::stream(seed, window.bytes());
        context.compare(streamer, &window, &layout, "after requests that were refused")?;
        Ok(format!(
            "unaligned, first after last and beyond the media each set their bit and wrote \
             nothing; {end}"
        ))
    })
}

/// Only reads: a write would extend a file.
fn beyond(
    streamer: &mut dyn Streamer,
    context: &mut TestContext<'_>,
) -> Result<&'static str, TestError> {
    const FAILED: &str = "the drive fails reads beyond its end";
    const REFUSED: &str = "the streamer refuses reads beyond the drive's end";
    let chunk_bytes = context.range.chunk_bytes;
    let chunk = u64::from(chunk_bytes);
    let Some(end) = context.capacity_bytes.checked_next_multiple_of(chunk) else {
        return Ok(FAILED);
    };
    let outside = DriveChunk { drive: 0, address: end, chunk_bytes };
    let unit = context.min_io_bytes;
    let status = read_chunk(streamer, outside, chunk, unit, &mut DiscardSink)?;
    let refused = status.status.has(StatusBits::OUT_OF_RANGE);
    if !(refused || status.status.has(StatusBits::DEVICE_ERROR)) || status.bytes > 0 {
        return fail(format!(
            "beyond the media: a read at address {end}, where the drive ends, gave {} bytes and \
             {:?}",
            status.bytes, status.status
        ));
    }
    Ok(if refused { REFUSED } else { FAILED })
}
