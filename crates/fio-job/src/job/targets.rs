use std::collections::BTreeSet;

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

    /// Its kernel interface is the caller's, not the job file's.
    fn is_modelled(&self) -> bool {
        let name = self.name();
        name.starts_with("sim:") || name.starts_with("null:")
    }
}

type Note<'a> = dyn FnMut(String) + 'a;

/// The jobs that a section becomes: one for each file of each clone that has files of its own.
pub(super) struct Places {
    /// Of each the target, the clone, and the file among those of the clone.
    pub(super) all: Vec<(Target, u32, u32)>,
    /// Clones that have files of their own; 1: all clones run in each job.
    pub(super) clones: u32,
    /// Files of a clone.
    pub(super) files: u32,
}

impl Places {
    fn one(target: Target) -> Places {
        Places {
            all: vec![(target, 0, 0)],
            clones: 1,
            files: 1,
        }
    }
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
        Some((folders, _)) => names_of(folders)
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
        if let Some((file, ..)) = first {
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

/// Names with colons between them; `\:` is a colon of a name.
fn names_of(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace("\\:", "\u{0}");
    let names: Vec<String> = text
        .split(':')
        .map(|name| name.replace('\u{0}', ":"))
        .collect();
    names.into_iter().filter(|name| !name.is_empty())
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
    for name in names_of(names) {
        if name == "-" {
            let message = "filename=-: standard input is not supported".to_owned();
            return Err(given.error(place, message));
        }
        let target = target(name);
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let files = targets.len() as u32;
    let all = targets.into_iter().enumerate();
    Ok(Places {
        all: all.map(|(file, target)| (target, 0, file as u32)).collect(),
        clones: 1,
        files,
    })
}

/// fio's `filename_format`: job, number of the clone, number of the file.
fn generated(given: &Given<'_>, folders: &[String]) -> Result<Places, JobFileError> {
    let job = given.section().replace('/', "_");
    let clones = given.number("numjobs")?.unwrap_or(1).max(1);
    let files = given.number("nrfiles")?.unwrap_or(1).max(1);
    let format = given
        .text("filename_format")
        .map_or("$jobname.$jobnum.$filenum", |(text, _)| text);
    let count = clones as usize * files as usize;
    if count > super::MAX_JOBS {
        let name = if files > 1 { "nrfiles" } else { "numjobs" };
        let message = format!("{name}: {count} files; there may be {}", super::MAX_JOBS);
        return Err(given.wrong(name, message));
    }
    let mut all: Vec<(Target, u32, u32)> = Vec::with_capacity(count);
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
            all.push((Target::File(format!("{folder}{name}")), clone, file));
        }
    }
    let distinct = |places: &[(Target, u32, u32)]| {
        let names: BTreeSet<&str> = places.iter().map(|place| place.0.name()).collect();
        names.len()
    };
    let (names, names_of_one) = (distinct(&all), distinct(&all[..files as usize]));
    // Files of one name are one file for each of which fio has a part of the size.
    if names == names_of_one * clones as usize {
        return Ok(Places { all, clones, files });
    }
    if names != names_of_one {
        let message = format!(
            "filename_format={format} gives some clones the same file, and others not; write \
             $jobnum, or leave it out"
        );
        return Err(given.wrong("filename_format", message));
    }
    // The clones have the same files.
    all.truncate(files as usize);
    Ok(Places {
        all,
        clones: 1,
        files,
    })
}

/// The part of one file of several in what the job says for all of them.
pub(super) fn share(
    given: &Given<'_>,
    options: &mut JobOptions,
    (file, files): (u32, u32),
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let (name, several) = match given.text("filename") {
        Some((names, _)) => ("filename", format!("filename={names}")),
        None => ("nrfiles", format!("nrfiles={files}")),
    };
    let wrong =
        |why: String| given.wrong(name, format!("{several}: {why}; write a section for each"));
    let depth = options.iodepth.unwrap_or(1);
    let threads = options.numjobs.unwrap_or(1);
    let by_threads = depth < files && threads >= files;
    if depth < files && !by_threads {
        return Err(wrong(format!(
            "fio takes {files} files in turn with {depth} I/Os in flight, and here each file is a \
             job with I/Os of its own in flight"
        )));
    }
    let limits = ["rate", "rate_iops", "number_ios", "thinktime", "flow"];
    if let Some(limit) = limits.into_iter().find(|name| given.place(name).is_some()) {
        return Err(wrong(format!("{limit} is of all files together")));
    }
    let part_bytes = |text: &mut Option<String>| {
        if let Some(bytes) = text.as_deref().and_then(|text| text.parse::<u64>().ok()) {
            *text = Some((bytes / u64::from(files)).to_string());
        }
    };
    part_bytes(&mut options.size);
    part_bytes(&mut options.io_size);
    let part = |all: u32| Some(all / files + u32::from(file < all % files));
    let what = match by_threads {
        true => {
            options.numjobs = part(threads);
            format!("threads ({threads})")
        }
        false => {
            options.iodepth = part(depth);
            format!("I/Os in flight ({depth})")
        }
    };
    note(format!(
        "{several}: each of the {files} files is a job with its part of the {what} and of the size; \
         in fio each thread takes the files in turn, with one queue"
    ));
    Ok(())
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
    Ok(Engine {
        name,
        engine,
        foreign,
    })
}

pub(super) fn engine(
    given: &Given<'_>,
    places: &Places,
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let is_modelled = places.all.iter().all(|(target, ..)| target.is_modelled());
    options.iodepth = given.number("iodepth")?.filter(|&depth| depth > 0);
    options.iodepth_batch_complete_min = given
        .number("iodepth_batch_complete_min")?
        .filter(|&least| least > 1);
    let depth = options.iodepth.unwrap_or(1);
    if let Some(low) = given
        .number("iodepth_low")?
        .filter(|low| (1..depth).contains(low))
    {
        // A full queue drains to the low mark before it is filled again.
        let least = options.iodepth_batch_complete_min.unwrap_or(1);
        options.iodepth_batch_complete_min = Some(least.max(depth - low));
    }
    if let Some(least) = &mut options.iodepth_batch_complete_min {
        *least = depth.min(*least);
    }
    options.serialize_overlap = given.flag("serialize_overlap")?.then_some(true);
    let Engine {
        name,
        engine,
        foreign,
    } = engine_of(given)?;
    match foreign {
        Some(Foreign::UserSpace) => note(format!(
            "ioengine={name} is a driver in user space, which polls; here the same I/Os pass the \
             kernel's block layer, which takes a microsecond or two of processor time more for each"
        )),
        Some(Foreign::Windows) => note(format!(
            "ioengine={name}: here the same I/Os pass Linux's block layer"
        )),
        None => {}
    }
    if engine == "sync" && options.iodepth.is_some_and(|depth| depth > 1) {
        note(format!(
            "ioengine={name} has one I/O in flight, as in fio; iodepth changes nothing"
        ));
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
