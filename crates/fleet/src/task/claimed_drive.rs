use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::FolderSource;
use super::machine::SuiteProgress;
use crate::claim::{
    self, Base, Claim, ClaimError, ClaimState, HeldClaim, Holder, SuiteClaim, SuiteOutcome,
};
use crate::inventory::HostInventory;
use crate::shared_store::{SharedStore, SharedStoreError};
use crate::ship::{self, Chain, ShipError, Shipper};
use crate::{HostName, PlanId, Serial};

#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    #[error("{0}: already complete")]
    Finished(Serial, ClaimState),
    #[error(
        "{serial}: the inventories of two hosts, {here} and {other}, show this drive; no attempt \
         is made on either until `assay fleet inventory --store` on the host that does not have \
         it any more (or the removal of inventory/{other}.json from the shared store) decides"
    )]
    TwoHosts { serial: Serial, here: HostName, other: HostName },
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Ship(#[from] ShipError),
}

impl TakeError {
    /// Another try can succeed.
    pub fn is_temporary(&self) -> bool {
        match self {
            TakeError::Claim(ClaimError::Store(error))
            | TakeError::Ship(ShipError::Store(error)) => error.is_temporary(),
            _ => false,
        }
    }

    /// The same for all drives of a shared store that is away or full.
    pub fn cause(&self) -> String {
        match self {
            TakeError::Claim(ClaimError::Store(error))
            | TakeError::Ship(ShipError::Store(error)) => error.cause(),
            other => other.to_string(),
        }
    }
}

impl From<SharedStoreError> for TakeError {
    fn from(error: SharedStoreError) -> TakeError {
        TakeError::Claim(ClaimError::Store(error))
    }
}

#[derive(Clone)]
pub struct Assignment {
    pub store: Arc<dyn SharedStore>,
    pub plan: PlanId,
    pub serial: Serial,
    /// Folders of the suites, in order.
    pub folders: Vec<String>,
    /// Local folder of the drive.
    pub local: PathBuf,
    pub holder: Holder,
}

pub struct ClaimedDrive {
    of: Assignment,
    held: HeldClaim,
    chains: Vec<Chain>,
    begun: Vec<bool>,
    shippers: Vec<Option<Shipper>>,
}

impl ClaimedDrive {
    /// Where another host holds the claim and its inventory shows the drive too, the claim says so
    /// to both.
    pub fn take(of: Assignment) -> Result<ClaimedDrive, TakeError> {
        let mut chains = Vec::new();
        let mut begun = Vec::new();
        let mut conflict = None;
        let (store, holder) = (Arc::clone(&of.store), of.holder.clone());
        let begin = |before: Option<&Claim>, claim: &mut Claim| -> Result<(), TakeError> {
            (chains, begun, conflict) = (Vec::new(), Vec::new(), None);
            if let Some(before) = before {
                if before.is_finished() {
                    return Err(TakeError::Finished(of.serial.clone(), before.state));
                }
                let other = &before.holder.host;
                if *other != holder.host && shows(store.as_ref(), other, &of.serial)? {
                    let two_hosts = TakeError::TwoHosts {
                        serial: of.serial.clone(),
                        here: holder.host.clone(),
                        other: other.clone(),
                    };
                    claim.state = ClaimState::Refused;
                    claim.reason = Some(two_hosts.to_string());
                    conflict = Some(two_hosts);
                    return Ok(());
                }
            }
            for (index, folder) in of.folders.iter().enumerate() {
                if claim.suites.len() == index {
                    claim.suites.push(SuiteClaim {
                        folder: folder.clone(),
                        outcome: None,
                        io_error_attempts: 0,
                        bases: Vec::new(),
                    });
                }
                let suite = &mut claim.suites[index];
                begun.push(!suite.bases.is_empty());
                if suite.outcome.is_some() {
                    chains.push(Chain::default());
                    continue;
                }
                let prefix = ship::prefix(&of.plan, &of.serial, folder);
                let chain = ship::chain(store.as_ref(), &prefix, &suite.bases)?;
                suite.bases.push(Base {
                    attempt: claim.attempt,
                    bytes: chain.bytes,
                    crc: chain.crc,
                });
                chains.push(chain);
            }
            Ok(())
        };
        let held = HeldClaim::take(&of.store, &of.plan, &of.serial, &of.holder, begin)?;
        if let Some(two_hosts) = conflict {
            return Err(two_hosts);
        }
        let shippers = of.folders.iter().map(|_| None).collect();
        Ok(ClaimedDrive { of, held, chains, begun, shippers })
    }

    pub fn claim(&self) -> &Claim {
        self.held.claim()
    }

    pub fn progress(&self) -> Vec<SuiteProgress> {
        let suites = self.claim().suites.iter();
        let progress = suites.map(|suite| SuiteProgress {
            outcome: suite.outcome,
            io_error_attempts: suite.io_error_attempts,
        });
        progress.collect()
    }

    pub fn folder(&self, suite: usize) -> PathBuf {
        folder_path(&self.of.local, &self.of.folders[suite])
    }

    pub fn source(&self, suite: usize) -> FolderSource {
        FolderSource {
            store: Arc::clone(&self.of.store),
            prefix: self.prefix(suite),
            chain: self.chains[suite].clone(),
            was_begun: self.begun[suite],
            path: self.folder(suite),
            attempt: self.claim().attempt,
        }
    }

    fn prefix(&self, suite: usize) -> String {
        ship::prefix(&self.of.plan, &self.of.serial, &self.of.folders[suite])
    }

    /// The folder is ready and continues what was shipped; it is shipped from now on.
    pub fn activate(&mut self, suite: usize) {
        if self.shippers[suite].is_none() {
            let chain = &self.chains[suite];
            let base = Base { attempt: self.claim().attempt, bytes: chain.bytes, crc: chain.crc };
            let shipper = Shipper::new(self.prefix(suite), &self.folder(suite), base);
            self.shippers[suite] = Some(shipper);
        }
    }

    /// Fails if another attempt took the claim.
    pub fn ship(&mut self, drive_state: &[u8]) -> Result<(), TakeError> {
        self.held.check()?;
        let store = self.of.store.as_ref();
        for shipper in self.shippers.iter_mut().flatten() {
            shipper.ship(store)?;
            shipper.ship_drive_state(store, &self.of.serial, drive_state)?;
        }
        Ok(())
    }

    /// Local and not shipped.
    pub fn waiting_bytes(&self) -> u64 {
        let active = self.shippers.iter().flatten();
        active.map(Shipper::waiting_bytes).sum()
    }

    pub fn seal(&mut self, suite: usize, outcome: SuiteOutcome) -> Result<(), TakeError> {
        self.activate(suite);
        self.held.check()?;
        if let Some(shipper) = &mut self.shippers[suite] {
            shipper.seal(self.of.store.as_ref())?;
        }
        self.held.change(|claim| claim.suites[suite].outcome = Some(outcome))?;
        self.shippers[suite] = None;
        Ok(())
    }

    pub fn count_io_error(&mut self, suite: usize, total: u32) -> Result<(), ClaimError> {
        self.held.change(|claim| claim.suites[suite].io_error_attempts = total)
    }

    pub fn release(&mut self, state: ClaimState, reason: Option<&str>) -> Result<(), TakeError> {
        self.ship(&[])?;
        self.held.change(|claim| {
            claim.state = state;
            claim.reason = reason.map(str::to_owned);
        })?;
        Ok(())
    }
}

pub fn folder_path(local: &Path, folder: &str) -> PathBuf {
    local.join(folder)
}

/// A host without an inventory shows none.
fn shows(
    store: &dyn SharedStore,
    host: &HostName,
    serial: &Serial,
) -> Result<bool, SharedStoreError> {
    let Some((bytes, _)) = store.get(&format!("inventory/{host}.json"))? else {
        return Ok(false);
    };
    let inventory = serde_json::from_slice::<HostInventory>(&bytes).ok();
    // A list that cannot be read could hold the serial.
    Ok(inventory.is_none_or(|inventory| inventory.find(serial).is_some()))
}

/// Does not take the claim.
pub fn peek(
    store: &dyn SharedStore,
    plan: &PlanId,
    serial: &Serial,
) -> Result<Option<Claim>, ClaimError> {
    Ok(claim::read(store, plan, serial)?.map(|(claim, _)| claim))
}
