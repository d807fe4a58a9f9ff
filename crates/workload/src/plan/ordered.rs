//! `--order fio`: the options of a job as fio 3.33 means them.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_device::session::TargetProperties;
use assay_units::SECTOR_BYTES;

use super::accesses::{block_sizes, direction};
use super::data::check_verified;
use super::files::{file_sizes, several_files, whole_area};
use super::fio_draws::{extent, law, sizes};
use super::fio_zones::{check_access, without_zones, zone_job};
use super::priorities::{check_engine, priorities};
use super::values::{aligned, invalid, not_a_choice, out_of_range, size};
use super::zones::{in_bytes, is_conventional, refused, write_zones};
use super::{DEFAULT_BLOCK_BYTES, PlanError, Workload};
use crate::access::fio::{
    Extent, FioAccess, FioArea, FioFiles, FioPart, FioSizes, Generator, Law, PerDirection, READ,
    Seeds, SpRandom, TRIM, WRITE,
};
use crate::access::{AccessStep, Region, StridedZones};
use crate::options::JobOptions;

const OPTION: &str = "order";
/// Options of fio that `order` carries. `thread_number` and `subjob_number` are fio's counts of
/// threads, from 1 in a job file and from 0 in a section.
pub const CARRIED: &str = "thread_number, subjob_number, filename, randrepeat, allrandrepeat, \
                           randseed, random_generator, norandommap, sprandom, \
                           spr_num_regions, spr_op, spr_cs, distribution, \
                           percentage_random, rw_sequencer, bs_is_seq_rand, bs_unaligned, bs, \
                           bsrange, bssplit, ba, time_based, loops, filesize, offset_align, \
                           rate, invalidate, ioengine, zonemode, zonecapacity, \
                           max_open_zones, job_max_open_zones, ignore_zone_limits, \
                           read_beyond_wp, zone_reset_threshold, zone_reset_frequency, \
                           file_service_type, openfiles, thinktime_blocks_type, \
                           cmdprio_bssplit";

/// `fio`, then `NAME=VALUE` after semicolons.
pub(super) struct Order<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Order<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Order<'a>, PlanError> {
        let mut parts = text.split(';');
        if parts.next() != Some("fio") {
            return Err(not_a_choice(OPTION, text, "own, fio"));
        }
        let mut values = BTreeMap::new();
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, "1"));
            if !CARRIED.split(", ").any(|known| known == name) {
                return Err(not_a_choice("order fio;", name, CARRIED));
            }
            values.insert(name, value);
        }
        Ok(Order(values))
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }

    pub(super) fn wrong(&self, name: &str) -> PlanError {
        let value = self.text(name).unwrap_or("");
        out_of_range(OPTION, format!("fio;{name}={value}"), "not as fio takes it")
    }

    pub(super) fn number(&self, name: &str, absent: u64) -> Result<u64, PlanError> {
        let Some(text) = self.text(name) else {
            return Ok(absent);
        };
        text.parse().map_err(|_| self.wrong(name))
    }

    pub(super) fn flag(&self, name: &str, absent: bool) -> Result<bool, PlanError> {
        Ok(self.number(name, absent.into())? > 0)
    }

    /// Of reads, writes and trims, separated by commas.
    pub(super) fn each<T: Clone>(
        &self,
        name: &str,
        read: impl Fn(&'a str) -> Option<T>,
    ) -> Result<Option<PerDirection<T>>, PlanError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let parts: Option<Vec<T>> = text.split(',').map(read).collect();
        match parts.as_deref() {
            Some([all]) => Ok(Some([all.clone(), all.clone(), all.clone()])),
            Some([reads, writes, trims]) => {
                Ok(Some([reads.clone(), writes.clone(), trims.clone()]))
            }
            _ => Err(self.wrong(name)),
        }
    }
}

fn zones(options: &JobOptions) -> Result<Option<StridedZones>, PlanError> {
    let length = |option, text: &Option<String>| {
        let bytes = text.as_deref().map(|text| size(option, text));
        bytes.transpose()
    };
    let Some(size_bytes) = length("zonesize", &options.zonesize)? else {
        return Ok(None);
    };
    let range_bytes = length("zonerange", &options.zonerange)?.unwrap_or(size_bytes);
    if size_bytes == 0 || range_bytes == 0 {
        return Err(out_of_range("zonesize", size_bytes, "above nothing"));
    }
    Ok(Some(StridedZones {
        size_bytes,
        range_bytes,
        skip_bytes: length("zoneskip", &options.zoneskip)?.unwrap_or(0),
    }))
}

pub(super) fn generator(order: &Order<'_>) -> Result<Generator, PlanError> {
    match order.text("random_generator") {
        None | Some("tausworthe") => Ok(Generator::Tausworthe),
        Some("tausworthe64") => Ok(Generator::Tausworthe64),
        Some("lfsr") => Ok(Generator::Lfsr),
        Some(_) => Err(order.wrong("random_generator")),
    }
}

/// Regions of `sprandom`, of which each thread keeps the shares: 2.4 MB.
const MAX_REGIONS: u32 = 100_000;

fn sprandom(order: &Order<'_>) -> Result<Option<SpRandom>, PlanError> {
    if !order.flag("sprandom", false)? {
        return Ok(None);
    }
    let ratio: Option<f64> = order.text("spr_op").unwrap_or("0.15").parse().ok();
    let regions = u32::try_from(order.number("spr_num_regions", 100)?).ok();
    Ok(Some(SpRandom {
        regions: (regions.filter(|regions| (1..=MAX_REGIONS).contains(regions)))
            .ok_or_else(|| order.wrong("spr_num_regions"))?,
        over_provisioning: (ratio.filter(|&ratio| ratio > 0.0 && ratio < 1.0))
            .ok_or_else(|| order.wrong("spr_op"))?,
        cache_bytes: order.number("spr_cs", 0)?,
    }))
}

/// A thread of `sprandom` writes as much as its area and the spare space together.
fn with_physical_bytes(mut access: FioAccess, part: FioPart) -> Result<FioAccess, PlanError> {
    let Some(sprandom) = access.sprandom else {
        return Ok(access);
    };
    if !access.random || !access.writes || access.reads || access.trims {
        return Err(invalid("sprandom needs rw=randwrite"));
    }
    let block_bytes = access.sizes[WRITE].least_bytes;
    let data_bytes = part.area_bytes.min(part.capacity_bytes);
    let region_bytes = sprandom.region_bytes(data_bytes, block_bytes);
    if region_bytes < block_bytes {
        return Err(invalid(format!(
            "spr_num_regions={} leaves no whole block in a region: lower it",
            sprandom.regions
        )));
    }
    if sprandom.cache_bytes > region_bytes {
        return Err(invalid(format!(
            "spr_cs={} is more than the {region_bytes} bytes of a region: lower spr_num_regions",
            sprandom.cache_bytes
        )));
    }
    access.io_bytes = sprandom.physical_bytes(data_bytes, block_bytes);
    Ok(access)
}

fn alignments(
    order: &Order<'_>,
    sizes: &PerDirection<FioSizes>,
    random: bool,
) -> Result<PerDirection<u64>, PlanError> {
    let align = order.each("ba", |text| text.parse::<u64>().ok())?;
    let align = align.unwrap_or_default();
    let least = |place: usize| match align[place] {
        bytes if bytes > 0 && random => bytes,
        _ => sizes[place].least_bytes,
    };
    Ok([least(READ), least(WRITE), least(TRIM)])
}

fn access(
    options: &JobOptions,
    order: &Order<'_>,
    target: &TargetProperties,
) -> Result<FioAccess, PlanError> {
    let rw = options.rw.as_deref().unwrap_or("read");
    let own = direction(rw, options.rwmixread)?;
    let mixes = own.word.ends_with("rw") || own.word == "readwrite";
    let word = own.word.trim_start_matches("rand");
    let sizes = sizes(order, options)?;
    let align_bytes = alignments(order, &sizes, own.random)?;
    let by_size = (0..3).all(|place| align_bytes[place] == sizes[place].least_bytes);
    let law = law(order)?;
    let zoned = zone_job(options, order, target)?;
    let percent = order.each("percentage_random", |text| text.parse::<u32>().ok())?;
    let seeds = seeds(order)?;
    let time_based = order.flag("time_based", false)? && options.runtime.is_some();
    let loops = order.number("loops", 1)?.max(1);
    Ok(FioAccess {
        reads: mixes || word == "read",
        writes: mixes || word.ends_with("write"),
        trims: word.starts_with("trim"),
        random: own.random,
        gap_bytes: match own.step {
            AccessStep::Gap(bytes) => bytes,
            _ => 0,
        },
        run: match own.step {
            AccessStep::Run(ios) => ios,
            _ => 1,
        },
        read_percent: options.rwmixread.unwrap_or(50),
        align_bytes,
        sizes,
        sizes_by_order: order.flag("bs_is_seq_rand", false)?,
        unaligned: order.flag("bs_unaligned", false)?,
        has_map: !order.flag("norandommap", false)? && law == Law::Uniform && by_size,
        generator: generator(order)?,
        sprandom: sprandom(order)?,
        law,
        random_percent: percent.unwrap_or([100; 3]),
        identical: order.text("rw_sequencer") == Some("identical"),
        zones: zones(options)?.filter(|_| zoned.is_none()),
        zoned,
        time_based,
        loops,
        keeps_ends: options.do_verify == Some(false) && !time_based && loops == 1,
        io_bytes: match extent("io_size", &options.io_size)? {
            Some(Extent::Bytes(bytes)) => bytes,
            _ => 0,
        },
        ios: options.number_ios.filter(|&ios| ios > 0),
        rates: order.each("rate", |text| text.parse().ok())?.unwrap_or_default(),
        is_async: order.text("ioengine").is_some(),
        verifies: options.verify.unwrap_or(false),
        reads_back: options.verify == Some(true) && options.do_verify != Some(false),
        reads_back_meanwhile: options.verify_backlog.is_some(),
        drops_cache: options.direct == Some(false) && order.flag("invalidate", true)?,
        repeats: order.flag("randrepeat", true)? && seeds.seed.is_none(),
        seeds,
        priorities: priorities(order, word, mixes)?,
        file: order.text("filename").unwrap_or_default().to_owned(),
        files: FioFiles::default(),
    })
}

pub(super) fn seeds(order: &Order<'_>) -> Result<Seeds, PlanError> {
    let seed = order.text("randseed").map(|_| order.number("randseed", 0));
    Ok(Seeds {
        fixed_offsets: order.flag("randrepeat", true)?
            && (order.number("subjob_number", 0)? == 0 || seed.is_none()),
        all_repeat: order.flag("allrandrepeat", false)?,
        seed: seed.transpose()?,
        thread: order.number("thread_number", 1)?.max(1),
    })
}

pub(super) fn area(
    options: &JobOptions,
    order: &Order<'_>,
    target: &TargetProperties,
    access: &FioAccess,
) -> Result<FioArea, PlanError> {
    let nothing = Extent::Bytes(0);
    let given = |extent: &Extent| *extent != nothing;
    let numjobs = options.numjobs.unwrap_or(1);
    let increment = extent("offset_increment", &options.offset_increment)?.filter(given);
    let least_bytes = access.least_bytes();
    let capacity_bytes = target.capacity_bytes;
    let file_sizes = file_sizes(options, order)?;
    Ok(FioArea {
        capacity_bytes: target.capacity_bytes,
        offset: extent("offset", &options.offset)?.unwrap_or(nothing),
        increment: increment.unwrap_or(nothing),
        size: extent("size", &options.size)?.filter(given),
        file_bytes: match file_sizes {
            Some(_) => Some(capacity_bytes),
            None => match order.number("filesize", 0)? {
                0 => None,
                bytes => Some(bytes.min(capacity_bytes)),
            },
        },
        file_sizes: file_sizes.filter(|sizes| !sizes.has(capacity_bytes)),
        io_percent: match extent("io_size", &options.io_size)? {
            Some(Extent::Percent(percent)) if percent != 100 => Some(percent),
            _ => None,
        },
        offset_align_bytes: order.number("offset_align", least_bytes)?,
        least_bytes,
        first_clone: order.number("subjob_number", 0)?,
        threads: numjobs.into(),
        // Threads that write verified blocks must not overwrite each other.
        split: (access.verifies && numjobs > 1 && increment.is_none()).then_some(numjobs.into()),
        whole_zones_bytes: (access.zoned.as_ref())
            .filter(|_| access.writes)
            .map(|zones| zones.zone_bytes),
    })
}

/// The page cache takes blocks of any length.
fn plain_workload(
    mut plain: JobOptions,
    access: &FioAccess,
    target: &TargetProperties,
) -> Result<Workload, PlanError> {
    let is_odd = |sizes: &FioSizes| !sizes.least_bytes.is_multiple_of(SECTOR_BYTES);
    let may_be_odd = plain.direct == Some(false) && !access.verifies;
    let odd = plain.bs.take_if(|_| may_be_odd && access.sizes.iter().any(is_odd));
    let mut workload = Workload::plan(&plain, target)?;
    if let Some(text) = odd {
        let sizes = block_sizes(&text, workload.read_percent)?;
        (workload.access.block_sizes, workload.access.write_sizes) = sizes;
    }
    Ok(workload)
}

/// An error where it begins behind the end.
pub(super) fn part_of(
    area: &FioArea,
    worker: u32,
    target: &TargetProperties,
) -> Result<FioPart, PlanError> {
    let part = area.part(worker).filter(|part| part.area_bytes > 0);
    part.ok_or_else(|| {
        invalid(format!(
            "{}: the area of thread {worker} begins behind the end at {} bytes; lower --offset \
             or --offset_increment",
            target.name, target.capacity_bytes
        ))
    })
}

pub(super) fn check_offset(
    options: &JobOptions,
    target: &TargetProperties,
    part: FioPart,
) -> Result<(), PlanError> {
    match options.direct.unwrap_or(true) {
        true => aligned(target, "offset", part.offset_bytes, target.min_io_bytes),
        false => Ok(()),
    }
}

/// A block fits into what a pass goes over, of all files together.
pub(super) fn check_pass(
    target: &TargetProperties,
    access: &FioAccess,
    area_bytes: u64,
) -> Result<(), PlanError> {
    match area_bytes < access.least_bytes() {
        true => Err(PlanError::BlockTooLarge {
            drive: target.name.clone(),
            block_bytes: access.least_bytes() as u32,
            area: "the area",
            area_bytes,
        }),
        false => Ok(()),
    }
}

/// Most bytes of a pass of a thread; only files of random lengths give later ones more.
fn most_of_pass(area: &FioArea, numjobs: u32, first: FioPart) -> u64 {
    let random = area.file_sizes.map_or(1, |_| numjobs);
    let parts = (0..random).filter_map(|worker| area.part(worker));
    parts.map(|part| part.pass_bytes).max().unwrap_or(first.pass_bytes)
}

/// The other options are checked as those of a job of assay's own order over the same area.
pub(super) fn plan(options: &JobOptions, target: &TargetProperties) -> Result<Workload, PlanError> {
    let order = Order::parse(options.order.as_deref().unwrap_or_default())?;
    let options = &in_bytes(options, target)?;
    let mut access = access(options, &order, target)?;
    check_access(&access, options, target)?;
    let pass_bytes = several_files(options, &order, target, &mut access)?;
    let area = match pass_bytes {
        None => area(options, &order, target, &access)?,
        Some(_) => whole_area(options, target, &access),
    };
    let numjobs = options.numjobs.unwrap_or(1).max(1);
    let part = |worker: u32| part_of(&area, worker, target);
    let (first, last) = (part(0)?, part(1.min(numjobs - 1))?);
    let access = with_physical_bytes(access, first)?;
    let end = first.offset_bytes.max(last.offset_bytes) + first.area_bytes;
    let is_allowed = access.zoned.is_some() || is_conventional(target, end);
    if !is_allowed && (access.writes || access.trims) && write_zones(target).is_some() {
        return Err(refused(target, OTHER_ORDER));
    }
    for part in [first, last] {
        check_offset(options, target, part)?;
        check_pass(target, &access, pass_bytes.unwrap_or(part.pass_bytes))?;
    }
    let mut plain = options.clone();
    plain.order = None;
    // fio's order of passes depends on it without `verify`, too.
    plain.do_verify = plain.do_verify.filter(|_| access.verifies);
    for name in CHECKED_HERE {
        plain.clear(name);
    }
    let rw = options.rw.as_deref().unwrap_or("read");
    let rw = rw.split(':').next().unwrap_or(rw);
    // What its writes need is checked; trims need no more.
    plain.rw = Some(rw.replace("trimwrite", "write"));
    plain.bs = options.bs.clone().or(Some(DEFAULT_BLOCK_BYTES.to_string()));
    let plain_target = TargetProperties { files: Vec::new(), ..without_zones(target) };
    let mut workload = plain_workload(plain, &access, &plain_target)?;
    workload.features.in_zones = is_allowed && write_zones(target).is_some();
    if let Some(think) = &mut workload.think {
        think.by_issue = order.text("thinktime_blocks_type") == Some("issue");
    }
    let distance = part(numjobs - 1)?.offset_bytes - first.offset_bytes;
    check_verified(&access, distance, first)?;
    check_engine(&access, &workload)?;
    let limit = match access.io_bytes {
        0 => pass_bytes.unwrap_or(most_of_pass(&area, numjobs, first)),
        bytes => bytes,
    };
    let ends = !access.time_based && !access.trims;
    Ok(Workload {
        rw: rw.to_owned(),
        area: Region { offset_bytes: first.offset_bytes, size_bytes: first.area_bytes },
        offset_increment_bytes: distance,
        split: false,
        io_bytes: ends.then(|| limit.saturating_mul(access.loops)),
        ios: None,
        fio: Some((Arc::new(access), area)),
        ..workload
    })
}

const OTHER_ORDER: &str = "--order writes elsewhere too; use --rw write without it, or fio's \
                           zonemode=zbd in a job file";

/// Options whose meaning is fio's.
const CHECKED_HERE: [&str; 13] = [
    "size",
    "offset",
    "offset_increment",
    "split",
    "segments",
    "io_size",
    "number_ios",
    "zonesize",
    "zonerange",
    "zoneskip",
    "blockalign",
    "rate_bw",
    "rate_iops",
];
