//! Drive specifications: `null:` and `null:size=16g` (the null target),
//! `sim:PROFILE[,key=value...]` (a simulated drive; PROFILE is a name, or the path of a file that
//! ends in `.toml`, see `assay_sim_host::profile_file`), `files:A:B` (several files or block
//! devices in turn, as fio's `filename=A:B`), or a path of a block device, regular file, or NVMe
//! generic character device (`/dev/ng0n1`). A file whose name begins with `null:`, `sim:`
//! or `rtl:` is written `./null:...`. `rtl:` is a streaming core, no drive: an error here. Nothing
//! is opened, and profile names are not checked.

use std::path::{Path, PathBuf};

/// 16 GiB: the test area of most procedures.
pub const NULL_DEFAULT_BYTES: u64 = 16 * assay_units::GIB;
/// A simulated drive can have several faults.
const REPEATABLE_KEY: &str = "fault";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error(
        "no drive given; name one as /dev/nvme0n1, a path to a file, sim:PROFILE or null: (`assay \
         list` shows the drives)"
    )]
    Empty,
    #[error("{0}")]
    Malformed(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpecKind {
    Null {
        /// A positive multiple of 512.
        size_bytes: u64,
    },
    Sim {
        /// Not checked here.
        profile: String,
        /// Options in the order given; keys are distinct, but for `fault`.
        options: Vec<(String, String)>,
    },
    /// At least two.
    Files(Vec<String>),
    /// A block device or regular file, or a symbolic link to one.
    Path(PathBuf),
    /// `/dev/ngXnY`.
    NvmeGeneric(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveSpec {
    text: String,
    kind: SpecKind,
}

impl DriveSpec {
    /// A path is never refused here.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let kind = if text.trim().is_empty() {
            return Err(SpecError::Empty);
        } else if let Some(rest) = text.strip_prefix("null:") {
            parse_null(text, rest)?
        } else if let Some(rest) = text.strip_prefix("sim:") {
            parse_sim(text, rest)?
        } else if let Some(rest) = text.strip_prefix("files:") {
            SpecKind::Files(names_between_colons(rest))
        } else if text.starts_with("rtl:") {
            return Err(SpecError::Malformed(format!(
                "{text:?} is a co-simulated streaming core, which records and replays streams: it \
                 is for assay record, replay and testbench; here, name the drive itself, as \
                 sim:PROFILE"
            )));
        } else {
            classify_path(Path::new(text))
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    pub fn kind(&self) -> &SpecKind {
        &self.kind
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `\:` is a colon of a name.
pub fn names_between_colons(text: &str) -> Vec<String> {
    let text = text.replace("\\:", "\u{0}");
    let names = text.split(':').filter(|name| !name.is_empty());
    names.map(|name| name.replace('\u{0}', ":")).collect()
}

/// The name of several files as one drive.
pub fn files_spec(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| name.replace(':', "\\:")).collect();
    format!("files:{}", names.join(":"))
}

fn parse_null(spec: &str, rest: &str) -> Result<SpecKind, SpecError> {
    let mut size_bytes = NULL_DEFAULT_BYTES;
    let settings = match rest {
        "" => Vec::new(),
        rest => pairs(spec, rest)?,
    };
    for (key, value) in settings {
        if key != "size" {
            return Err(SpecError::Malformed(format!(
                "{spec:?}: a null target has no setting {key:?}, only size, e.g. null:size=16g"
            )));
        }
        let bad = |why: String| {
            SpecError::Malformed(format!("{spec:?}: size {value:?} cannot be used: {why}"))
        };
        size_bytes = assay_units::parse_size(&value).map_err(|e| bad(e.to_string()))?;
        if size_bytes == 0 || !size_bytes.is_multiple_of(assay_units::SECTOR_BYTES) {
            return Err(bad("it must be a positive multiple of 512 bytes".to_owned()));
        }
    }
    Ok(SpecKind::Null { size_bytes })
}

fn parse_sim(spec: &str, rest: &str) -> Result<SpecKind, SpecError> {
    let (profile, settings) = match rest.split_once(',') {
        Some((profile, settings)) => (profile.trim(), Some(settings)),
        None => (rest.trim(), None),
    };
    if profile.is_empty() || profile.contains('=') {
        return Err(SpecError::Malformed(format!(
            "{spec:?} names no profile; write sim:PROFILE, e.g. sim:samsung-951 (`assay list` \
             shows the profiles) or sim:./my-drive.toml"
        )));
    }
    Ok(SpecKind::Sim {
        profile: profile.to_owned(),
        options: settings.map_or(Ok(Vec::new()), |settings| pairs(spec, settings))?,
    })
}

fn pairs(spec: &str, text: &str) -> Result<Vec<(String, String)>, SpecError> {
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim());
        if key.is_empty() || value.is_empty() {
            let why = format!("{spec:?}: {part:?} is not key=value");
            return Err(SpecError::Malformed(why));
        }
        if key != REPEATABLE_KEY && found.iter().any(|(k, _)| k == key) {
            let why = format!("{spec:?} gives {key:?} twice; keep one");
            return Err(SpecError::Malformed(why));
        }
        found.push((key.to_owned(), value.to_owned()));
    }
    Ok(found)
}

/// `ngXnY` directly under `/dev` is an NVMe generic device (Linux, drivers/nvme/host/core.c,
/// `nvme_add_ns_cdev`); the file type is checked when it is opened.
fn classify_path(path: &Path) -> SpecKind {
    let name = path.file_name().and_then(|name| name.to_str());
    let generic = name.and_then(nvme_generic_block_name);
    match path.parent() == Some(Path::new("/dev")) && generic.is_some() {
        true => SpecKind::NvmeGeneric(path.to_path_buf()),
        false => SpecKind::Path(path.to_path_buf()),
    }
}

/// `ng0n1` gives `nvme0n1`.
pub fn nvme_generic_block_name(name: &str) -> Option<String> {
    let numbers = name.strip_prefix("ng")?;
    let (controller, namespace) = numbers.split_once('n')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(controller) && is_number(namespace)).then(|| format!("nvme{numbers}"))
}

#[cfg(test)]
#[path = "../tests/unit/spec.rs"]
mod tests;
