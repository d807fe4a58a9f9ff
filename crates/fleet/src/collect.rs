//! Run folders of a plan from the shared store into `DIR/SERIAL/NN-SUITE/`. A folder that has all
//! that was shipped stays; another one is fetched anew and then put in its place, so that a folder
//! is always whole. Every piece is checked, and complete runs by their `SHA256SUMS`. A folder that
//! cannot be fetched is reported and does not keep others from being collected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_store::journal::JOURNAL_FILE;
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};
use serde::Serialize;

use crate::claim::{self, Claim, ClaimError, SuiteClaim};
use crate::missing::{self, MissingRun};
use crate::shared_store::{SharedStore, SharedStoreError};
use crate::ship::{self, Chain, ShipError};
use crate::{PlanId, Serial};

/// The claim beside the run folders of a drive has host, slot and attempt, which a run folder does
/// not know.
pub const CLAIM_FILE: &str = "claim.json";

/// `None` where the folder was not collected, or the file is damaged.
pub fn claim_of(run_folder: &Path) -> Option<Claim> {
    claim_in(run_folder.parent()?)
}

/// As [`claim_of`] a run folder in this folder.
pub fn claim_in(folder: &Path) -> Option<Claim> {
    let bytes = fs::read(folder.join(CLAIM_FILE)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[derive(Debug, Default, Serialize)]
pub struct Collected {
    /// Old and new.
    pub folders: Vec<PathBuf>,
    pub fetched: usize,
    pub complete: usize,
    /// Folders that could not be fetched, with the reason; the first of those without space.
    pub failed: Vec<String>,
    /// All for which there was no space.
    pub without_space: Vec<String>,
    /// Shipped earlier, and not in the shared store any more.
    pub missing: Vec<MissingRun>,
}

impl Collected {
    /// One cause that many folders have is described once.
    fn fail(&mut self, claim: &Claim, suite: Option<&SuiteClaim>, error: &ShipError) {
        let name = match suite {
            Some(suite) => format!("{}, {}", claim.serial, suite.folder),
            None => format!("{}, {CLAIM_FILE}", claim.serial),
        };
        if self.without_space.is_empty() || !error.is_full() {
            self.failed.push(format!("{name}: {error}"));
        }
        if error.is_full() {
            self.without_space.push(name);
        }
    }

    /// Folders that could not be fetched.
    pub fn failures(&self) -> usize {
        self.failed.len() + self.without_space.len().saturating_sub(1)
    }
}

/// Folders that were collected with this claim and are not beside it any more.
pub fn missing_beside(claim: &Claim, folder: &Path) -> Vec<MissingRun> {
    let complete = claim.suites.iter().filter(|suite| suite.outcome.is_some());
    let lost = complete.filter_map(|suite| {
        let path = folder.join(&suite.folder);
        let shown = path.display().to_string();
        (!is_whole(&path)).then(|| match path.exists() {
            true => MissingRun::new(claim, suite, shown, "its collected run folder lacks files"),
            false => MissingRun::new(claim, suite, shown, "its collected run folder is gone"),
        })
    });
    lost.collect()
}

fn is_whole(path: &Path) -> bool {
    [MANIFEST_FILE, JOURNAL_FILE, CHECKSUM_FILE].iter().all(|name| path.join(name).exists())
}

/// Fails when claims cannot be listed.
pub fn collect(
    store: &dyn SharedStore,
    plan: &PlanId,
    to: &Path,
) -> Result<Collected, SharedStoreError> {
    let mut collected = Collected::default();
    for key in store.list(&format!("claims/{plan}/"))? {
        let claim = match read_claim(store, plan, &key) {
            Ok(Some(claim)) => claim,
            Ok(None) => continue,
            Err(error) => {
                collected.failed.push(error.to_string());
                continue;
            }
        };
        let before = collected.folders.len();
        for suite in &claim.suites {
            let path = to.join(claim.serial.key()).join(&suite.folder);
            if !is_whole(&path)
                && let Some(missing) = missing::of_suite(store, &claim, suite)?
            {
                collected.missing.push(missing);
                // An earlier state of it stays.
                if path.join(MANIFEST_FILE).exists() {
                    collected.folders.push(path);
                }
                continue;
            }
            match folder(store, &claim, suite, path) {
                Ok(Some((path, is_new))) => {
                    collected.fetched += usize::from(is_new);
                    collected.complete += usize::from(path.join(CHECKSUM_FILE).exists());
                    collected.folders.push(path);
                }
                Ok(None) => {}
                Err(error) => collected.fail(&claim, Some(suite), &error),
            }
        }
        if collected.folders.len() > before
            && let Err(error) = write_claim(&claim, &to.join(claim.serial.key()))
        {
            collected.fail(&claim, None, &error);
        }
    }
    Ok(collected)
}

fn read_claim(
    store: &dyn SharedStore,
    plan: &PlanId,
    key: &str,
) -> Result<Option<Claim>, ClaimError> {
    #[derive(serde::Deserialize)]
    struct Named {
        serial: Serial,
    }
    let Some((bytes, _)) = store.get(key)? else {
        return Ok(None);
    };
    let named = serde_json::from_slice::<Named>(&bytes);
    let named = named
        .map_err(|error| ClaimError::Damaged { key: key.to_owned(), why: error.to_string() })?;
    Ok(claim::read(store, plan, &named.serial)?.map(|(claim, _)| claim))
}

fn write_claim(claim: &Claim, folder: &Path) -> Result<(), ShipError> {
    let path = folder.join(CLAIM_FILE);
    let text = serde_json::to_vec_pretty(claim).map_err(io::Error::from);
    text.and_then(|text| assay_output::replace(&path, &text))
        .map_err(ShipError::file("write", &path))
}

/// The flag: the folder was fetched now. `None` before its manifest was shipped.
fn folder(
    store: &dyn SharedStore,
    claim: &Claim,
    suite: &SuiteClaim,
    path: PathBuf,
) -> Result<Option<(PathBuf, bool)>, ShipError> {
    // Complete and checked before.
    if is_whole(&path) {
        return Ok(Some((path, false)));
    }
    let prefix = ship::prefix(&claim.plan, &claim.serial, &suite.folder);
    let chain = ship::chain(store, &prefix, &suite.bases)?;
    if suite.outcome.is_none() && is_current(&path, &chain) {
        return Ok(Some((path, false)));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    remove(&new)?;
    if !ship::fetch(store, &prefix, &chain, &new)? {
        return Ok(None);
    }
    remove(&path)?;
    fs::rename(&new, &path).map_err(ShipError::file("rename", &new))?;
    Ok(Some((path, true)))
}

/// An incomplete run's folder has exactly what was shipped.
fn is_current(path: &Path, chain: &Chain) -> bool {
    let journal = path.join(JOURNAL_FILE);
    let has_length = fs::metadata(&journal).is_ok_and(|m| m.len() == chain.bytes);
    let has_content = || ship::crc_of(&journal, chain.bytes).is_ok_and(|(crc, _)| crc == chain.crc);
    path.join(MANIFEST_FILE).exists() && has_length && has_content()
}

fn remove(path: &Path) -> Result<(), ShipError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ShipError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}
