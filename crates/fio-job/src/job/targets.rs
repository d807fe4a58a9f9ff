use std::collections::BTreeSet;

use assay_device::spec::{DriveSpec, SpecKind, files_spec, names_between_colons};
use assay_workload::options::JobOptions;

use super::given::Given;
use crate::JobFileError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The drive of the command line, a device, or an existing file.
    Drive(String),
    /// The file that this log of fio names.
    OfLog(String),
    /// A file by fio's naming, made and filled where it does not exist.
    File(String),
}

impl Target {
    /// As on the command line.
    pub fn name(&self) -> &str {
        match self {
            Target::Drive(name) | Target::File(name) | Target::OfLog(name) => name,
        }
    }

    /// The files, where they are several.
    pub fn files(&self) -> Vec<String> {
        match DriveSpec::parse(self.name()) {
            Ok(spec) => match spec.kind() {
                SpecKind::Files(names) => names.clone(),
                _ => Vec::new(),
            },
            Err(_) => Vec::new(),
        }
    }

    /// Its kernel interface is the caller's, not the job file's.
    fn is_modelled(&self) -> bool {
        let name = self.name();
        name.starts_with("sim:") || name.starts_with("null:")
    }
}

type Note<'a> = dyn FnMut(String) + 'a;

/// The jobs that a section becomes: one for each clone that has files of its own.
pub(super) struct Places {
    /// Of each the target and the clone.
    pub(super) all: Vec<(Target, u32)>,
    /// Clones that have files of their own; 1: all clones run in each job.
    pub(super) clones: u32,
}

impl Places {
    fn one(target: Target) -> Places {
        Places { all: vec![(target, 0)], clones: 1 }
    }
}

/// Several files are one target, on which they take turns.
fn joined(given: &Given<'_>, mut targets: Vec<Target>) -> Result<Target, JobFileError> {
    if targets.len() == 1
        && let Some(only) = targets.pop()
    {
        return Ok(only);
    }
    if let Some(null) = targets.iter().find(|target| target.is_modelled()) {
        let message = format!("{} beside other files is not supported", null.name());
        return Err(given.wrong("filename", message));
    }
    let names: Vec<&str> = targets.iter().map(Target::name).collect();
    Ok(Target::File(files_spec(&names)))
}

pub(super) fn places(given: &Given<'_>, drive: Option<&str>) -> Result<Places, JobFileError> {
    if let Some(drive) = drive {
        return Ok(Places::one(Target::Drive(drive.to_owned())));
    }
    if let Some(target) = super::trace::target(given) {
        return Ok(Places::one(target));
    }
    let engine = engine_of(given)?;
    if let Some(foreign) = engine.foreign {
        needs_drive(given, engine.name, foreign)?;
    }
    if matches!(engine.name, "null" | "cpp_null") {
        let size = match given.size("size")? {
            Some(crate::number::Size::Bytes(bytes)) if bytes > 0 => {
                format!("null:size={}", bytes.next_multiple_of(4096))
            }
            _ => "null:".to_owned(),
        };
        return Ok(Places::one(Target::Drive(size)));
    }
    files(given)
}

/// The files or drives that the section itself names.
fn files(given: &Given<'_>) -> Result<Places, JobFileError> {
    let folders: Vec<String> = match given.text("directory") {
        None => vec![String::new()],
        Some((folders, _)) => names_between_colons(folders)
            .into_iter()
            .map(|folder| format!("{}/", folder.trim_end_matches('/')))
            .collect(),
    };
    match given.text("filename") {
        Some((names, place)) => named(given, names, place, &folders[0]),
        None => generated(given, &folders),
    }
}

/// The name of a job's file for fio: that of the section where the null target replaces it.
pub(super) fn name_in_fio(
    given: &Given<'_>,
    drive: Option<&str>,
    target: &Target,
) -> Result<String, JobFileError> {
    if drive.is_none() && matches!(engine_of(given)?.name, "null" | "cpp_null") {
        let first = files(given)?.all.into_iter().next();
        if let Some((file, _)) = first {
            return Ok(file.name().to_owned());
        }
    }
    Ok(target.name().to_owned())
}

/// A user-space driver and another system name drives in a way that the kernel here does not know.
fn needs_drive(given: &Given<'_>, engine: &str, foreign: Foreign) -> Result<(), JobFileError> {
    let name = given.text("filename").map(|(name, _)| name);
    let is_file = name.is_none_or(|name| !name.contains(['\\', ':']));
    let is_device = name.is_some_and(|name| name.starts_with("/dev/"));
    if is_device || foreign == Foreign::Windows && is_file {
        return Ok(());
    }
    let named = name.map_or_else(String::new, |name| format!("filename={name} of "));
    let message = format!(
        "{named}ioengine={engine} names no drive of this host; add the drive to the command line, \
         such as /dev/nvme0n1"
    );
    Err(given.wrong("filename", message))
}

fn named(
    given: &Given<'_>,
    names: &str,
    place: &super::Place,
    folder: &str,
) -> Result<Places, JobFileError> {
    if names.starts_with("sim:") || names.starts_with("null:") {
        return Ok(Places::one(Target::Drive(names.to_owned())));
    }
    let target = |name: String| {
        let path = match name.starts_with('/') {
            true => name,
            false => format!("{folder}{name}"),
        };
        match path.as_str() {
            "/dev/null" | "/dev/zero" => Target::Drive("null:".to_owned()),
            _ if path.starts_with("/dev/") => Target::Drive(path),
            _ => Target::File(path),
        }
    };
    let mut targets: Vec<Target> = Vec::new();
    for name in names_between_colons(names) {
        if name == "-" {
            let message = "filename=-: standard input is not supported".to_owned();
            return Err(given.error(place, message));
        }
        let target = target(name);
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(Places::one(joined(given, targets)?))
}

/// fio's `filename_format`: job, number of the clone, number of the file.
fn generated(given: &Given<'_>, folders: &[String]) -> Result<Places, JobFileError> {
    let job = given.section().replace('/', "_");
    let clones = given.number("numjobs")?.unwrap_or(1).max(1);
    let files = given.number("nrfiles")?.unwrap_or(1).max(1);
    let format =
        given.text("filename_format").map_or("$jobname.$jobnum.$filenum", |(text, _)| text);
    let count = clones as usize * files as usize;
    if count > super::MAX_JOBS {
        let name = if files > 1 { "nrfiles" } else { "numjobs" };
        let message = format!("{name}: {count} files; there may be {}", super::MAX_JOBS);
        return Err(given.wrong(name, message));
    }
    let mut all: Vec<Target> = Vec::with_capacity(count);
    for clone in 0..clones {
        let folder = &folders[clone as usize % folders.len()];
        for file in 0..files {
            let name = format
                .replace("$jobname", &job)
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string());
            if name.contains('$') {
                let message = format!("filename_format={format}: $jobname, $jobnum and $filenum");
                return Err(given.wrong("filename_format", message));
            }
            all.push(Target::File(format!("{folder}{name}")));
        }
    }
    let distinct = |targets: &[Target]| {
        let names: BTreeSet<&str> = targets.iter().map(Target::name).collect();
        names.len()
    };
    let (names, names_of_one) = (distinct(&all), distinct(&all[..files as usize]));
    let own = names == names_of_one * clones as usize;
    if !own && names != names_of_one {
        let message = format!(
            "filename_format={format} gives some clones the same file, and others not; write \
             $jobnum, or leave it out"
        );
        return Err(given.wrong("filename_format", message));
    }
    let clones = if own { clones } else { 1 };
    let mut places = Vec::new();
    for (targets, clone) in all.chunks(files as usize).zip(0..clones) {
        places.push((joined(given, targets.to_vec())?, clone));
    }
    Ok(Places { all: places, clones })
}

/// fio's writes make a file longer until they fail, and what they measure is that.
pub(super) fn may_fill(given: &Given<'_>, target: &Target) -> Result<(), JobFileError> {
    match target {
        Target::File(name) if given.flag("fill_device")? => {
            let message = format!(
                "fill_device=1: {name} is a file, which assay does not make longer until its file \
                 system is full; give size=, or a drive on the command line"
            );
            Err(given.wrong("fill_device", message))
        }
        _ => Ok(()),
    }
}

/// What `--order` says of several files.
pub(super) fn turns(given: &Given<'_>) -> Result<Vec<(&'static str, String)>, JobFileError> {
    let mut turns = Vec::new();
    if let Some((service, place)) = given.text("file_service_type") {
        let (kind, ios) = service.split_once(':').unwrap_or((service, "1"));
        let ios: Option<u64> = ios.trim().parse().ok();
        match (kind, ios) {
            ("roundrobin", Some(1)) => {}
            ("roundrobin" | "sequential" | "random", Some(ios)) => {
                turns.push(("file_service_type", format!("{kind}:{ios}")));
            }
            ("zipf" | "pareto" | "normal" | "gauss", _) => {
                turns.push(("file_service_type", by_law(given, service, place)?));
            }
            _ => {
                let message = format!(
                    "file_service_type={service}: roundrobin, sequential or random, and the number \
                     of I/Os in a file's turn after a colon; or zipf, pareto or normal, as in \
                     random_distribution"
                );
                return Err(given.error(place, message));
            }
        }
    }
    if let Some(most) = given.number("openfiles")?.filter(|&most| most > 0) {
        turns.push(("openfiles", most.to_string()));
    }
    Ok(turns)
}

/// A law of which file has a turn. fio keeps one exponent and one centre for it and for
/// `random_distribution`.
fn by_law(given: &Given<'_>, service: &str, place: &super::Place) -> Result<String, JobFileError> {
    let of_offsets = given.text("random_distribution").map(|(law, _)| law);
    let is_law = |law: &str| ["zipf", "pareto", "normal"].iter().any(|of| law.starts_with(of));
    if let Some(law) = of_offsets.filter(|law| is_law(law)) {
        let message = format!(
            "file_service_type={service} and random_distribution={law} of one job are not \
             supported, since fio mixes their numbers up; give one of them"
        );
        return Err(given.error(place, message));
    }
    super::order::law(
        given,
        "file_service_type",
        service.replace("gauss", "normal").as_str(),
        place,
    )
}

/// Where an engine is of another world than Linux's block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    UserSpace,
    Windows,
}

/// What becomes of an engine of fio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine<'a> {
    /// fio's name.
    pub(super) name: &'a str,
    /// Value of `--engine`.
    pub(super) engine: &'static str,
    pub(super) foreign: Option<Foreign>,
}

pub(super) fn engine_of<'a>(given: &Given<'a>) -> Result<Engine<'a>, JobFileError> {
    let name = given.text("ioengine").map_or("psync", |(name, _)| name);
    // fio loads `external:PATH`, by which SPDK's manual names its engines.
    let name = match name.strip_prefix("external:") {
        Some(path) => path.rsplit('/').next().unwrap_or(path),
        None => name,
    };
    let (engine, foreign) = match name {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => ("sync", None),
        "libaio" | "io_uring" | "posixaio" | "xnvme" => ("uring", None),
        "spdk" | "spdk_nvme" | "spdk_bdev" => ("uring", Some(Foreign::UserSpace)),
        "windowsaio" => ("uring", Some(Foreign::Windows)),
        "io_uring_cmd" => ("passthru", None),
        "null" | "cpp_null" => ("auto", None),
        _ => {
            let message =
                format!("ioengine={name} is not supported (docs/fio.md lists those that are)");
            return Err(given.wrong("ioengine", message));
        }
    };
    Ok(Engine { name, engine, foreign })
}

pub(super) fn engine(
    given: &Given<'_>,
    places: &Places,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let is_modelled = places.all.iter().all(|(target, _)| target.is_modelled());
    options.iodepth = given.number("iodepth")?.filter(|&depth| depth > 0);
    options.iodepth_batch_complete_min =
        given.number("iodepth_batch_complete_min")?.filter(|&least| least > 1);
    let depth = options.iodepth.unwrap_or(1);
    if let Some(low) = given.number("iodepth_low")?.filter(|low| (1..depth).contains(low)) {
        // A full queue drains to the low mark before it is filled again.
        let least = options.iodepth_batch_complete_min.unwrap_or(1);
        options.iodepth_batch_complete_min = Some(least.max(depth - low));
    }
    if let Some(least) = &mut options.iodepth_batch_complete_min {
        *least = depth.min(*least);
    }
    options.serialize_overlap = given.flag("serialize_overlap")?.then_some(true);
    let Engine { name, engine, foreign } = engine_of(given)?;
    match foreign {
        Some(Foreign::UserSpace) => note(format!(
            "ioengine={name} is a driver in user space, which polls; here the same I/Os pass the \
             kernel's block layer, which takes a microsecond or two of processor time more for each"
        )),
        Some(Foreign::Windows) => {
            note(format!("ioengine={name}: here the same I/Os pass Linux's block layer"))
        }
        None => {}
    }
    if engine == "sync" && options.iodepth.is_some_and(|depth| depth > 1) {
        note(format!("ioengine={name} has one I/O in flight, as in fio; iodepth changes nothing"));
        options.iodepth = None;
    }
    if engine == "passthru" {
        // NVMe commands bypass the page cache.
        options.direct = Some(true);
    } else {
        let direct = given.flag_or("buffered", true).map(|buffered| !buffered)?;
        let bypasses = foreign == Some(Foreign::UserSpace);
        options.direct = Some(bypasses || given.flag_or("direct", direct)?);
    }
    if is_modelled {
        // A simulated drive is its own engine and has no page cache.
        options.direct = Some(true);
        return Ok(());
    }
    options.engine = (engine != "auto").then(|| engine.to_owned());
    options.hipri = given.flag("hipri")?.then_some(true);
    options.sqpoll = given.flag("sqthread_poll")?.then_some(true);
    options.sqpoll_cpu = match options.sqpoll {
        Some(_) => given.number("sqthread_poll_cpu")?,
        None => None,
    };
    Ok(())
}
