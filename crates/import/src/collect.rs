//! Files and folders to jobs: every file on its own, on all processors, in the order of names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_output::open_to_read;
use assay_store::model::SourceFile;
use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use crate::fio::logs::{self, Rates};
use crate::fio::options::Options;
use crate::format::Format;
use crate::judge::judge;
use crate::{ImportError, Job, MAX_FILE_BYTES};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";
/// Folders deeper than this are not entered.
const MAX_DEPTH: usize = 32;
/// Room that each thread keeps from one file to the next.
const KEPT_BYTES: usize = 1 << 20;

/// A file with results.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The file.
    pub source: SourceFile,
    /// Its jobs.
    pub jobs: Vec<Job>,
}

/// A file of a known kind without results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    /// Files with results.
    pub imported: Vec<Imported>,
    /// Files of a known kind without results, each with the reason.
    pub rejected: Vec<Rejected>,
    /// Files of no known kind.
    pub other_files: usize,
    /// Files whose bytes, or whose figures, are those of another one.
    pub duplicates: usize,
}

/// A file to read, and its name in the run folder.
struct Candidate {
    path: PathBuf,
    name: String,
}

/// The logs of jobs, by folder and prefix, and the first of the files.
type Logs = BTreeMap<PathBuf, (Rates, SourceFile)>;

enum Outcome {
    Results(Imported),
    /// Merged into those of its job.
    Log,
    Rejected(Rejected),
    Other,
}

/// Reads these files and folders; `-` is standard input. Options that a file does not have are
/// those of `assumed`. Errors: [`ImportError::Read`] of a path that was named,
/// [`ImportError::Nothing`].
pub fn collect(paths: &[PathBuf], assumed: &Options) -> Result<Collection, ImportError> {
    let mut candidates = Vec::new();
    for path in paths {
        let read = |source| ImportError::Read { path: path.clone(), source };
        if path.as_os_str() == STANDARD_INPUT {
            let name = STANDARD_INPUT.to_owned();
            candidates.push(Candidate { path: path.clone(), name });
        } else if fs::metadata(path).map_err(read)?.is_dir() {
            walk(path, path, 0, &mut candidates).map_err(read)?;
        } else {
            let name = path.file_name().unwrap_or(path.as_os_str());
            candidates
                .push(Candidate { path: path.clone(), name: name.to_string_lossy().into_owned() });
        }
    }
    let mut collection = sorted(read_all(&candidates, assumed), &candidates, assumed);
    for imported in &mut collection.imported {
        imported.jobs.iter_mut().for_each(judge);
    }
    let listed: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    match (collection.imported.is_empty(), collection.rejected.first()) {
        (false, _) => Ok(collection),
        (true, None) => Err(ImportError::Nothing(listed.join(", "))),
        (true, Some(rejected)) => {
            let first = match paths.iter().any(|path| path.is_dir()) {
                true => format!("{}: {}", rejected.name, rejected.reason),
                false => rejected.reason.clone(),
            };
            Err(ImportError::Nothing(format!("{} ({first})", listed.join(", "))))
        }
    }
}

/// Files below a folder, by name; links are not followed.
fn walk(
    root: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<Candidate>,
) -> Result<(), std::io::Error> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            walk(root, &path, depth + 1, found)?;
        } else if kind.is_file() {
            let below = path.strip_prefix(root).unwrap_or(&path);
            let name = below.to_string_lossy().into_owned();
            found.push(Candidate { path, name });
        }
    }
    Ok(())
}

/// One outcome per file, in their order, and the logs.
fn read_all(candidates: &[Candidate], assumed: &Options) -> (Vec<Outcome>, Logs) {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let logs = Mutex::new(Logs::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.min(candidates.len()) {
            scope.spawn(|| {
                let (mut own, mut raw) = (Vec::new(), Vec::new());
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = candidates.get(at) else {
                        break;
                    };
                    own.push((at, read(file, &mut raw, assumed, &logs)));
                }
                if let Ok(mut all) = outcomes.lock() {
                    all.extend(own);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(at, _)| *at);
    let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    (outcomes, logs.into_inner().unwrap_or_default())
}

/// `raw` is room for its bytes.
fn read(file: &Candidate, raw: &mut Vec<u8>, assumed: &Options, jobs: &Mutex<Logs>) -> Outcome {
    let rejected = |reason: String| {
        let name = file.name.clone();
        Outcome::Rejected(Rejected { name, reason })
    };
    if let Err(reason) = content(&file.path, raw) {
        return rejected(reason);
    }
    let text = match decompressed(raw) {
        Ok(text) => utf8(text),
        Err(reason) => return rejected(reason),
    };
    let Some(format) = Format::detect(uncompressed_name(&file.name), &text) else {
        return match is_broken_result(&text) {
            true => rejected("it has no fio version: is it cut off?".to_owned()),
            false => Outcome::Other,
        };
    };
    let mut source = SourceFile {
        name: file.name.clone(),
        sha256: hexadecimal(&Sha256::digest(&*raw)),
        bytes: raw.len() as u64,
        format: format.name().to_owned(),
        tool: String::new(),
    };
    let kind = logs::kind_of(uncompressed_name(&file.name));
    if let (Format::FioLog, Some((prefix, kind))) = (format, kind) {
        let last = Path::new(prefix).file_name().unwrap_or_default();
        let rates = Rates::parse(kind, &text);
        if let Ok(mut all) = jobs.lock() {
            let known = all.entry(file.path.with_file_name(last));
            let (sum, first) = known.or_insert_with(|| (Rates::default(), source.clone()));
            sum.merge(rates);
            if source.name < first.name {
                *first = source;
            }
        }
        return Outcome::Log;
    }
    match format.parse(&text, assumed) {
        Ok(parsed) => {
            source.tool = parsed.tool;
            Outcome::Results(Imported { source, jobs: parsed.jobs })
        }
        Err(reason) => rejected(format!("{}: {reason}", format.name())),
    }
}

/// Whole, within the limit, in place of what `content` has.
fn content(path: &Path, content: &mut Vec<u8>) -> Result<(), String> {
    content.clear();
    content.shrink_to(KEPT_BYTES);
    let limit = MAX_FILE_BYTES + 1;
    let read = match path.as_os_str() == STANDARD_INPUT {
        true => std::io::stdin().take(limit).read_to_end(content),
        false => open_to_read(path).and_then(|file| {
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            content.reserve(length.min(limit) as usize + 1);
            file.take(limit).read_to_end(content)
        }),
    };
    read.map_err(|error| error.to_string())?;
    within_limit(content)
}

fn within_limit(text: &[u8]) -> Result<(), String> {
    match text.len() as u64 > MAX_FILE_BYTES {
        true => Err(format!("it is longer than {} MiB", MAX_FILE_BYTES >> 20)),
        false => Ok(()),
    }
}

/// The content of a gzip or zstd file, within the limit; of another one, itself.
fn decompressed(raw: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let source: Box<dyn Read + '_> = match raw {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(raw);
            Box::new(decoder.map_err(|error| error.to_string())?)
        }
        _ => return Ok(Cow::Borrowed(raw)),
    };
    let mut text = Vec::new();
    let read = source.take(MAX_FILE_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| format!("it cannot be decompressed: {error}"))?;
    within_limit(&text)?;
    Ok(Cow::Owned(text))
}

/// Text with a byte order mark, which Windows' shells write, as UTF-8 without it.
fn utf8(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let units = |of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            text[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect();
        Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
    };
    match &*text {
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Owned(rest.to_vec()),
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        _ => text,
    }
}

/// Without the end that names its compression.
fn uncompressed_name(name: &str) -> &str {
    let ends = [".gz", ".zst"];
    let found = ends.into_iter().find_map(|end| name.strip_suffix(end));
    found.unwrap_or(name)
}

/// JSON that names jobs: more likely a result that was cut off than another file.
fn is_broken_result(text: &[u8]) -> bool {
    text.starts_with(b"{") && memchr::memmem::find(text, b"\"jobname\"").is_some()
}

fn sorted(
    (outcomes, logs): (Vec<Outcome>, Logs),
    candidates: &[Candidate],
    assumed: &Options,
) -> Collection {
    let mut collection = Collection::default();
    let mut seen = BTreeSet::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Results(imported) => match seen.insert(imported.source.sha256.clone()) {
                true => collection.imported.push(imported),
                false => collection.duplicates += 1,
            },
            Outcome::Log => {}
            Outcome::Rejected(rejected) => collection.rejected.push(rejected),
            Outcome::Other => collection.other_files += 1,
        }
    }
    drop_tables(&mut collection);
    for (place, (rates, source)) in attach(&mut collection, logs, candidates) {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        match rates.job(&name, assumed) {
            Some(job) => collection.imported.push(Imported { source, jobs: vec![job] }),
            None => collection.rejected.push(Rejected {
                name: source.name,
                reason: "a log of latencies has no rates: import it with its logs _bw and _iops"
                    .to_owned(),
            }),
        }
    }
    collection
}

/// Leaves out ezFIO's tables of runs whose outputs of fio lie in the same folder.
fn drop_tables(collection: &mut Collection) {
    let folder = |file: &Imported| Path::new(&file.source.name).parent().map(Path::to_owned);
    let is = |file: &Imported, format: Format| file.source.format == format.name();
    let own = collection.imported.iter();
    let outputs: BTreeSet<_> = own.filter(|file| is(file, Format::FioJson)).map(folder).collect();
    let before = collection.imported.len();
    let repeats = |file: &Imported| is(file, Format::EzFio) && outputs.contains(&folder(file));
    collection.imported.retain(|file| !repeats(file));
    collection.duplicates += before - collection.imported.len();
}

/// Gives each job the logs that its options name, in the folder of its file; returns the others.
fn attach(collection: &mut Collection, mut logs: Logs, candidates: &[Candidate]) -> Logs {
    let folders: BTreeMap<&str, &Path> = candidates
        .iter()
        .filter_map(|file| Some((file.name.as_str(), file.path.parent()?)))
        .collect();
    for imported in &mut collection.imported {
        let Some(folder) = folders.get(imported.source.name.as_str()) else {
            continue;
        };
        for job in &mut imported.jobs {
            let Some(prefix) = job.log_prefix.take() else {
                continue;
            };
            if let Some((rates, _)) = logs.remove(&folder.join(prefix)) {
                rates.complete_latencies(job);
                job.logs = Some(rates);
            }
        }
    }
    logs
}
