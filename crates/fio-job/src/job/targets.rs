use assay_workload::options::JobOptions;

use super::given::Given;
use crate::JobFileError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The drive of the command line, a device, or an existing file.
    Drive(String),
    /// A file by fio's naming, made and filled where it does not exist.
    File(String),
}

impl Target {
    /// As on the command line.
    pub fn name(&self) -> &str {
        match self {
            Target::Drive(name) | Target::File(name) => name,
        }
    }

    /// Its kernel interface is the caller's, not the job file's.
    fn is_modelled(&self) -> bool {
        let name = self.name();
        name.starts_with("sim:") || name.starts_with("null:")
    }
}

type Note<'a> = dyn FnMut(String) + 'a;

/// The targets of a section: one, or one for each of `numjobs` where each has a file of its own.
pub(super) fn targets(given: &Given<'_>, drive: Option<&str>) -> Result<Vec<Target>, JobFileError> {
    let engine = given.text("ioengine").map_or("psync", |(engine, _)| engine);
    if let Some(drive) = drive {
        return Ok(vec![Target::Drive(drive.to_owned())]);
    }
    if let Some(drive) = super::trace::redirect(given)? {
        return Ok(vec![Target::Drive(drive.to_owned())]);
    }
    if matches!(engine, "null" | "cpp_null") {
        let size = match given.size("size")? {
            Some(crate::number::Size::Bytes(bytes)) if bytes > 0 => {
                format!("null:size={}", bytes.next_multiple_of(4096))
            }
            _ => "null:".to_owned(),
        };
        return Ok(vec![Target::Drive(size)]);
    }
    let folder = match given.text("directory") {
        None => String::new(),
        Some((folder, place)) if folder.contains(':') => {
            return Err(given.error(
                place,
                format!("directory={folder}: several folders are not supported"),
            ));
        }
        Some((folder, _)) => format!("{}/", folder.trim_end_matches('/')),
    };
    if let Some((name, place)) = given.text("filename") {
        if name == "-" {
            return Err(given.error(
                place,
                "filename=-: standard input is not supported".to_owned(),
            ));
        }
        let name = name.replace("\\:", "\u{0}");
        if name.contains(':') {
            let name = name.replace('\u{0}', "\\:");
            return Err(given.error(
                place,
                format!(
                    "filename={name}: several files of one job are not supported; write a section \
                     for each"
                ),
            ));
        }
        let name = name.replace('\u{0}', ":");
        let path = match name.starts_with('/') {
            true => name,
            false => format!("{folder}{name}"),
        };
        return Ok(match path.as_str() {
            "/dev/null" | "/dev/zero" => vec![Target::Drive("null:".to_owned())],
            _ if path.starts_with("/dev/") => vec![Target::Drive(path)],
            _ => vec![Target::File(path)],
        });
    }
    let clones = given.number("numjobs")?.unwrap_or(1).max(1);
    let name = given.section();
    // fio's `filename_format`: job, number of the clone, number of the file.
    let file = |clone: u32| Target::File(format!("{folder}{}.{clone}.0", name.replace('/', "_")));
    if clones as usize > super::MAX_JOBS {
        let message = format!("numjobs={clones}: at most {} files", super::MAX_JOBS);
        return Err(given.wrong("numjobs", message));
    }
    Ok((0..clones).map(file).collect())
}

pub(super) fn engine_of<'a>(given: &Given<'a>) -> Result<(&'a str, &'static str), JobFileError> {
    let name = given.text("ioengine").map_or("psync", |(name, _)| name);
    let engine = match name {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => "sync",
        "libaio" | "io_uring" | "posixaio" => "uring",
        "io_uring_cmd" => "passthru",
        "null" | "cpp_null" => "auto",
        _ => {
            let message =
                format!("ioengine={name} is not supported (docs/fio.md lists those that are)");
            return Err(given.wrong("ioengine", message));
        }
    };
    Ok((name, engine))
}

pub(super) fn engine(
    given: &Given<'_>,
    targets: &[Target],
    options: &mut JobOptions,
    note: &mut Note<'_>,
) -> Result<(), JobFileError> {
    let is_modelled = targets.iter().all(Target::is_modelled);
    options.iodepth = given.number("iodepth")?.filter(|&depth| depth > 0);
    options.iodepth_batch_complete_min = given
        .number("iodepth_batch_complete_min")?
        .filter(|&least| least > 1);
    let batch = given.number("iodepth_batch")?.unwrap_or(1);
    if batch > 1 && options.iodepth_batch_complete_min != Some(batch) {
        let message = format!(
            "iodepth_batch={batch} is supported only with iodepth_batch_complete_min={batch}"
        );
        return Err(given.wrong("iodepth_batch", message));
    }
    let (name, engine) = engine_of(given)?;
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
        options.direct = Some(given.flag_or("direct", direct)?);
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
