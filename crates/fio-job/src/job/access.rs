use assay_integrity::data::{MAX_RATIO, MIN_RATIO};
use assay_units::text::compact_size;
use assay_workload::options::JobOptions;

use super::given::Given;
use crate::JobFileError;
use crate::number::{self, Size};
use crate::pattern;

const DEFAULT_SIZE: &str = "4k";
pub(super) const DEFAULT_BYTES: u64 = 4096;

pub(super) type Note<'a> = dyn FnMut(String) + 'a;

pub(super) fn access(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    direction(given, options)?;
    options.bs = block_sizes(given)?;
    area(given, options)?;
    zones(given, options)?;
    data(given, options, note)?;
    apart(options, note);
    flushes(given, options)
}

/// With `offset_increment`, up to the next thread's begin.
fn apart(options: &mut JobOptions, note: &mut Note<'_>) {
    let bytes = |text: &Option<String>| text.as_deref()?.parse::<u64>().ok();
    let is_alone = options.numjobs.unwrap_or(1) < 2;
    if is_alone || options.verify != Some(true) || !options.writes() {
        return;
    }
    if let Some(increment) = bytes(&options.offset_increment)
        && bytes(&options.size).is_none_or(|size| size > increment)
    {
        options.size = Some(increment.to_string());
        note(format!(
            "threads that verify must not overwrite one another: each works in the {increment} \
             bytes of offset_increment"
        ));
    }
}

/// Flushes and synchronous writes of a job that writes; others have none, as in fio.
fn flushes(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let every = |name| Ok(given.number(name)?.filter(|&writes| writes > 0));
    let (fsync, fdatasync) = (every("fsync")?, every("fdatasync")?);
    let at_end = given.flag("end_fsync")? | given.flag("fsync_on_close")?;
    let sync = match (given.flag("writefua")?, given.text("sync")) {
        (_, Some((kind @ ("dsync" | "sync" | "1"), _))) => Some(kind.to_owned()),
        (_, Some((kind, place))) if !matches!(kind, "none" | "0") => {
            return Err(given.error(place, format!("sync={kind}: none, dsync or sync")));
        }
        (fua, _) => fua.then(|| "dsync".to_owned()),
    };
    let never_writes = !options.writes() || options.rwmixread == Some(100);
    if never_writes || only(given) == Some(Direction::Trims) {
        return Ok(());
    }
    if let (Some(_), Some(_), Some(place)) = (fsync, fdatasync, given.place("fdatasync")) {
        let message = "fsync and fdatasync of one job are not supported; use one".to_owned();
        return Err(given.error(place, message));
    }
    (options.fsync, options.fdatasync) = (fsync, fdatasync);
    options.end_fsync = at_end.then_some(true);
    options.sync = sync;
    options.atomic = given.flag("atomic")?.then_some(true);
    placement(given, options)
}

/// `fdp`, or `dataplacement=fdp`: all placement identifiers in turn, or those of `fdp_pli`.
fn placement(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let is_on = match given.text("fdp") {
        None => given.flag("fdp")?,
        Some(("fdp", _)) => true,
        Some(("none", _)) => false,
        Some((kind, place)) if kind.starts_with('s') => {
            let message = format!("{kind}: streams are not supported; fdp is");
            return Err(given.error(place, message));
        }
        Some(_) => given.flag("fdp")?,
    };
    let ids = given.text("fdp_pli").map_or("all", |(ids, _)| ids);
    options.fdp = match given.text("plid_select") {
        _ if !is_on => None,
        None | Some(("roundrobin", _)) => Some(ids.to_owned()),
        Some(("random", _)) => Some(format!("random:{ids}")),
        Some((select, place)) => {
            let message = format!("plid_select={select} is not supported; random, roundrobin are");
            return Err(given.error(place, message));
        }
    };
    Ok(())
}

const DIRECTIONS: &str = "read, write, randread, randwrite, rw, readwrite, randrw, trim, randtrim, \
                          trimwrite, randtrimwrite";

fn direction(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let (text, place) = match given.text("rw") {
        Some((text, place)) => (text, Some(place)),
        None => ("read", None),
    };
    let (word, count) = match text.split_once(':') {
        Some((word, count)) => (word, Some(count)),
        None => (text, None),
    };
    if !DIRECTIONS.split(", ").any(|direction| direction == word) {
        let message = format!("rw={word} is none of {DIRECTIONS}");
        return Err(given.wrong("rw", message));
    }
    let suffix = match count.zip(place) {
        Some((count, place)) => {
            let value = number::signed_bytes(count, given.kb_base);
            let valid = value.filter(|&value| !word.starts_with("rand") || value > 0);
            let Some(value) = valid else {
                return Err(given.error(
                    place,
                    format!(
                        "rw={word}:{count}: a number of I/Os (random) or a distance such as 8k \
                         (sequential)"
                    ),
                ));
            };
            format!(":{value}")
        }
        None => String::new(),
    };
    options.rw = Some(format!("{word}{suffix}"));
    options.rwmixread = read_share(given)?;
    Ok(())
}

fn read_share(given: &Given<'_>) -> Result<Option<u32>, JobFileError> {
    let share = |name| {
        given.parsed(name, "a percentage", |text| {
            text.trim_end_matches('%').parse().ok().filter(|&p| p <= 100)
        })
    };
    let (reads, writes): (Option<u32>, Option<u32>) = (share("rwmixread")?, share("rwmixwrite")?);
    // The later one counts in fio; both are given where they agree.
    if let (Some(reads), Some(writes)) = (reads, writes)
        && reads + writes != 100
        && let Some(place) = given.place("rwmixwrite")
    {
        return Err(given.error(
            place,
            format!("rwmixread={reads} and rwmixwrite={writes} do not add up to 100"),
        ));
    }
    Ok(reads.or(writes.map(|writes| 100 - writes)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Reads,
    Writes,
    Trims,
}

pub(super) fn only(given: &Given<'_>) -> Option<Direction> {
    match given.text("rw").map_or("read", |(text, _)| text.split(':').next().unwrap_or("")) {
        "read" | "randread" => Some(Direction::Reads),
        "write" | "randwrite" => Some(Direction::Writes),
        "trim" | "randtrim" => Some(Direction::Trims),
        _ => None,
    }
}

fn per_direction(
    given: &Given<'_>,
    text: &str,
    mut read: impl FnMut(&str) -> Result<String, JobFileError>,
) -> Result<String, JobFileError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    // As in fio: without a comma the value before counts, and nothing behind one is the default.
    let part = |n: usize, before| match parts.get(n) {
        None => before,
        Some(&"") => DEFAULT_SIZE,
        Some(&part) => part,
    };
    let reads = part(0, DEFAULT_SIZE);
    let writes = part(1, reads);
    match only(given) {
        Some(Direction::Reads) => read(reads),
        Some(Direction::Writes) => read(writes),
        Some(Direction::Trims) => read(part(2, writes)),
        None => {
            let (reads, writes) = (read(reads)?, read(writes)?);
            Ok(match reads == writes {
                true => reads,
                false => format!("{reads},{writes}"),
            })
        }
    }
}

/// `bssplit` of one direction: bytes and percent. As in fio, sizes without a share have what is
/// left, evenly.
pub(super) fn split_of(given: &Given<'_>, text: &str) -> Result<Vec<(u64, u32)>, JobFileError> {
    let wrong = |why: &str| {
        let message = format!("bssplit={text} is not SIZE/PERCENT:..., such as 4k/60:64k/40{why}");
        given.wrong("bssplit", message)
    };
    let mut entries = Vec::new();
    for entry in text.split(':').filter(|entry| !entry.is_empty()) {
        let (bytes, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let bytes = number::bytes(bytes, given.kb_base).filter(|&bytes| bytes > 0);
        let percent: Option<u32> = match percent.trim().trim_end_matches('%') {
            "" | "0" => None,
            percent => Some(percent.parse().map_err(|_| wrong(""))?),
        };
        entries.push((bytes.ok_or_else(|| wrong(""))?, percent));
    }
    let given_percent: u32 = entries.iter().filter_map(|entry| entry.1).sum();
    let absent = entries.iter().filter(|entry| entry.1.is_none()).count() as u32;
    let left = 100_u32.checked_sub(given_percent);
    let left = left.ok_or_else(|| wrong(": more than 100 percent"))?;
    if entries.is_empty() {
        return Err(wrong(""));
    }
    let whole =
        |(bytes, percent): (u64, Option<u32>)| (bytes, percent.unwrap_or(left / absent.max(1)));
    Ok(entries.into_iter().map(whole).collect())
}

fn block_sizes(given: &Given<'_>) -> Result<Option<String>, JobFileError> {
    let size = |text: &str| number::bytes(text, given.kb_base).filter(|&bytes| bytes > 0);
    if let Some((text, place)) = given.text("bssplit") {
        let split = |text: &str| {
            let entries = split_of(given, text)?;
            let most = entries.iter().map(|entry| entry.1).sum::<u32>();
            if most == 0 {
                let message = format!("bssplit={text}: no size has a share");
                return Err(given.error(place, message));
            }
            let entries = entries.iter().filter(|entry| entry.1 > 0).map(|(bytes, percent)| {
                let percent = f64::from(*percent) * 100.0 / f64::from(most);
                format!("{}/{percent}", compact_size(*bytes))
            });
            Ok(entries.collect::<Vec<String>>().join(":"))
        };
        return per_direction(given, text, split).map(Some);
    }
    if let Some((text, place)) = given.text("bsrange") {
        let wrong = |why: &str| given.error(place, format!("bsrange={text}: {why}"));
        let whole = text.replace('/', ",");
        let sizes = |range: &str| {
            let (low, high) =
                range.split_once(['-', ':']).ok_or_else(|| wrong("LOW-HIGH, such as 4k-64k"))?;
            let (Some(low), Some(high)) = (size(low), size(high)) else {
                return Err(wrong("LOW-HIGH, such as 4k-64k"));
            };
            let (low, high) = (low.min(high), low.max(high));
            // The order has the range; this is for reports.
            let mut sizes = vec![compact_size(low), compact_size(high)];
            sizes.dedup();
            Ok(sizes.join(":"))
        };
        return per_direction(given, &whole, sizes).map(Some);
    }
    let Some((text, place)) = given.text("bs") else {
        return Ok(None);
    };
    // fio takes a hyphen for a comma.
    let text = &text.replace('-', ",");
    let one = |one: &str| {
        let wrong = || given.error(place, format!("bs={text} is not a size such as 4k"));
        size(one).map(compact_size).ok_or_else(wrong)
    };
    per_direction(given, text, one).map(Some)
}

fn area(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    options.size = match given.flag("fill_device")? {
        true => None,
        false => (given.size("size")?).filter(|size| *size != Size::Bytes(0)).map(Size::text),
    };
    options.offset = given.size("offset")?.map(Size::text);
    options.offset_increment =
        given.size("offset_increment")?.filter(|size| *size != Size::Bytes(0)).map(Size::text);
    options.numjobs = given.number("numjobs")?;
    Ok(())
}

fn zones(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let mode = given.text("zonemode");
    let lengths = ["zonesize", "zonerange", "zoneskip"].map(|name| given.bytes(name));
    let [size, range, skip] = lengths;
    let (size, range, skip) = (size?, range?, skip?);
    match mode {
        Some(("strided", place)) if size.unwrap_or(0) == 0 => {
            let message = "zonemode=strided needs zonesize, as in fio".to_owned();
            return Err(given.error(place, message));
        }
        Some(("strided" | "zbd", _)) => {}
        None | Some(("none", _)) if size.is_some_and(|size| size > 0) => {
            let message = "zonesize needs zonemode=strided or zbd, as in fio".to_owned();
            return Err(given.wrong("zonesize", message));
        }
        None | Some(("none", _)) => return Ok(()),
        Some((other, place)) => {
            return Err(given
                .error(place, format!("zonemode={other} is not supported: none, strided or zbd")));
        }
    }
    let text = |bytes: Option<u64>| bytes.filter(|&bytes| bytes > 0).map(|bytes| bytes.to_string());
    (options.zonesize, options.zonerange, options.zoneskip) = (text(size), text(range), text(skip));
    Ok(())
}

fn data(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    if given.flag("zero_buffers")? {
        options.data = Some("zero".to_owned());
    }
    if let Some(bytes) = given.parsed("buffer_pattern", PATTERN, pattern::bytes)? {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        options.data = Some(format!("pattern={hex}"));
    }
    options.dedupe_percentage = given
        .parsed("dedupe_percentage", "a percentage", |text| {
            let percent: Option<u32> = text.trim_end_matches('%').parse().ok();
            percent.filter(|&percent| percent <= 100)
        })?
        .filter(|&percent| percent > 0);
    options.dedupe_working_set = working_set(given, options)?;
    let percent = given.parsed("buffer_compress_percentage", "a percentage", |text| {
        text.trim_end_matches('%').parse::<u32>().ok().filter(|&percent| percent <= 100)
    })?;
    options.data = match percent {
        None | Some(0) => options.data.take(),
        // All of a block is what is compressed away: the pattern, or zeros.
        Some(100) => options.data.take().or_else(|| Some("zero".to_owned())),
        // What is compressed away of 100.
        Some(percent) => Some(compressible(percent, note)),
    };
    verification(given, options, note)
}

fn compressible(percent: u32, note: &mut Note<'_>) -> String {
    let ratio = 100.0 / f64::from(100 - percent);
    let nearest = ratio.clamp(MIN_RATIO, MAX_RATIO);
    if !(MIN_RATIO..=MAX_RATIO).contains(&ratio) {
        note(format!(
            "buffer_compress_percentage={percent}: data compress {nearest} times, the nearest \
             that assay has"
        ));
    }
    format!("compress={nearest}")
}

/// `dedupe_mode=working_set`: its blocks, by the smallest size of a write.
fn working_set(given: &Given<'_>, options: &JobOptions) -> Result<Option<u32>, JobFileError> {
    let place = match given.text("dedupe_mode") {
        None | Some(("repeat", _)) => return Ok(None),
        Some(("working_set", place)) => place,
        Some((other, place)) => {
            let message = format!("dedupe_mode={other}: repeat or working_set");
            return Err(given.error(place, message));
        }
    };
    if options.dedupe_percentage.is_none() || !options.writes() {
        return Ok(None);
    }
    let size = match given.size("size")? {
        Some(Size::Bytes(bytes)) if bytes > 0 => bytes,
        _ => {
            let message = "dedupe_mode=working_set needs size= in bytes, as in fio".to_owned();
            return Err(given.error(place, message));
        }
    };
    let percent = given.number("dedupe_working_set_percentage")?.unwrap_or(5);
    let repeated = options.dedupe_percentage.unwrap_or(0);
    if percent > 100 || repeated > 100 - percent {
        let message = format!(
            "dedupe_percentage={repeated} cannot be reached beside a working set of {percent} \
             percent, whose blocks are new ones, as in fio"
        );
        return Err(given.error(place, message));
    }
    let least_bytes = super::order::least_bytes(given)?[1].max(1);
    let blocks = u128::from(size) * u128::from(percent) / 100 / u128::from(least_bytes);
    match u32::try_from(blocks) {
        Ok(blocks) if blocks > 0 => Ok(Some(blocks)),
        _ => {
            let message = format!(
                "dedupe_mode=working_set: {blocks} blocks of {least_bytes} bytes; it needs one at \
                 least (fio takes what is behind them in memory), and fewer than 2^32"
            );
            Err(given.error(place, message))
        }
    }
}

fn verification(
    given: &Given<'_>,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let reads_back = given.flag_or("do_verify", true)?;
    options.do_verify = (!reads_back).then_some(false);
    let Some((method, place)) = given.text("verify") else {
        return Ok(());
    };
    match method.split(':').next().unwrap_or("") {
        "0" | "none" => return Ok(()),
        "crc32c" | "crc32c-intel" => {}
        "pattern" | "md5" | "crc64" | "crc32" | "crc16" | "crc7" | "xxhash" | "sha1" | "sha256"
        | "sha512" | "sha3-224" | "sha3-256" | "sha3-384" | "sha3-512" | "meta" => {
            note(format!("verify={method}: blocks have assay's header and CRC-32C instead"));
        }
        _ => {
            return Err(given.error(
                place,
                format!("verify={method} is not supported: crc32c, md5, sha256, xxhash, meta, ..."),
            ));
        }
    }
    if only(given) == Some(Direction::Trims) {
        // fio verifies nothing of a job that only trims.
        return Ok(());
    }
    options.verify = Some(true);
    let pattern = options.data.take_if(|data| data.starts_with("pattern="));
    if options.dedupe_percentage.take().is_some() {
        note("dedupe_percentage: verified blocks have assay's own data instead".to_owned());
    }
    if pattern.is_some() {
        note("buffer_pattern: verified blocks have assay's own data instead".to_owned());
    }
    if given.flag("verify_only")? {
        // Reads find the same blocks, in the same order.
        options.rw = options.rw.take().map(|rw| match rw.starts_with("rand") {
            true => "randread".to_owned(),
            false => "read".to_owned(),
        });
        (options.fsync, options.rwmixread) = (None, None);
        return verify_interval(given, options);
    }
    if given.text("verify_pattern").is_some() {
        note("verify_pattern: verified blocks have assay's own data instead".to_owned());
    }
    verify_interval(given, options)?;
    if only(given) == Some(Direction::Reads) {
        return Ok(());
    }
    if reads_back {
        options.verify_backlog = given.number("verify_backlog")?.filter(|&ios| ios > 0);
    }
    Ok(())
}

const PATTERN: &str = "a number (0xdeadbeef), a text in quotes (\"abcd\"), or several with hyphens \
                       between, of 512 bytes at most; a file is not read";

fn verify_interval(given: &Given<'_>, options: &mut JobOptions) -> Result<(), JobFileError> {
    let bytes = given.bytes("verify_interval")?.filter(|&bytes| bytes > 0);
    // As in fio no more than a write.
    let most = super::order::least_bytes(given)?[1].max(512);
    options.verify_interval = bytes.map(|bytes| bytes.min(most).to_string());
    Ok(())
}
