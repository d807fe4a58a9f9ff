//! Run folders that claims say were shipped and that the shared store does not have any more:
//! deleted, emptied, or without their manifest, checksums or a part of their journal. They are
//! named, and a submission opens their claims again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::claim::{self, Claim, ClaimState, SuiteClaim};
use crate::plan::Plan;
use crate::shared_store::{Condition, PutOutcome, SharedStore, SharedStoreError};
use crate::ship::{self, ShipError};
use crate::{FleetError, HostName, PlanId, Serial};
use assay_store::run::{CHECKSUM_FILE, MANIFEST_FILE};

/// A run folder of a drive that is missing, whole or in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingRun {
    pub serial: Serial,
    /// Host of the task that shipped it.
    pub host: HostName,
    pub attempt: u64,
    /// Last part of the folder's key, `00-quick`.
    pub suite: String,
    /// Its place in the shared store, or its path.
    pub folder: String,
    /// What of it is missing.
    pub what: String,
}

impl MissingRun {
    pub fn new(claim: &Claim, suite: &SuiteClaim, folder: String, what: &str) -> MissingRun {
        MissingRun {
            serial: claim.serial.clone(),
            host: claim.holder.host.clone(),
            attempt: claim.attempt,
            suite: suite.folder.clone(),
            folder,
            what: what.to_owned(),
        }
    }
}

impl fmt::Display for MissingRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingRun { serial, host, attempt, suite, folder, what } = self;
        write!(
            f,
            "{serial}: the task of host {host} (attempt {attempt}) shipped {suite}, but {what}: \
             {folder}"
        )
    }
}

/// `None` where nothing is missing. Of a suite under way, only a lost manifest is found.
pub fn of_suite(
    store: &dyn SharedStore,
    claim: &Claim,
    suite: &SuiteClaim,
) -> Result<Option<MissingRun>, SharedStoreError> {
    let prefix = ship::prefix(&claim.plan, &claim.serial, &suite.folder);
    let what = what_of(store, &prefix, suite)?;
    Ok(what.map(|what| MissingRun::new(claim, suite, prefix, &what)))
}

/// Of all suites.
pub fn of_claim(
    store: &dyn SharedStore,
    claim: &Claim,
) -> Result<Vec<MissingRun>, SharedStoreError> {
    let missing = claim.suites.iter().map(|suite| of_suite(store, claim, suite));
    missing.filter_map(Result::transpose).collect()
}

fn what_of(
    store: &dyn SharedStore,
    prefix: &str,
    suite: &SuiteClaim,
) -> Result<Option<String>, SharedStoreError> {
    let is_complete = suite.outcome.is_some();
    let keys = store.list(&format!("{prefix}/"))?;
    let has = |name: &str| keys.iter().any(|key| *key == format!("{prefix}/{name}"));
    let has_journal = keys.iter().any(|key| key.starts_with(&format!("{prefix}/journal/")));
    let was_shipped = is_complete || has_journal || suite.bases.iter().any(|base| base.bytes > 0);
    let lost = |name: &str| Ok(Some(format!("its run folder has lost {name}")));
    if !was_shipped {
        return Ok(None);
    }
    if keys.is_empty() {
        return Ok(Some("its run folder is gone".to_owned()));
    }
    if !has(MANIFEST_FILE) {
        return lost(MANIFEST_FILE);
    }
    if !is_complete {
        return Ok(None);
    }
    match ship::chain(store, prefix, &suite.bases) {
        Err(ShipError::Store(error)) => return Err(error),
        Err(_) => return lost("a part of its journal"),
        Ok(chain) if chain.bytes == 0 => return lost("its journal"),
        Ok(_) => {}
    }
    match has(CHECKSUM_FILE) {
        true => Ok(None),
        false => lost(CHECKSUM_FILE),
    }
}

/// Opens the claim again where suites of it are missing, unless an attempt may be under way: the
/// next task ships them from its host's own folder, or measures them again. What is left of a
/// folder is kept beside it. Returns whether it was opened.
pub fn reopen(store: &dyn SharedStore, plan: &PlanId, serial: &Serial) -> Result<bool, FleetError> {
    loop {
        let Some((mut claim, version)) = claim::read(store, plan, serial)? else {
            return Ok(false);
        };
        let missing = of_claim(store, &claim)?;
        if missing.is_empty() || claim.state == ClaimState::Running {
            return Ok(false);
        }
        for run in &missing {
            set_aside(store, &run.folder, claim.attempt)?;
            for suite in claim.suites.iter_mut().filter(|suite| suite.folder == run.suite) {
                suite.outcome = None;
                suite.io_error_attempts = 0;
                suite.bases.clear();
            }
        }
        claim.state = ClaimState::Interrupted;
        claim.reason = missing.first().map(ToString::to_string);
        claim.sequence += 1;
        let key = claim::key(plan, serial);
        let put = store.put(&key, &claim::encoded(&claim), Condition::Is(version))?;
        if matches!(put, PutOutcome::Stored(_)) {
            return Ok(true);
        }
    }
}

/// Keys never change their content, so those of the next attempt need their names.
fn set_aside(store: &dyn SharedStore, prefix: &str, attempt: u64) -> Result<(), SharedStoreError> {
    for key in store.list(&format!("{prefix}/"))? {
        if let (Some((bytes, _)), Some(name)) = (store.get(&key)?, key.strip_prefix(prefix)) {
            let aside = format!("{prefix}.lost-after-attempt-{attempt}{name}");
            store.put(&aside, &bytes, Condition::Any)?;
            store.delete(&key)?;
        }
    }
    Ok(())
}

/// The arguments of `assay` that measure again what is missing.
pub fn submission(
    store: &dyn SharedStore,
    plan: &Plan,
    id: &PlanId,
    file: &str,
    hosts: &[&HostName],
) -> Result<String, SharedStoreError> {
    #[derive(Deserialize)]
    struct Record {
        queue: String,
    }
    let records = store.list(&format!("plans/{id}/submissions/"))?;
    let last = match records.last() {
        Some(key) => store.get(key)?,
        None => None,
    };
    let record = last.and_then(|(bytes, _)| serde_json::from_slice::<Record>(&bytes).ok());
    let mut words = format!("assay fleet submit {file}");
    if record.is_some_and(|record| record.queue == "here") {
        words.push_str(" --here");
        for host in hosts {
            words.push_str(&format!(" --host {host}"));
        }
    }
    if let (true, Some(list)) = (plan.run.destroy, &plan.drives.serials) {
        words.push_str(&format!(" --destroy-count {}", list.drives.len()));
    }
    Ok(words)
}
