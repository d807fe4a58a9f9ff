//! Several files or block devices that are one address space.

use assay_io::drive_handle::JoinedFile;

use crate::identity::{DriveInfo, DriveKind, JoinedPart};
use crate::spec::{DriveSpec, SpecError};

use super::{DriveSession, Kind, OpenMode, OpenTarget, SessionError, SessionOptions};

/// Each begins at a multiple of it, which is one of every logical block length.
const START_MULTIPLE_BYTES: u64 = 4096;

/// All of one kind: files, or block devices.
pub(super) fn open(
    spec: &str,
    names: &[String],
    options: &SessionOptions,
) -> Result<(DriveInfo, Kind), SessionError> {
    let malformed = |why: &str| SpecError::Malformed(format!("{spec:?}: {why}"));
    if names.len() < 2 {
        return Err(malformed("two names at least, with a colon between").into());
    }
    let mut sessions: Vec<DriveSession> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        // A file may have several turns.
        if names[..place].contains(name) {
            continue;
        }
        let session = DriveSession::open(&DriveSpec::parse(name)?, options)?;
        let kinds = [DriveKind::File, DriveKind::Block];
        if !kinds.contains(&session.info.kind) {
            return Err(malformed("files or block devices").into());
        }
        let is_known = |other: &DriveSession| other.info.is_same_storage(&session.info);
        if sessions.iter().any(is_known) {
            return Err(malformed(&format!("{name} has two names there")).into());
        }
        sessions.push(session);
    }
    let info = joined_info(spec, names, &sessions)?;
    Ok((info, Kind::Files(sessions)))
}

fn joined_info(
    spec: &str,
    names: &[String],
    sessions: &[DriveSession],
) -> Result<DriveInfo, SessionError> {
    let infos = || sessions.iter().map(|session| &session.info);
    if infos().any(|info| info.kind != sessions[0].info.kind || info.zones.is_some()) {
        let why = "files alone, or block devices without zones alone";
        return Err(SpecError::Malformed(format!("{spec:?}: {why}")).into());
    }
    let mut end_bytes = 0_u64;
    let of_name = |name: &String| infos().find(|info| info.spec == *name);
    let part = |info: &DriveInfo| {
        let start_bytes = end_bytes.next_multiple_of(START_MULTIPLE_BYTES);
        end_bytes = start_bytes + info.capacity_bytes;
        JoinedPart {
            name: info.spec.clone(),
            serial: info.serial.clone(),
            start_bytes,
            len_bytes: info.capacity_bytes,
        }
    };
    let files: Vec<JoinedPart> = names.iter().filter_map(of_name).map(part).collect();
    let info = DriveInfo {
        spec: spec.to_owned(),
        name: format!("{} and {} more", sessions[0].info.name, names.len() - 1),
        capacity_bytes: end_bytes,
        logical_block_bytes: infos().map(|i| i.logical_block_bytes).max().unwrap_or(0),
        min_io_bytes: infos().map(|info| info.min_io_bytes).max().unwrap_or(0),
        direct_io: infos().all(|info| info.direct_io),
        read_only: infos().any(|info| info.read_only),
        nvme: None,
        atomic_writes: None,
        files,
        ..sessions[0].info.clone()
    };
    Ok(info)
}

/// The target of the first, with the others.
pub(super) fn acquire(
    info: &DriveInfo,
    files: &mut [DriveSession],
    mode: OpenMode,
) -> Result<OpenTarget, SessionError> {
    let mut joined = Vec::new();
    let mut first = None;
    for file in files {
        let OpenTarget::Real { open, telemetry } = file.acquire(mode)? else {
            unreachable!("only files and block devices are joined");
        };
        let own = info.files.iter().filter(|part| part.name == file.info.spec);
        joined.extend(own.map(|part| JoinedFile {
            start_bytes: part.start_bytes,
            len_bytes: part.len_bytes,
            handle: open.clone(),
        }));
        first.get_or_insert((open, telemetry));
    }
    joined.sort_by_key(|file| file.start_bytes);
    let (open, telemetry) = first.expect("there are two at least");
    Ok(OpenTarget::Real { open: open.with_joined(&info.spec, joined), telemetry })
}
