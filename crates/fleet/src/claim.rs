//! Claims: which attempt may measure a drive for a plan, and how far it is. The document
//! `claims/PLAN/SERIAL.json` is replaced by compare and swap only. Taking the claim adds one to its
//! attempt; each later write of the holder is conditional on the version that it wrote last, so
//! that the write of an older attempt is refused ([`ClaimError::Fenced`]). No clocks are compared,
//! and no claim expires: a claim of a dead host is taken like any other, and the locks of run
//! folder and device decide on one host. Of each suite the claim records the journal length from
//! which each attempt goes on ([`Base`]). Shipped pieces name their attempt, so that pieces which
//! an older attempt ships late are ignored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::shared_store::{Condition, PutOutcome, SharedStore, SharedStoreError, Version};
use crate::{HostName, PlanId, Serial};

/// Version of [`Claim`] as JSON.
pub const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub host: HostName,
    pub boot_id: Option<String>,
    /// PCI address.
    pub slot: Option<String>,
    pub job: Option<String>,
    /// Random, of the process.
    pub token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// An attempt is under way, or was killed.
    Running,
    /// Every suite is complete, and the drive passed.
    Done,
    /// Every suite is complete, and the drive or its data failed, which is a result.
    Failed,
    /// The attempt ended early; the next one goes on.
    Interrupted,
    /// An operator must act.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteOutcome {
    Passed,
    /// Complete; the drive or its data failed.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub attempt: u64,
    /// Length of the journal that was shipped before.
    pub bytes: u64,
    /// CRC-32C of that part.
    pub crc: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteClaim {
    /// Last part of the folder's key, `00-quick`.
    pub folder: String,
    /// Set when the suite is complete and shipped.
    pub outcome: Option<SuiteOutcome>,
    /// Attempts that ended with an I/O error of the host.
    pub io_error_attempts: u32,
    /// One per attempt that began or resumed the suite.
    pub bases: Vec<Base>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub format: u32,
    pub plan: PlanId,
    pub serial: Serial,
    /// Rises by one with each taker.
    pub attempt: u64,
    /// Rises by one with each write, so that no two versions have the same content.
    pub sequence: u64,
    /// The task that took the claim last.
    pub holder: Holder,
    pub state: ClaimState,
    /// Why the claim is interrupted or refused.
    pub reason: Option<String>,
    /// Suites in the order of the plan.
    pub suites: Vec<SuiteClaim>,
}

impl Claim {
    /// Nothing is left to do.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ClaimState::Done | ClaimState::Failed)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    #[error(
        "{serial}: attempt {attempt} on host {host} has taken this drive over; this attempt stops"
    )]
    Fenced { serial: Serial, attempt: u64, host: HostName },
    #[error(
        "{key} in the shared store is damaged: {why}; compare it with its run folders, and delete \
         it to begin anew"
    )]
    Damaged {
        key: String,
        /// What is wrong.
        why: String,
    },
    #[error(transparent)]
    Store(#[from] SharedStoreError),
}

pub fn key(plan: &PlanId, serial: &Serial) -> String {
    format!("claims/{plan}/{}.json", serial.key())
}

/// `None` before the first attempt.
pub fn read(
    store: &dyn SharedStore,
    plan: &PlanId,
    serial: &Serial,
) -> Result<Option<(Claim, Version)>, ClaimError> {
    let key = key(plan, serial);
    let Some((bytes, version)) = store.get(&key)? else {
        return Ok(None);
    };
    let damaged = |why: String| ClaimError::Damaged { key: key.clone(), why };
    let claim: Claim =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if claim.format != FORMAT || claim.plan != *plan || claim.serial != *serial {
        return Err(damaged("it is of another format, plan or serial".to_owned()));
    }
    Ok(Some((claim, version)))
}

pub struct HeldClaim {
    store: Arc<dyn SharedStore>,
    claim: Claim,
    version: Version,
}

impl HeldClaim {
    /// `begin` completes the claim to be written, which has the new attempt and holder; it is
    /// called again when another process was faster.
    pub fn take<E: From<ClaimError>>(
        store: &Arc<dyn SharedStore>,
        plan: &PlanId,
        serial: &Serial,
        holder: &Holder,
        mut begin: impl FnMut(Option<&Claim>, &mut Claim) -> Result<(), E>,
    ) -> Result<HeldClaim, E> {
        loop {
            let found = read(store.as_ref(), plan, serial)?;
            let (before, condition) = match found {
                Some((claim, version)) => (Some(claim), Condition::Is(version)),
                None => (None, Condition::Absent),
            };
            let mut claim = before.clone().unwrap_or_else(|| Claim {
                format: FORMAT,
                plan: plan.clone(),
                serial: serial.clone(),
                attempt: 0,
                sequence: 0,
                holder: holder.clone(),
                state: ClaimState::Running,
                reason: None,
                suites: Vec::new(),
            });
            claim.attempt += 1;
            claim.sequence += 1;
            claim.holder = holder.clone();
            claim.state = ClaimState::Running;
            claim.reason = None;
            begin(before.as_ref(), &mut claim)?;
            let key = key(plan, serial);
            let put = store.put(&key, &encoded(&claim), condition);
            match put.map_err(ClaimError::from)? {
                PutOutcome::Stored(version) => {
                    let (attempt, state) = (claim.attempt, claim.state);
                    let from = before.filter(|before| !before.is_finished());
                    let from = from.map(|before| (before.holder.host, before.state));
                    tracing::info!(%plan, %serial, attempt, ?state, ?from, "claim taken");
                    let store = Arc::clone(store);
                    return Ok(HeldClaim { store, claim, version });
                }
                PutOutcome::Conflict => {}
            }
        }
    }

    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Fails with [`ClaimError::Fenced`] when another attempt took the claim. After
    /// [`ClaimError::Store`] the change may have been written or not; the next call settles it.
    pub fn change(&mut self, change: impl Fn(&mut Claim)) -> Result<(), ClaimError> {
        let key = key(&self.claim.plan, &self.claim.serial);
        loop {
            let mut next = self.claim.clone();
            change(&mut next);
            next.sequence += 1;
            let condition = Condition::Is(self.version.clone());
            match self.store.put(&key, &encoded(&next), condition)? {
                PutOutcome::Stored(version) => {
                    if next.state != self.claim.state {
                        let Claim { plan, serial, attempt, state, reason, .. } = &next;
                        tracing::info!(%plan, %serial, attempt, ?state, ?reason, "claim released");
                    }
                    self.claim = next;
                    self.version = version;
                    return Ok(());
                }
                // Taken over, or an earlier change of this process was written and the answer lost.
                PutOutcome::Conflict => self.refresh()?,
            }
        }
    }

    /// Fails if another attempt has taken the claim.
    pub fn check(&mut self) -> Result<(), ClaimError> {
        self.refresh()
    }

    fn refresh(&mut self) -> Result<(), ClaimError> {
        let found = read(self.store.as_ref(), &self.claim.plan, &self.claim.serial)?;
        let Some((claim, version)) = found else {
            return Err(ClaimError::Damaged {
                key: key(&self.claim.plan, &self.claim.serial),
                why: "it was deleted while its attempt is under way".to_owned(),
            });
        };
        if claim.attempt != self.claim.attempt || claim.holder.token != self.claim.holder.token {
            return Err(ClaimError::Fenced {
                serial: claim.serial,
                attempt: claim.attempt,
                host: claim.holder.host,
            });
        }
        self.claim = claim;
        self.version = version;
        Ok(())
    }
}

/// A claim holds only strings and integers.
pub(crate) fn encoded(claim: &Claim) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(claim).unwrap_or_default();
    assert!(!text.is_empty(), "a claim is always JSON");
    text.push(b'\n');
    text
}

/// Makes a [`Holder::token`].
pub fn random_token() -> std::io::Result<String> {
    assay_output::random_name::<8>()
}
