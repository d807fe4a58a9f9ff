//! Test 09: invalid addresses.

use super::context::{BenchRun, TestContext, TestError, fail, read};
use assay_integrity::pattern::ExpectedLayout;
use assay_stream::queue::StreamQueue;
use assay_stream::range::{DriveExtent, RangeRequest, StreamRange};
use assay_stream::registers::StatusBits;
use assay_stream::source::DiscardSink;

/// First and last address, and the expected status bit.
type AddressCase = (&'static str, Option<u64>, Option<u64>, StatusBits);

fn address_cases(context: &TestContext<'_>) -> [AddressCase; 6] {
    let chunk = u64::from(context.range.chunk_bytes);
    let end = context.capacity_bytes.next_multiple_of(chunk);
    let first = context.window.first;
    let far = u64::MAX / chunk * chunk;
    use StatusBits as S;
    [
        ("unaligned first", Some(first + 16), None, S::UNALIGNED),
        (
            "unaligned last",
            Some(first),
            Some(first + chunk + 16),
            S::UNALIGNED,
        ),
        (
            "first after last",
            Some(first + chunk),
            Some(first),
            S::FIRST_AFTER_LAST,
        ),
        (
            "last beyond the media",
            Some(first),
            Some(end),
            S::OUT_OF_RANGE,
        ),
        ("first beyond the media", Some(end), None, S::OUT_OF_RANGE),
        (
            "far beyond the media",
            Some(first),
            Some(far),
            S::OUT_OF_RANGE,
        ),
    ]
}

/// 09: each invalid address sets its bit, nothing is written, and the drive fails a read beyond its end.
pub(super) fn codes(bench: &mut BenchRun<'_>) -> Result<String, TestError> {
    let media: Vec<DriveExtent> = bench
        .drives
        .iter()
        .map(|drive| assay_stream::drives::media(drive.info()))
        .collect();
    bench.open(|queues, context| {
        let window = context.window;
        let seed = context.lay(queues, &window, "what must stay")?;
        for (what, first, last, bit) in address_cases(context) {
            let request = RangeRequest {
                first,
                last,
                chunk_bytes: window.chunk_bytes,
            };
            match StreamRange::new(&request, &media) {
                Ok(_) => return fail(format!("{what}: was accepted")),
                Err(error) if error.status() == bit => {}
                Err(error) => {
                    let status = error.status();
                    return fail(format!("{what}: STATUS is {status:?} and should be {bit:?}"));
                }
            }
        }
        beyond(queues, context)?;
        let layout = ExpectedLayout::stream(seed, window.bytes());
        context.compare(queues, &window, &layout, "after requests that were refused")?;
        Ok(
            "unaligned, first after last and beyond the media each set their bit and wrote nothing; the drive fails reads beyond its end"
                .to_owned(),
        )
    })
}

/// The drive must fail accesses beyond its end. Only reads: a write would extend a file.
fn beyond(queues: &mut [StreamQueue<'_>], context: &mut TestContext<'_>) -> Result<(), TestError> {
    let chunk = u64::from(context.range.chunk_bytes);
    let Some(end) = context.capacity_bytes.checked_next_multiple_of(chunk) else {
        return Ok(());
    };
    let outside = StreamRange {
        first: end,
        last: end,
        drives: 1,
        ..context.range
    };
    let min_io_bytes = context.min_io_bytes;
    let queues = &mut queues[..1];
    let status = read(queues, &outside, chunk, min_io_bytes, &mut DiscardSink)?;
    if !status.status.has(StatusBits::DEVICE_ERROR) || status.bytes > 0 {
        return fail(format!(
            "beyond the media: a read at address {end}, where the drive ends, gave {} bytes and {:?}",
            status.bytes, status.status
        ));
    }
    Ok(())
}
