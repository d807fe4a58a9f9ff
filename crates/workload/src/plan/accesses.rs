use assay_device::session::TargetProperties;
use assay_io::MAX_IO_BYTES;

use super::values::{aligned, invalid, not_a_choice, out_of_range, size, within};
use super::zones::strided;
use super::{DEFAULT_BLOCK_BYTES, PlanError};
use crate::access::{
    AccessConfig, AccessError, AccessStep, AddressPattern, BlockSizes, RankLaw, StridedZones,
};
use crate::options::JobOptions;

/// Which blocks are accessed, by I/Os that the target can do.
pub(super) fn access(
    options: &JobOptions,
    target: &TargetProperties,
    rw: &str,
    direction: &Direction,
    unit: u32,
) -> Result<AccessConfig, PlanError> {
    let (block_sizes, write_sizes) = match &options.bs {
        Some(text) => block_sizes(text, direction.read_percent)?,
        None => {
            let bytes = DEFAULT_BLOCK_BYTES.max(target.min_io_bytes);
            (BlockSizes::single(bytes)?, None)
        }
    };
    if write_sizes.is_some() && matches!(direction.step, AccessStep::Gap(_)) {
        return Err(invalid(format!(
            "--rw {rw}: a gap between I/Os needs one --bs for reads and writes"
        )));
    }
    for sizes in [Some(&block_sizes), write_sizes.as_ref()] {
        for (bytes, _) in sizes.into_iter().flat_map(BlockSizes::entries) {
            aligned(target, "bs", u64::from(bytes), unit)?;
        }
    }
    let mut access = AccessConfig {
        pattern: pattern(options, direction.random)?,
        step: direction.step,
        align_bytes: align(options, target, unit)?,
        zones: zones(options, target, unit)?,
        block_sizes,
        write_sizes,
    };
    if access.max_bytes() > MAX_IO_BYTES {
        return Err(AccessError::BadBlockSize(u64::from(access.max_bytes())).into());
    }
    strided(&mut access, target);
    Ok(access)
}

/// With `--order fio` also trimwrite and randtrimwrite.
pub(super) const DIRECTIONS: &str = "read, write, randread, randwrite, rw, randrw, trim, randtrim";

pub(super) struct Direction {
    /// Without the number behind a colon.
    pub(super) word: String,
    pub(super) random: bool,
    pub(super) read_percent: u8,
    pub(super) trims: bool,
    pub(super) step: AccessStep,
}

/// Trims that writes follow have an order of fio's only.
pub(super) fn own_direction(rw: &str, rwmixread: Option<u32>) -> Result<Direction, PlanError> {
    let own = direction(rw, rwmixread)?;
    match own.word.ends_with("trimwrite") {
        true => Err(not_a_choice("rw", rw, DIRECTIONS)),
        false => Ok(own),
    }
}

pub(super) fn direction(rw: &str, rwmixread: Option<u32>) -> Result<Direction, PlanError> {
    let (word, number) = match rw.split_once(':') {
        Some((word, number)) => (word, Some(number)),
        None => (rw, None),
    };
    let (random, read_percent) = word_of(word, rwmixread)?;
    let trims = word.ends_with("trim");
    let step = number.map_or(Ok(AccessStep::Plain), |number| step(rw, number, random))?;
    Ok(Direction { word: word.to_owned(), random, read_percent, trims, step })
}

fn step(rw: &str, number: &str, random: bool) -> Result<AccessStep, PlanError> {
    if random {
        let ios = number.parse().ok().filter(|ios| (1..=1 << 20).contains(ios));
        let wrong = || {
            out_of_range(
                "rw",
                rw,
                "the number of I/Os from each random offset on is from 1 to 1048576",
            )
        };
        return ios.map(AccessStep::Run).ok_or_else(wrong);
    }
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number),
    };
    let bytes = i64::try_from(size("rw", digits)?);
    let bytes = bytes.map_err(|_| out_of_range("rw", rw, "a gap below 2^63 bytes"))?;
    Ok(AccessStep::Gap(sign * bytes))
}

fn word_of(rw: &str, rwmixread: Option<u32>) -> Result<(bool, u8), PlanError> {
    let mix = within("rwmixread", rwmixread.unwrap_or(50), 0..=100)? as u8;
    Ok(match rw {
        "read" => (false, 100),
        "write" => (false, 0),
        "randread" => (true, 100),
        "randwrite" => (true, 0),
        "rw" | "readwrite" => (false, mix),
        "randrw" => (true, mix),
        "trim" | "trimwrite" => (false, 0),
        "randtrim" | "randtrimwrite" => (true, 0),
        _ => {
            return Err(not_a_choice("rw", rw, DIRECTIONS));
        }
    })
}

/// The sizes of `--bs`: `4k`, or `4k,8k` for reads and writes; those of writes where they differ.
pub(super) fn block_sizes(
    text: &str,
    read_percent: u8,
) -> Result<(BlockSizes, Option<BlockSizes>), PlanError> {
    let Some((reads, writes)) = text.split_once(',') else {
        return Ok((text.parse()?, None));
    };
    let (reads, writes): (BlockSizes, BlockSizes) = (reads.parse()?, writes.parse()?);
    Ok(match read_percent {
        100 => (reads, None),
        0 => (writes, None),
        _ if reads == writes => (reads, None),
        _ => (reads, Some(writes)),
    })
}

fn pattern(options: &JobOptions, random: bool) -> Result<AddressPattern, PlanError> {
    const OPTION: &str = "random_distribution";
    const CHOICES: &str = "random (each place equally likely), cover (each block once per pass), \
                           steady (to steady state, in one pass), \
                           zipf:THETA (e.g. zipf:1.2), pareto:POWER (e.g. pareto:0.2), \
                           normal:PERCENT (e.g. normal:10), zoned:ACCESS/SIZE:... (percent, e.g. \
                           zoned:50/5:30/15:20/80)";
    let Some(text) = options.random_distribution.as_deref() else {
        return Ok(match random {
            true => AddressPattern::Uniform,
            false => AddressPattern::Sequential,
        });
    };
    if !random {
        return Err(invalid(
            "--random_distribution needs a random --rw: randread, randwrite or randrw",
        ));
    }
    match text.split_once(':') {
        None if text == "random" => Ok(AddressPattern::Uniform),
        None if text == "cover" => Ok(AddressPattern::Cover),
        None if text == "steady" => Ok(AddressPattern::Steady),
        Some(("zoned", shares)) => Ok(AddressPattern::Zoned(shares.parse()?)),
        Some((law, number)) => {
            let number = number.parse();
            let law = match (law, number) {
                ("zipf", Ok(theta)) => RankLaw::Zipf { theta },
                ("pareto", Ok(h)) => RankLaw::Pareto { h },
                ("normal", Ok(deviation_percent)) => RankLaw::Normal { deviation_percent },
                _ => return Err(not_a_choice(OPTION, text, CHOICES)),
            };
            Ok(AddressPattern::Ranked(law))
        }
        None => Err(not_a_choice(OPTION, text, CHOICES)),
    }
}

fn align(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
) -> Result<Option<u32>, PlanError> {
    let Some(text) = options.blockalign.as_deref() else {
        return Ok(None);
    };
    let bytes = size("blockalign", text)?;
    aligned(target, "blockalign", bytes, unit)?;
    let align = u32::try_from(bytes);
    align.map(Some).map_err(|_| out_of_range("blockalign", text, "below 4 GiB"))
}

fn zones(
    options: &JobOptions,
    target: &TargetProperties,
    unit: u32,
) -> Result<Option<StridedZones>, PlanError> {
    let Some(zone) = options.zonesize.as_deref() else {
        if options.zonerange.is_some() || options.zoneskip.is_some() {
            return Err(invalid("--zonerange and --zoneskip need --zonesize"));
        }
        return Ok(None);
    };
    let length = |option, given: Option<&str>, default| {
        let bytes = given.map_or(Ok(default), |text| size(option, text))?;
        aligned(target, option, bytes, unit)?;
        Ok::<u64, PlanError>(bytes)
    };
    let size_bytes = length("zonesize", Some(zone), 0)?;
    let range_bytes = length("zonerange", options.zonerange.as_deref(), size_bytes)?;
    let skip_bytes = length("zoneskip", options.zoneskip.as_deref(), 0)?;
    Ok(Some(StridedZones { size_bytes, range_bytes, skip_bytes }))
}
