//! The PCIe function: controller, model clock, guest memory and interrupts, shared by two threads.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_nvme_spec::register::CC;
use assay_ssd::{Drive, DriveError, DriveOptions, Profile, StateDigest};
use assay_units::Nanos;

use super::config_space::{BAR_BYTES, ConfigSpace, SUBSYSTEM_VENDOR, VENDOR};
use super::guest_memory::GuestMemory;
use crate::paced_controller::PacedController;
use crate::pacer::{Lateness, Pace};
use crate::server::SPIN;

/// One message carries so many file descriptors.
pub const MAX_VECTORS: u16 = 16;
/// One vector for each pair, and one for the admin queues.
pub const MAX_QUEUE_PAIRS: u16 = MAX_VECTORS - 1;
/// Longest sleep of the completion thread.
const MAX_SLEEP: Duration = Duration::from_secs(1);
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct FunctionState {
    pub(super) paced: PacedController<GuestMemory>,
    pub(super) config: ConfigSpace,
    /// The eventfds of the vectors, where the guest has enabled them.
    pub(super) vectors: Vec<Option<File>>,
}

#[derive(Debug)]
pub struct PciFunction {
    state: Mutex<FunctionState>,
    /// Next event of the controller, model time.
    due_ns: AtomicU64,
    changed: Condvar,
    stop: AtomicBool,
}

impl PciFunction {
    /// At most [`MAX_QUEUE_PAIRS`] queue pairs are used; fails when the profile is not valid.
    pub fn new(
        mut profile: Profile,
        options: DriveOptions,
        pace: Pace,
        prepare: impl FnOnce(&mut Drive),
    ) -> Result<PciFunction, DriveError> {
        let pairs = &mut profile.identity.queue_pairs.value;
        *pairs = (*pairs).min(MAX_QUEUE_PAIRS);
        let mut drive = Drive::new(profile, options)?;
        prepare(&mut drive);
        let options = ControllerOptions {
            vendor_id: VENDOR,
            subsystem_vendor_id: SUBSYSTEM_VENDOR,
            ..ControllerOptions::default()
        };
        let controller = Controller::new(drive, options);
        let vectors = controller.vectors().min(MAX_VECTORS);
        Ok(PciFunction {
            state: Mutex::new(FunctionState {
                paced: PacedController::new(controller, GuestMemory::default(), pace),
                config: ConfigSpace::new(vectors),
                vectors: (0..vectors).map(|_| None).collect(),
            }),
            due_ns: AtomicU64::new(NEVER),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
        })
    }

    pub fn with_drive<T>(&self, call: impl FnOnce(&Drive) -> T) -> T {
        call(self.lock().paced.controller.drive())
    }

    pub fn digest(&self) -> StateDigest {
        self.lock().paced.controller.drive_mut().digest()
    }

    /// Delay of the model's events (such as completions) so far; 0 at [`Pace::Free`].
    pub fn lateness(&self) -> Lateness {
        self.lock().paced.lateness
    }

    pub fn vectors(&self) -> u16 {
        self.lock().vectors.len() as u16
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, FunctionState> {
        // After a panic of the other thread (a defect) the guest keeps its drive.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read(&self, offset: u64, data: &mut [u8]) {
        let state = self.lock();
        if offset >= BAR_BYTES {
            return data.fill(0);
        }
        for (at, chunk) in (offset..).step_by(8).zip(data.chunks_mut(8)) {
            let value = state.paced.controller.read_register(at, chunk.len());
            chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
        }
    }

    /// The controller then processes the effect.
    pub(super) fn write(&self, offset: u64, data: &[u8]) {
        let mut state = self.lock();
        let mut value = [0; 8];
        let len = data.len().min(8);
        value[..len].copy_from_slice(&data[..len]);
        let value = u64::from_le_bytes(value);
        state.paced.write_register(offset, len, value);
        self.advance(state);
    }

    /// Function-level reset; data on the drive is unaffected.
    pub(super) fn reset(&self) {
        let mut state = self.lock();
        // Clearing CC.EN resets a controller (Base 2.0c, section 3.7.2).
        let configuration = state.paced.controller.read_register(CC, 4) & !1;
        state.paced.write_register(CC, 4, configuration);
        state.config = ConfigSpace::new(state.vectors.len() as u16);
        self.advance(state);
    }

    /// Advances the controller to now, raises interrupts and updates the deadline of the completion
    /// thread.
    fn advance(&self, mut state: MutexGuard<'_, FunctionState>) {
        let FunctionState { paced, vectors, .. } = &mut *state;
        paced.advance(|vector| {
            if let Some(Some(event)) = vectors.get(usize::from(vector)) {
                // Fails only when the counter is full; the eventfd is signalled then.
                let _ = (&*event).write(&1_u64.to_ne_bytes());
            }
        });
        let due_ns = paced.due.0;
        if self.due_ns.swap(due_ns, Ordering::AcqRel) != due_ns {
            self.changed.notify_one();
        }
    }

    /// Body of the completion thread, until [`PciFunction::stop`].
    pub fn complete(&self) {
        // Minimum timer slack; without it sleeps end about 50 us late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let clock = self.lock().paced.clock.clone();
        while !self.stop.load(Ordering::Acquire) {
            let due_ns = self.due_ns.load(Ordering::Acquire);
            let left = clock.left(Nanos(due_ns));
            if left == Nanos::ZERO {
                self.advance(self.lock());
            } else if left <= SPIN {
                std::hint::spin_loop();
            } else {
                let state = self.lock();
                if self.due_ns.load(Ordering::Acquire) != due_ns {
                    continue;
                }
                let sleep = Duration::from_nanos((left - SPIN).0).min(MAX_SLEEP);
                drop(self.changed.wait_timeout(state, sleep));
            }
        }
    }

    /// Ends [`PciFunction::complete`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.changed.notify_all();
    }
}
