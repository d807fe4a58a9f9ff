//! Claims: which attempt may measure a drive for a plan, and how far it is.
//!
//! # Mechanism
//! The document `claims/PLAN/SERIAL.json` is replaced by compare and swap only. Taking the claim
//! adds one to its attempt. Each later write of the holder is conditional on the version that it
//! wrote last, so that the write of an older attempt is refused ([`ClaimError::Fenced`]): it stops.
//! No clocks are compared, and no claim expires: a claim of a dead host is taken like any other,
//! and the locks of run folder and device decide on one host.
//!
//! Of each suite the claim records from which length of its journal each attempt goes on
//! ([`Base`]). Shipped pieces name their attempt, so that pieces which an older attempt ships late
//! count for nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::shared_store::{Condition, PutOutcome, SharedStore, SharedStoreError, Version};
use crate::{HostName, PlanId, Serial};

/// Version of [`Claim`] as JSON.
pub const FORMAT: u32 = 1;

/// The task that holds a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub host: HostName,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// PCI address of the drive.
    pub slot: Option<String>,
    /// Job of the queue.
    pub job: Option<String>,
    /// Random, of the process.
    pub token: String,
}

/// State of a drive in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// An attempt is under way, or was killed.
    Running,
    /// Every suite is complete, and the drive passed.
    Done,
    /// Every suite is complete, and the drive or its data failed: a result.
    Failed,
    /// The attempt ended early; the next one goes on.
    Interrupted,
    /// An operator must act.
    Refused,
}

/// Outcome of a complete suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteOutcome {
    /// Complete without errors.
    Passed,
    /// Complete; the drive or its data failed.
    Failed,
}

/// From where an attempt goes on with a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub attempt: u64,
    /// Length of the journal that was shipped before, bytes.
    pub bytes: u64,
    /// CRC-32C of that part.
    pub crc: u32,
}

/// A suite of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteClaim {
    /// Last part of its folder's key, `00-quick`.
    pub folder: String,
    /// Set once it is complete and shipped.
    pub outcome: Option<SuiteOutcome>,
    /// Attempts that ended with an I/O error of the host.
    pub io_error_attempts: u32,
    /// Per attempt that began or resumed it.
    pub bases: Vec<Base>,
}

/// The claim of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub format: u32,
    pub plan: PlanId,
    pub serial: Serial,
    /// Rises by one with each taker.
    pub attempt: u64,
    /// Rises by one with each write, so that no two versions have the same content.
    pub sequence: u64,
    /// The task that took it last.
    pub holder: Holder,
    pub state: ClaimState,
    /// Why it is interrupted or refused.
    pub reason: Option<String>,
    /// In the order of the plan.
    pub suites: Vec<SuiteClaim>,
}

impl Claim {
    /// Whether nothing is left to do.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ClaimState::Done | ClaimState::Failed)
    }
}

/// A claim cannot be taken, or not be kept.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another attempt took it.
    #[error(
        "{serial}: attempt {attempt} on host {host} has taken this drive over; this attempt stops"
    )]
    Fenced {
        serial: Serial,
        /// The newer attempt.
        attempt: u64,
        host: HostName,
    },
    /// The document is no claim.
    #[error(
        "{key} in the shared store is damaged: {why}; compare it with its run folders, and delete \
         it to begin anew"
    )]
    Damaged {
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The shared store failed.
    #[error(transparent)]
    Store(#[from] SharedStoreError),
}

/// Key of a claim.
pub fn key(plan: &PlanId, serial: &Serial) -> String {
    format!("claims/{plan}/{}.json", serial.key())
}

/// The claim of a drive, if any attempt was made.
///
/// # Errors
/// [`ClaimError::Damaged`] or [`ClaimError::Store`].
pub fn read(
    store: &dyn SharedStore,
    plan: &PlanId,
    serial: &Serial,
) -> Result<Option<(Claim, Version)>, ClaimError> {
    let key = key(plan, serial);
    let Some((bytes, version)) = store.get(&key)? else {
        return Ok(None);
    };
    let damaged = |why: String| ClaimError::Damaged {
        key: key.clone(),
        why,
    };
    let claim: Claim =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if claim.format != FORMAT || claim.plan != *plan || claim.serial != *serial {
        return Err(damaged(
            "it is of another format, plan or serial".to_owned(),
        ));
    }
    Ok(Some((claim, version)))
}

/// A claim that this process holds, until another takes it.
pub struct HeldClaim {
    store: Arc<dyn SharedStore>,
    claim: Claim,
    version: Version,
}

impl HeldClaim {
    /// Take the claim of a drive. `begin` completes the claim as it is to be written, with the new
    /// attempt and holder already in it; it is called again when another process was faster.
    ///
    /// # Errors
    /// [`ClaimError`], and the errors of `begin`.
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
                    let store = Arc::clone(store);
                    return Ok(HeldClaim {
                        store,
                        claim,
                        version,
                    });
                }
                PutOutcome::Conflict => {}
            }
        }
    }

    /// The claim as last written.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Change the claim.
    ///
    /// # Errors
    /// [`ClaimError::Fenced`] when another attempt took it. After [`ClaimError::Store`] the change
    /// may have been written or not; the next call settles it.
    pub fn change(&mut self, change: impl Fn(&mut Claim)) -> Result<(), ClaimError> {
        let key = key(&self.claim.plan, &self.claim.serial);
        loop {
            let mut next = self.claim.clone();
            change(&mut next);
            next.sequence += 1;
            let condition = Condition::Is(self.version.clone());
            match self.store.put(&key, &encoded(&next), condition)? {
                PutOutcome::Stored(version) => {
                    self.claim = next;
                    self.version = version;
                    return Ok(());
                }
                // Taken over; or an earlier change of its own was written, and the answer lost.
                PutOutcome::Conflict => self.refresh()?,
            }
        }
    }

    /// Error if another attempt has taken the claim.
    ///
    /// # Errors
    /// [`ClaimError::Fenced`], [`ClaimError::Store`].
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

/// A claim holds strings and integers only.
fn encoded(claim: &Claim) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(claim).unwrap_or_default();
    assert!(!text.is_empty(), "a claim is always JSON");
    text.push(b'\n');
    text
}

/// A token for [`Holder::token`].
///
/// # Errors
/// The system's, without random numbers.
pub fn random_token() -> std::io::Result<String> {
    let mut random = [0; 8];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}
