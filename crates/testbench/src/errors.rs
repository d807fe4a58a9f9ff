//! Test 09: bad addresses.

use super::Seen;
use super::desk::{Bench, Desk, Trouble, fail, read};
use super::layout::Layout;
use assay_stream::lane::Lane;
use assay_stream::range::{Media, Range, RangeRequest};
use assay_stream::registers::StatusBits;
use assay_stream::source::Discard;

/// What is asked, and the bit that must answer.
type Asked = (&'static str, Option<u64>, Option<u64>, StatusBits);

fn asked(desk: &Desk<'_>) -> [Asked; 6] {
    let chunk = u64::from(desk.range.chunk_bytes);
    let end = desk.capacity_bytes.next_multiple_of(chunk);
    let first = desk.window.first;
    [
        (
            "unaligned first",
            Some(first + 16),
            None,
            StatusBits::UNALIGNED,
        ),
        (
            "unaligned last",
            Some(first),
            Some(first + chunk + 16),
            StatusBits::UNALIGNED,
        ),
        (
            "first after last",
            Some(first + chunk),
            Some(first),
            StatusBits::FIRST_AFTER_LAST,
        ),
        (
            "last beyond the media",
            Some(first),
            Some(end),
            StatusBits::OUT_OF_RANGE,
        ),
        (
            "first beyond the media",
            Some(end),
            None,
            StatusBits::OUT_OF_RANGE,
        ),
        (
            "far beyond the media",
            Some(first),
            Some(u64::MAX / chunk * chunk),
            StatusBits::OUT_OF_RANGE,
        ),
    ]
}

/// 09: each has its bit, nothing is written, and the drive itself fails what lies beyond it.
pub(super) fn codes(bench: &mut Bench<'_>) -> Result<Seen, Trouble> {
    let media: Vec<Media> = bench
        .drives
        .iter()
        .map(|drive| assay_stream::drives::media(drive.info()))
        .collect();
    bench.open(|lanes, desk| {
        let window = desk.window;
        let seed = desk.lay(lanes, &window, "what must stay")?;
        for (what, first, last, bit) in asked(desk) {
            let request = RangeRequest {
                first,
                last,
                chunk_bytes: window.chunk_bytes,
            };
            match Range::new(&request, &media) {
                Ok(_) => return fail(format!("{what}: was taken for a good range")),
                Err(error) if error.status() != bit => {
                    return fail(format!(
                        "{what}: STATUS said {:?} and should have said {bit:?}",
                        error.status()
                    ));
                }
                Err(_) => {}
            }
        }
        beyond(lanes, desk)?;
        let layout = Layout::stream(seed, window.bytes());
        desk.compare(lanes, &window, &layout, "after requests that were refused")?;
        Ok(Seen::Pass(
            "unaligned, first after last and beyond the media each set their bit and wrote nothing; the drive fails reads beyond its end"
                .to_owned(),
        ))
    })
}

/// What the range's check would have let through, the drive must fail. Only read: a file would grow.
fn beyond(lanes: &mut [Lane<'_>], desk: &mut Desk<'_>) -> Result<(), Trouble> {
    let chunk = u64::from(desk.range.chunk_bytes);
    let Some(end) = desk.capacity_bytes.checked_next_multiple_of(chunk) else {
        return Ok(());
    };
    let outside = Range {
        first: end,
        last: end,
        lanes: 1,
        ..desk.range
    };
    let min_io_bytes = desk.min_io_bytes;
    let status = read(&mut lanes[..1], &outside, chunk, min_io_bytes, &mut Discard)?;
    if !status.status.has(StatusBits::DEVICE_ERROR) || status.bytes > 0 {
        return fail(format!(
            "beyond the media: a read at address {end}, where the drive ends, gave {} bytes and {:?}",
            status.bytes, status.status
        ));
    }
    Ok(())
}
