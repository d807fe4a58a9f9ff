use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use assay_output::create_new;
use assay_store::journal::JOURNAL_FILE;
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};

use assay_units::text::hexadecimal;
use sha2::{Digest, Sha256};

use super::{Chain, ShipError, write_new};
use crate::shared_store::SharedStore;

/// False where no manifest was shipped yet. The folder appears whole, or not at all. A complete run
/// gets its `SHA256SUMS`, which is checked; any other can be resumed. [`ShipError::Damaged`] names
/// the key that is missing, or of another length or checksum.
pub fn fetch(
    store: &dyn SharedStore,
    prefix: &str,
    chain: &Chain,
    to: &Path,
) -> Result<bool, ShipError> {
    let key = format!("{prefix}/{MANIFEST_FILE}");
    let Some((manifest, _)) = store.get(&key)? else {
        return Ok(false);
    };
    let parent = to.parent().unwrap_or(Path::new("."));
    let sync = |path: &Path| {
        let synced = File::open(path).and_then(|folder| folder.sync_all());
        synced.map_err(ShipError::file("flush", path))
    };
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".fetching");
    let beside = parent.join(name);
    fs::create_dir_all(parent).map_err(ShipError::file("create", parent))?;
    match fs::remove_dir_all(&beside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(ShipError::file("remove", &beside)(error));
        }
        _ => fs::create_dir(&beside).map_err(ShipError::file("create", &beside))?,
    }
    let filled = fill(store, prefix, chain, &manifest, &beside);
    if let Err(error) = filled.and_then(|()| sync(&beside)) {
        // A part of a folder is of no use, and takes space where there may be none.
        let _ = fs::remove_dir_all(&beside);
        return Err(error);
    }
    fs::rename(&beside, to).map_err(ShipError::file("rename", &beside))?;
    sync(parent)?;
    Ok(true)
}

fn fill(
    store: &dyn SharedStore,
    prefix: &str,
    chain: &Chain,
    manifest: &[u8],
    beside: &Path,
) -> Result<(), ShipError> {
    write_new(&beside.join(MANIFEST_FILE), manifest)?;
    let journal = fetch_journal(store, prefix, chain, &beside.join(JOURNAL_FILE))?;
    let key = format!("{prefix}/{CHECKSUM_FILE}");
    let sums = store.get(&key)?.map(|(sums, _)| sums);
    let manifest = hexadecimal(&Sha256::digest(manifest));
    let expected = format!("{journal}  {JOURNAL_FILE}\n{manifest}  {MANIFEST_FILE}\n");
    if sums.as_ref().is_some_and(|sums| sums != expected.as_bytes()) {
        let what = "another than that of the shipped manifest and journal".to_owned();
        return Err(ShipError::Damaged { key, what });
    }
    if sums.is_some() {
        write_new(&beside.join(CHECKSUM_FILE), expected.as_bytes())?;
    }
    Ok(())
}

/// Returns the SHA-256. One piece is in memory at a time.
fn fetch_journal(
    store: &dyn SharedStore,
    prefix: &str,
    chain: &Chain,
    path: &Path,
) -> Result<String, ShipError> {
    let mut file = create_new(path).map_err(ShipError::file("create", path))?;
    let mut hasher = Sha256::new();
    let mut crc = 0;
    for piece in &chain.pieces {
        let key = piece.key(prefix);
        let damaged = |what: String| ShipError::Damaged { key: key.clone(), what };
        let found = store.get(&key)?;
        let (bytes, _) = found.ok_or_else(|| damaged("missing".to_owned()))?;
        if bytes.len() as u64 != piece.bytes {
            let (is, should) = (bytes.len(), piece.bytes);
            return Err(damaged(format!("damaged: {is} bytes long, not {should}")));
        }
        crc = crc32c::crc32c_append(crc, &bytes);
        if crc != piece.crc {
            return Err(damaged("damaged: its checksum does not match".to_owned()));
        }
        hasher.update(&bytes);
        let written = file.write_all(&bytes);
        written.map_err(ShipError::file("write", path))?;
    }
    file.sync_all().map_err(ShipError::file("flush", path))?;
    Ok(hexadecimal(&hasher.finalize()))
}
