//! Lengths, and the laws of addresses, of a job in the order of fio.

use super::ordered::Order;
use super::values::{invalid, out_of_range, size};
use super::{DEFAULT_BLOCK_BYTES, PlanError};
use crate::access::fio::{Extent, FioSizes, Law, PerDirection};
use crate::options::JobOptions;

pub(super) fn extent(
    option: &'static str,
    text: &Option<String>,
) -> Result<Option<Extent>, PlanError> {
    let Some(text) = text.as_deref() else {
        return Ok(None);
    };
    match text.trim().strip_suffix('%') {
        None => Ok(Some(Extent::Bytes(size(option, text)?))),
        Some(percent) => percent
            .parse()
            .ok()
            .filter(|percent| *percent <= 100)
            .map(|percent| Some(Extent::Percent(percent)))
            .ok_or_else(|| out_of_range(option, text, "a whole percentage from 0% to 100%")),
    }
}

pub(super) fn pair<T: std::str::FromStr, U: std::str::FromStr>(
    text: &str,
    by: char,
) -> Option<(T, U)> {
    let (first, second) = text.split_once(by)?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

/// `4k`, or `4k/60:64k/40`, as the option `bs` has them, of one direction.
pub(super) fn own_sizes(text: &str) -> Result<FioSizes, PlanError> {
    let bytes = size("bs", text)?;
    Ok(FioSizes { least_bytes: bytes, most_bytes: bytes, split: Vec::new() })
}

pub(super) fn sizes(
    order: &Order<'_>,
    options: &JobOptions,
) -> Result<PerDirection<FioSizes>, PlanError> {
    let single = |bytes: u64| FioSizes { least_bytes: bytes, most_bytes: bytes, split: Vec::new() };
    let plain = order.each("bs", |text| text.parse().ok().map(single))?;
    let range = order.each("bsrange", |text| {
        let (least_bytes, most_bytes) = pair(text, '-')?;
        Some(FioSizes { least_bytes, most_bytes, split: Vec::new() })
    })?;
    let split = order.each("bssplit", |text| {
        let entries = text.split(':').map(|entry| pair(entry, '/'));
        let mut split: Vec<(u64, u32)> = entries.collect::<Option<_>>()?;
        let bytes = || split.iter().map(|entry| entry.0);
        let (least_bytes, most_bytes) = (bytes().min()?, bytes().max()?);
        split.sort_by_key(|entry| entry.1);
        Some(FioSizes { least_bytes, most_bytes, split })
    })?;
    let sizes = match (split.or(range).or(plain), options.bs.as_deref()) {
        (Some(sizes), _) => sizes,
        (None, None) => [(); 3].map(|()| single(DEFAULT_BLOCK_BYTES.into())),
        (None, Some(text)) => match text.split_once(',') {
            None => [(); 3].map(|()| own_sizes(text)),
            Some((reads, writes)) => [own_sizes(reads), own_sizes(writes), own_sizes(writes)],
        }
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .try_into()
        .map_err(|_| invalid("--bs has sizes of reads and writes"))?,
    };
    let fits = |sizes: &FioSizes| {
        (1..=sizes.most_bytes).contains(&sizes.least_bytes)
            && sizes.most_bytes <= u64::from(assay_io::MAX_IO_BYTES)
    };
    match sizes.iter().all(fits) {
        true => Ok(sizes),
        false => Err(invalid("--bs: a size is from 1 byte to 4 MiB")),
    }
}

pub(super) fn law(order: &Order<'_>) -> Result<Law, PlanError> {
    match order.text("distribution") {
        None => Ok(Law::Uniform),
        Some(text) => law_of(text).ok_or_else(|| order.wrong("distribution")),
    }
}

pub(super) fn law_of(text: &str) -> Option<Law> {
    let (kind, rest) = text.split_once(':')?;
    let numbers = || -> Option<(f64, Option<f64>)> {
        match rest.split_once(':') {
            None => Some((rest.parse().ok()?, None)),
            Some((value, center)) => Some((value.parse().ok()?, Some(center.parse().ok()?))),
        }
    };
    let zones = |text: &str| -> Option<Vec<(u32, u64)>> {
        text.split(':').map(|zone| pair(zone, '/')).collect()
    };
    let each = || -> Option<PerDirection<Vec<(u32, u64)>>> {
        let parts: Vec<_> = rest.split(',').map(zones).collect::<Option<_>>()?;
        match parts.as_slice() {
            [all] => Some([all.clone(), all.clone(), all.clone()]),
            [reads, writes] => Some([reads.clone(), writes.clone(), writes.clone()]),
            [reads, writes, trims] => Some([reads.clone(), writes.clone(), trims.clone()]),
            _ => None,
        }
    };
    let law = match kind {
        "zipf" => numbers().map(|(theta, center)| Law::Zipf { theta, center }),
        "pareto" => numbers().map(|(h, center)| Law::Pareto { h, center }),
        "normal" => numbers().map(|(deviation, center)| Law::Normal { deviation, center }),
        "zoned" => each().map(|zones| {
            Law::Zoned(zones.map(|zones| {
                let narrow = |(share, percent): (u32, u64)| (share, percent.min(100) as u32);
                zones.into_iter().map(narrow).collect()
            }))
        }),
        "zoned_abs" => each().map(Law::ZonedBytes),
        _ => None,
    };
    let is_valid = |law: &Law| match law {
        Law::Zipf { theta, .. } => *theta > 0.0 && *theta != 1.0 && *theta < 100.0,
        Law::Pareto { h, .. } => *h > 0.0 && *h < 1.0,
        Law::Normal { deviation, .. } => (0.0..100.0).contains(deviation),
        _ => true,
    };
    law.filter(is_valid)
}
