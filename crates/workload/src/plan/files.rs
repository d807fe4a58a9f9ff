//! Jobs of fio over several files, which take turns.

use assay_device::identity::JoinedPart;
use assay_device::session::TargetProperties;

use super::PlanError;
use super::fio_draws::{law_of, sizes};
use super::ordered::{Order, area, check_offset, generator, part_of, seeds};
use super::values::invalid;
use crate::access::fio::{
    Extent, FileSizes, FioAccess, FioArea, FioFile, FioFiles, Generator, Law, Service,
};
use crate::options::JobOptions;

/// Adds the files of the target to the job; returns the bytes of a pass, none of one file.
pub(super) fn several_files(
    options: &JobOptions,
    order: &Order<'_>,
    target: &TargetProperties,
    access: &mut FioAccess,
) -> Result<Option<u64>, PlanError> {
    if target.files.is_empty() {
        return Ok(None);
    }
    let one_file_only = [
        (access.verifies, "verify"),
        (access.zones.is_some() || access.zoned.is_some(), "zonemode"),
        (access.sprandom.is_some(), "sprandom"),
    ];
    if let Some((_, name)) = one_file_only.iter().find(|(is_given, _)| *is_given) {
        let message = format!(
            "{}: {name} of several files in turn is not supported; write a section for each",
            target.name
        );
        return Err(invalid(message));
    }
    let mut all = Vec::new();
    let mut pass_bytes = vec![0_u64; options.numjobs.unwrap_or(1).max(1) as usize];
    let mut size_bytes = 0;
    let mut drawn = 0;
    for file in &target.files {
        let (area, bytes) = file_area(options, order, target, access, (file, drawn))?;
        pass_bytes.iter_mut().zip(bytes).for_each(|(all, own)| *all += own);
        if let (Some(Extent::Bytes(bytes)), Some(_)) = (area.size, area.file_bytes) {
            size_bytes = bytes;
        }
        drawn += u32::from(area.file_sizes.is_some());
        all.push(FioFile {
            name: file.name.clone(),
            start_bytes: file.start_bytes,
            area: FioArea { size: area.size.filter(|_| size_bytes == 0), ..area },
        });
    }
    let (service, law, ios_in_turn) = service(order)?;
    let most_open = order.number("openfiles", 0)?;
    access.files = FioFiles {
        most_open: match usize::try_from(most_open) {
            Ok(0) | Err(_) => all.len(),
            Ok(most) => most,
        },
        all,
        service,
        law,
        ios_in_turn,
        size_bytes,
    };
    let most = pass_bytes.into_iter().max().unwrap_or(0);
    Ok(Some(access.files.pass_bytes(most)))
}

/// What the threads have of a file, and the bytes of its part of a pass of each.
fn file_area(
    options: &JobOptions,
    order: &Order<'_>,
    target: &TargetProperties,
    access: &FioAccess,
    (file, drawn): (&JoinedPart, u32),
) -> Result<(FioArea, Vec<u64>), PlanError> {
    let own = TargetProperties {
        name: file.name.clone(),
        capacity_bytes: file.len_bytes,
        ..target.clone()
    };
    let mut area = area(options, order, &own, access)?;
    if let Some(sizes) = &mut area.file_sizes {
        sizes.place = drawn;
    }
    let mut of_area = area;
    match (area.size, area.file_bytes) {
        // `size` is of all files together.
        (Some(Extent::Bytes(bytes)), None) => {
            area.size = Some(Extent::Bytes(bytes / target.files.len() as u64));
            of_area = area;
        }
        (Some(Extent::Bytes(_)), Some(_)) => of_area.size = None,
        _ => {}
    }
    let mut pass_bytes = Vec::new();
    for worker in 0..options.numjobs.unwrap_or(1).max(1) {
        let part = part_of(&of_area, worker, &own)?;
        check_offset(options, &own, part)?;
        pass_bytes.push(part.pass_bytes);
    }
    Ok((area, pass_bytes))
}

/// The length of a file that a job of fio makes by `filesize=LOW-HIGH`, behind others of these
/// lengths; none of a job without.
pub fn file_length(options: &JobOptions, before: &[u64]) -> Option<u64> {
    let order = Order::parse(options.order.as_deref()?).ok()?;
    let mut sizes = file_sizes(options, &order).ok()??;
    sizes.place = before.iter().filter(|&&bytes| !sizes.has(bytes)).count() as u32;
    Some(sizes.draw(0))
}

pub(super) fn file_sizes(
    options: &JobOptions,
    order: &Order<'_>,
) -> Result<Option<FileSizes>, PlanError> {
    let range = order.text("filesize").and_then(|text| text.split_once('-'));
    let Some((low, high)) = range else {
        return Ok(None);
    };
    let bytes = |text: &str| text.parse::<u64>().map_err(|_| order.wrong("filesize"));
    let of_blocks = sizes(order, options)?;
    Ok(Some(FileSizes {
        least_bytes: bytes(low)?,
        most_bytes: bytes(high)?,
        align_bytes: of_blocks.iter().map(|sizes| sizes.least_bytes).min().unwrap_or(1),
        place: 0,
        seeds: seeds(order)?,
        wide: generator(order)? == Generator::Tausworthe64,
    }))
}

fn service(order: &Order<'_>) -> Result<(Service, Option<Law>, u64), PlanError> {
    let text = order.text("file_service_type").unwrap_or("roundrobin");
    let wrong = || order.wrong("file_service_type");
    if let Some(law) = law_of(text) {
        return match law {
            Law::Zipf { .. } | Law::Pareto { .. } | Law::Normal { .. } => {
                Ok((Service::ByLaw, Some(law), 1))
            }
            _ => Err(wrong()),
        };
    }
    let (kind, ios) = match text.split_once(':') {
        Some((kind, ios)) => (kind, ios.parse().map_err(|_| wrong())?),
        None => (text, 1),
    };
    let service = match kind {
        "roundrobin" => Service::RoundRobin,
        "sequential" => Service::Sequential,
        "random" => Service::Random,
        _ => return Err(wrong()),
    };
    Ok((service, None, ios))
}

/// The address space of all files.
pub(super) fn whole_area(
    options: &JobOptions,
    target: &TargetProperties,
    access: &FioAccess,
) -> FioArea {
    FioArea {
        capacity_bytes: target.capacity_bytes,
        offset: Extent::Bytes(0),
        increment: Extent::Bytes(0),
        size: None,
        file_bytes: None,
        file_sizes: None,
        io_percent: None,
        offset_align_bytes: access.least_bytes(),
        least_bytes: access.least_bytes(),
        first_clone: 0,
        threads: options.numjobs.unwrap_or(1).into(),
        split: None,
        whole_zones_bytes: None,
    }
}
