//! What fio's options say about order, passes, areas and rates of I/Os, beside the options of the
//! same name that `assay job` has: the text of its option `order`.

use assay_workload::options::JobOptions;

use super::access::{DEFAULT_BYTES, Direction, Note, only, split_of};
use super::given::Given;
use crate::JobFileError;
use crate::number;

/// The thread of fio that a job begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// From 1, among all of the file.
    pub(super) number: u32,
    /// From 0, among the clones of its section.
    pub(super) clone: u32,
}

impl Thread {
    /// fio makes the clones behind the first backwards.
    pub(super) fn new(first: u32, clone: u32, clones: u32) -> Thread {
        let place = if clone == 0 { 0 } else { clones - clone };
        Thread { number: first.saturating_add(place), clone }
    }
}

struct Text(String);

impl Text {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.push_str(&format!(";{name}={value}"));
    }
}

fn joined<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    values.join(",")
}

pub(super) fn order(
    given: &Given<'_>,
    options: &mut JobOptions,
    thread: Thread,
    (file, turns): (&str, Vec<(&'static str, String)>),
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let mut text = Text("fio".to_owned());
    if thread.number > 1 {
        text.add("thread_number", thread.number);
    }
    if thread.clone > 0 {
        text.add("subjob_number", thread.clone);
    }
    let engine = super::targets::engine_of(given)?;
    if let "uring" | "passthru" = engine.engine {
        text.add("ioengine", engine.name);
    }
    let least_bytes = sizes(given, &mut text)?;
    passes(given, &mut text)?;
    if options.rw.as_ref().is_some_and(|rw| rw.starts_with("rand")) {
        random(given, &mut text, file)?;
    } else if let Some((kind @ "tausworthe64", _)) = given.text("random_generator") {
        // Sizes and files are at random, too.
        text.add("random_generator", kind);
    }
    drive_zones(given, &mut text, note)?;
    seeds(given, &mut text, note)?;
    rates(given, options, &mut text, least_bytes)?;
    if let Some(shares) = super::priorities::of_ios(given, note)? {
        text.add("cmdprio_bssplit", shares);
    }
    for (name, value) in turns {
        text.add(name, value);
    }
    options.order = Some(text.0);
    Ok(())
}

/// Smallest sizes of reads, writes and trims.
pub(super) fn least_bytes(given: &Given<'_>) -> Result<[u64; 3], JobFileError> {
    sizes(given, &mut Text(String::new()))
}

/// `bs`, `bsrange` or `bssplit` of reads, writes and trims, where the option `bs` does not say it.
fn sizes(given: &Given<'_>, text: &mut Text) -> Result<[u64; 3], JobFileError> {
    let bytes = |text: &str| number::bytes(text, given.kb_base).filter(|&bytes| bytes > 0);
    let ranges = given.parsed("bsrange", "LOW-HIGH, such as 4k-64k", |text| {
        let text = text.replace('/', ",");
        let range = |range: &str| {
            let (low, high) = range.split_once(['-', ':'])?;
            let (low, high) = (bytes(low)?, bytes(high)?);
            Some((low.min(high), low.max(high)))
        };
        let ranges: Vec<(u64, u64)> = text.split(',').map(range).collect::<Option<_>>()?;
        each(&ranges)
    })?;
    let plain = given.parsed("bs", "a size such as 4k", |text| {
        let size = |part: &str| match part.trim() {
            "" => Some(DEFAULT_BYTES),
            part => bytes(part),
        };
        each(&text.split([',', '-']).map(size).collect::<Option<Vec<u64>>>()?)
    })?;
    let plain = plain.unwrap_or([DEFAULT_BYTES; 3]);
    let mut least = plain;
    if let Some(ranges) = ranges {
        let shown = ranges.map(|(low, high)| format!("{low}-{high}"));
        least = ranges.map(|(low, _)| low);
        text.add("bsrange", joined(&shown));
    } else if given.text("bssplit").is_none() && plain[1..].iter().any(|&own| own != plain[0]) {
        text.add("bs", joined(&plain));
    }
    if let Some((split, place)) = given.text("bssplit") {
        let parts: Vec<&str> = split.split(',').collect();
        let parts =
            each(&parts).ok_or_else(|| given.error(place, "bssplit: too many".to_owned()))?;
        let mut shown = Vec::new();
        for (part, least) in parts.into_iter().zip(&mut least) {
            let entries = split_of(given, part)?;
            *least = entries.iter().map(|entry| entry.0).min().unwrap_or(*least);
            let entries = entries.iter().map(|(bytes, percent)| format!("{bytes}/{percent}"));
            shown.push(entries.collect::<Vec<_>>().join(":"));
        }
        text.add("bssplit", shown.join(","));
    }
    for name in ["bs_is_seq_rand", "bs_unaligned"] {
        if given.flag(name)? {
            text.add(name, 1);
        }
    }
    Ok(least)
}

/// Values of reads, writes and trims; those that are not given are the ones before.
fn each<T: Clone>(values: &[T]) -> Option<[T; 3]> {
    match values {
        [all] => Some([all.clone(), all.clone(), all.clone()]),
        [reads, writes] => Some([reads.clone(), writes.clone(), writes.clone()]),
        [reads, writes, trims] => Some([reads.clone(), writes.clone(), trims.clone()]),
        _ => None,
    }
}

fn passes(given: &Given<'_>, text: &mut Text) -> Result<(), JobFileError> {
    if given.flag("time_based")? {
        text.add("time_based", 1);
    }
    if let Some(loops) = given.number("loops")?.filter(|&loops| loops > 1) {
        text.add("loops", loops);
    }
    let fills = given.flag("fill_device")?;
    match given.file_sizes()?.filter(|_| !fills) {
        Some((low, high)) if low < high => text.add("filesize", format!("{low}-{high}")),
        Some((bytes, _)) => text.add("filesize", bytes),
        None => {}
    }
    if let Some(bytes) = given.bytes("offset_align")?.filter(|&bytes| bytes > 0) {
        text.add("offset_align", bytes);
    }
    match given.text("thinktime_blocks_type") {
        None | Some(("complete", _)) => {}
        Some(("issue", _)) if given.text("thinktime").is_some() => {
            text.add("thinktime_blocks_type", "issue");
        }
        Some(("issue", _)) => {}
        Some((kind, place)) => {
            let message = format!("thinktime_blocks_type={kind}: complete or issue");
            return Err(given.error(place, message));
        }
    }
    if !given.flag_or("invalidate", true)? {
        text.add("invalidate", 0);
    }
    if let Some((kind, place)) = given.text("rw_sequencer") {
        match kind {
            "sequential" => {}
            "identical" => text.add("rw_sequencer", kind),
            _ => {
                let message = format!("rw_sequencer={kind}: sequential or identical");
                return Err(given.error(place, message));
            }
        }
    }
    Ok(())
}

fn random(given: &Given<'_>, text: &mut Text, file: &str) -> Result<(), JobFileError> {
    if given.flag("sprandom")? {
        return sprandom(given, text);
    }
    generator(given, text)?;
    let align = given.parsed("ba", "a size such as 4k", |text| {
        let sizes = text.split(',').map(|part| number::bytes(part, given.kb_base));
        each(&sizes.collect::<Option<Vec<u64>>>()?)
    })?;
    if let Some(align) = align {
        text.add("ba", joined(&align));
    }
    let percent = given.parsed("percentage_random", "percentages of random I/Os", |text| {
        let part = |part: &str| part.trim().trim_end_matches('%').parse::<u32>().ok();
        let parts = text.split(',').map(|text| part(text).filter(|&percent| percent <= 100));
        each(&parts.collect::<Option<Vec<u32>>>()?)
    })?;
    if let Some(percent) = percent.filter(|percent| *percent != [100; 3]) {
        text.add("percentage_random", joined(&percent));
    }
    let Some((of_offsets, place)) = given.text("random_distribution") else {
        return Ok(());
    };
    if of_offsets.split(':').next() == Some("random") {
        return Ok(());
    }
    let law = law(given, "random_distribution", of_offsets, place)?;
    if !law.starts_with("zoned") {
        // The names of files are hashed for the places of hot blocks.
        text.add("filename", file.replace([';', ' '], "_"));
    }
    text.add("distribution", law);
    Ok(())
}

/// A law with all of its numbers.
pub(super) fn law(
    given: &Given<'_>,
    option: &str,
    law: &str,
    place: &super::Place,
) -> Result<String, JobFileError> {
    let (kind, rest) = law.split_once(':').unwrap_or((law, ""));
    let wrong = |why: &str| Err(given.error(place, format!("{option}={law}: {why}")));
    let rest = match (kind, rest) {
        ("zipf", "") => "1.1".to_owned(),
        ("pareto", "") => "0.2".to_owned(),
        ("normal", "") => "0".to_owned(),
        ("zipf" | "pareto" | "normal", rest) if rest.contains(',') => {
            return wrong("one value for reads and writes, and a centre after a colon");
        }
        ("zipf", "1" | "1.0") => return wrong("the exponent must not be 1, as in fio"),
        ("zipf" | "pareto" | "normal", rest) => rest.to_owned(),
        ("zoned" | "zoned_abs", rest) => match zones(given, kind == "zoned_abs", rest) {
            Some(zones) => zones,
            None => return wrong("ACCESS/SIZE:..., the accesses adding up to 100"),
        },
        _ => {
            return wrong(
                "random, zipf:THETA, pareto:POWER, normal:PERCENT, zoned:ACCESS/SIZE:... or \
                 zoned_abs:ACCESS/SIZE:...",
            );
        }
    };
    let numbers = rest.split(':').all(|part| part.parse::<f64>().is_ok_and(f64::is_finite));
    if matches!(kind, "zipf" | "pareto" | "normal") && !numbers {
        return wrong("a number, and a centre from 0 to 1 after a colon");
    }
    Ok(format!("{kind}:{rest}"))
}

/// `zonemode=zbd`.
fn drive_zones(
    given: &Given<'_>,
    text: &mut Text,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    if given.text("zonemode").is_none_or(|(mode, _)| mode != "zbd") {
        return Ok(());
    }
    text.add("zonemode", "zbd");
    if let Some(bytes) = given.bytes("zonecapacity")?.filter(|&bytes| bytes > 0) {
        text.add("zonecapacity", bytes);
    }
    for name in ["max_open_zones", "job_max_open_zones"] {
        if let Some(zones) = given.number(name)?.filter(|&zones| zones > 0) {
            text.add(name, zones);
        }
    }
    for name in ["read_beyond_wp", "ignore_zone_limits"] {
        if given.flag(name)? {
            text.add(name, 1);
        }
    }
    for name in ["zone_reset_threshold", "zone_reset_frequency"] {
        let share = given.parsed(name, "a share from 0 to 1", |text| {
            let share: f64 = text.parse().ok()?;
            (0.0..=1.0).contains(&share).then_some(share)
        })?;
        if let Some(share) = share.filter(|&share| share > 0.0) {
            text.add(name, share);
        }
    }
    note(
        "zonemode=zbd: a zone of a zoned drive has one write in flight, and further ones wait for \
         it; fio leaves their order to the kernel"
            .to_owned(),
    );
    Ok(())
}

fn generator(given: &Given<'_>, text: &mut Text) -> Result<(), JobFileError> {
    if given.flag("norandommap")? {
        text.add("norandommap", 1);
    }
    match given.text("random_generator") {
        None | Some(("tausworthe", _)) => {}
        Some((kind @ ("tausworthe64" | "lfsr"), _)) => text.add("random_generator", kind),
        Some((kind, place)) => {
            let message = format!("random_generator={kind}: tausworthe, tausworthe64 or lfsr");
            return Err(given.error(place, message));
        }
    }
    Ok(())
}

/// It has a generator of its own, and no map.
fn sprandom(given: &Given<'_>, text: &mut Text) -> Result<(), JobFileError> {
    if let Some((kind, place)) = given.text("random_generator")
        && kind != "lfsr"
    {
        let message = format!("random_generator={kind}: sprandom needs lfsr");
        return Err(given.error(place, message));
    }
    text.add("norandommap", 1);
    text.add("random_generator", "lfsr");
    text.add("sprandom", 1);
    if let Some(regions) = given.number("spr_num_regions")? {
        text.add("spr_num_regions", regions);
    }
    if let Some((ratio, place)) = given.text("spr_op") {
        match ratio.parse::<f64>() {
            Ok(number) if number > 0.0 && number < 1.0 => text.add("spr_op", ratio),
            _ => {
                let message = format!("spr_op={ratio}: the spare ratio, above 0 and below 1");
                return Err(given.error(place, message));
            }
        }
    }
    if let Some(bytes) = given.bytes("spr_cs")?.filter(|&bytes| bytes > 0) {
        text.add("spr_cs", bytes);
    }
    Ok(())
}

/// Zones with every share: fio divides what is left evenly among those without one.
fn zones(given: &Given<'_>, bytes: bool, text: &str) -> Option<String> {
    let shares = |column: Vec<Option<u64>>| -> Option<Vec<u64>> {
        let given: u64 = column.iter().flatten().sum();
        let absent = column.iter().filter(|share| share.is_none()).count() as u64;
        let left = 100_u64.checked_sub(given)?;
        let each = left.checked_div(absent).unwrap_or(0);
        Some(column.into_iter().map(|share| share.unwrap_or(each)).collect())
    };
    let percent = |text: &str| match text.trim().trim_end_matches('%') {
        "" => Some(None),
        text => text.parse().ok().filter(|&percent: &u64| percent <= 100).map(Some),
    };
    let one = |part: &str| -> Option<String> {
        let (mut accesses, mut sizes) = (Vec::new(), Vec::new());
        for zone in part.split(':') {
            let (access, size) = zone.split_once('/')?;
            accesses.push(percent(access)?);
            sizes.push(match bytes {
                true => Some(number::bytes(size, given.kb_base)?),
                false => percent(size)?,
            });
        }
        let accesses = shares(accesses)?;
        let sizes = match bytes {
            true => sizes.into_iter().flatten().collect(),
            false => shares(sizes)?,
        };
        if accesses.iter().sum::<u64>() != 100 {
            return None;
        }
        let zones = accesses.iter().zip(&sizes);
        let zones: Vec<String> = zones.map(|(access, size)| format!("{access}/{size}")).collect();
        Some(zones.join(":"))
    };
    let parts: Option<Vec<String>> = text.split(',').map(one).collect();
    Some(parts?.join(","))
}

fn seeds(given: &Given<'_>, text: &mut Text, note: &mut Note<'_>) -> Result<(), JobFileError> {
    let seed = given.parsed("randseed", "a number", |text| number::bytes(text, 1024))?;
    if let Some(seed) = seed {
        text.add("randseed", seed);
    }
    if !given.flag_or("randrepeat", true)? {
        text.add("randrepeat", 0);
        if seed.is_none() {
            note(
                "randrepeat=0: passes have orders of their own, and a later run repeats them"
                    .to_owned(),
            );
        }
    }
    if given.flag("allrandrepeat")? {
        text.add("allrandrepeat", 1);
    }
    Ok(())
}

/// In bytes per second: fio converts `rate_iops` by the smallest block size.
fn rates(
    given: &Given<'_>,
    options: &mut JobOptions,
    text: &mut Text,
    least_bytes: [u64; 3],
) -> Result<(), JobFileError> {
    if options.rate.is_some() {
        return Ok(());
    }
    let (bytes, ios) = (given.rates("rate")?, given.rates("rate_iops")?);
    if let (Some(_), Some(_), Some(place)) = (bytes, ios, given.place("rate")) {
        return Err(given.error(place, "rate and rate_iops exclude one another".to_owned()));
    }
    let ios = ios.map(|ios| {
        let mut place = 0;
        ios.map(|ios| {
            place += 1;
            ios.saturating_mul(least_bytes[place - 1])
        })
    });
    let Some(mut rates) = bytes.or(ios).filter(|rates| *rates != [0; 3]) else {
        return Ok(());
    };
    // Those of directions that the job does not have change nothing.
    match only(given) {
        Some(Direction::Reads) => (rates[1], rates[2]) = (0, 0),
        Some(Direction::Writes) => (rates[0], rates[2]) = (0, 0),
        Some(Direction::Trims) => (rates[0], rates[1]) = (0, 0),
        None => {}
    }
    if rates != [0; 3] {
        text.add("rate", joined(&rates));
    }
    Ok(())
}
