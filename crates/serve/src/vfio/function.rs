//! The controller with its clock, its memory and its interrupts: what both threads share.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_nvme_ctrl::{Controller, ControllerOptions};
use assay_ssd::{Drive, DriveError, DriveOptions, Profile, StateDigest};
use assay_units::Nanos;

use super::config::{BAR_BYTES, Config, SUBSYSTEM_VENDOR, VENDOR};
use super::guest::GuestMemory;
use crate::pacer::{Lateness, ModelClock, Pace};
use crate::server::SPIN;

/// Interrupt vectors: as many file descriptors as a message carries.
pub const MAX_VECTORS: u16 = 16;
/// Queue pairs, one vector each and one for the admin queues.
pub const MAX_QUEUE_PAIRS: u16 = MAX_VECTORS - 1;
/// A sleep of the completing thread ends after this long at the latest.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// Steps of the model that one look takes where time runs free, so that the socket's thread gets its turn.
const FREE_STEPS: usize = 4096;
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct State {
    pub(super) controller: Controller,
    pub(super) memory: GuestMemory,
    pub(super) config: Config,
    /// The eventfds of the vectors, where the guest has enabled them.
    pub(super) vectors: Vec<Option<File>>,
    clock: ModelClock,
    lateness: Lateness,
}

/// A function of a virtual machine's PCI bus.
#[derive(Debug)]
pub struct Function {
    state: Mutex<State>,
    /// When the controller next has something to do, in nanoseconds of the model's time.
    due_ns: AtomicU64,
    changed: Condvar,
    stop: AtomicBool,
}

impl Function {
    /// A drive of a profile behind a controller. It has at most [`MAX_QUEUE_PAIRS`] queue pairs, whatever the profile says.
    ///
    /// # Errors
    /// When the profile makes no drive.
    pub fn new(
        mut profile: Profile,
        options: DriveOptions,
        pace: Pace,
        prepare: impl FnOnce(&mut Drive),
    ) -> Result<Function, DriveError> {
        let pairs = &mut profile.identity.queue_pairs.value;
        *pairs = (*pairs).min(MAX_QUEUE_PAIRS);
        let mut drive = Drive::new(profile, options)?;
        prepare(&mut drive);
        let options = ControllerOptions {
            vendor_id: VENDOR,
            subsystem_vendor_id: SUBSYSTEM_VENDOR,
        };
        let controller = Controller::new(drive, options);
        let vectors = controller.vectors().min(MAX_VECTORS);
        Ok(Function {
            state: Mutex::new(State {
                memory: GuestMemory::default(),
                config: Config::new(vectors),
                vectors: (0..vectors).map(|_| None).collect(),
                clock: ModelClock::new(pace),
                lateness: Lateness::default(),
                controller,
            }),
            due_ns: AtomicU64::new(NEVER),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
        })
    }

    /// Ask the drive something.
    pub fn with_drive<T>(&self, ask: impl FnOnce(&Drive) -> T) -> T {
        ask(self.lock().controller.drive())
    }

    /// What the drive has become.
    pub fn digest(&self) -> StateDigest {
        self.lock().controller.drive_mut().digest()
    }

    /// How late the drive's events (a command's completion is one) were dealt with so far; 0 where time runs free.
    pub fn lateness(&self) -> Lateness {
        self.lock().lateness
    }

    /// Interrupt vectors.
    pub fn vectors(&self) -> u16 {
        self.lock().vectors.len() as u16
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held would be a defect; the state is plain numbers, and the guest is better off with them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Read registers.
    pub(super) fn read(&self, offset: u64, data: &mut [u8]) {
        let state = self.lock();
        if offset >= BAR_BYTES {
            return data.fill(0);
        }
        for (at, chunk) in (offset..).step_by(8).zip(data.chunks_mut(8)) {
            let value = state.controller.read_register(at, chunk.len());
            chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
        }
    }

    /// Write registers, and let the controller begin what that announced.
    pub(super) fn write(&self, offset: u64, data: &[u8]) {
        let mut state = self.lock();
        let now = state.clock.now();
        let mut value = [0; 8];
        let len = data.len().min(8);
        value[..len].copy_from_slice(&data[..len]);
        let value = u64::from_le_bytes(value);
        state.controller.write_register(now, offset, len, value);
        self.live(state);
    }

    /// The guest's host has reset the function, or is gone: as after power-on, but for what is on the drive.
    pub(super) fn reset(&self) {
        let mut state = self.lock();
        let now = state.clock.now();
        // A controller is reset by clearing CC.EN (NVMe Base 2.0c, section 3.7.2).
        let enabled = state
            .controller
            .read_register(assay_nvme_spec::register::CC, 4);
        let cleared = enabled & !1;
        let at = assay_nvme_spec::register::CC;
        state.controller.write_register(now, at, 4, cleared);
        let vectors = state.vectors.len() as u16;
        state.config = Config::new(vectors);
        self.live(state);
    }

    /// Live up to now, raise what is to be raised, and see to it that the other thread looks again in time.
    fn live(&self, mut state: MutexGuard<'_, State>) {
        let State {
            controller,
            memory,
            vectors,
            clock,
            lateness,
            ..
        } = &mut *state;
        let due = Nanos(self.due_ns.load(Ordering::Acquire));
        let now = clock.now();
        if due <= now && clock.pace() == Pace::Real {
            lateness.add(due, now);
        }
        for _ in 0..FREE_STEPS {
            let raised = controller.advance(clock.now(), memory);
            for vector in raised.iter() {
                if let Some(Some(event)) = vectors.get(usize::from(vector)) {
                    // An eventfd's counter that is full has been raised often enough.
                    let _ = (&*event).write(&1_u64.to_ne_bytes());
                }
            }
            // Where time runs free it goes to the next event while something is under way.
            match controller.next_event() {
                Some(next) if controller.is_busy() && clock.jump(next) => {}
                _ => break,
            }
        }
        let due_ns = controller.next_event().map_or(NEVER, |next| next.0);
        if self.due_ns.swap(due_ns, Ordering::AcqRel) != due_ns {
            self.changed.notify_one();
        }
    }

    /// Complete what is due, until [`Function::stop`]: the work of the second thread.
    pub fn complete(&self) {
        // The least slack: the sleep ends in time. A kernel that refuses ends it some 50 us later.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let clock = self.lock().clock.clone();
        while !self.stop.load(Ordering::Acquire) {
            let due_ns = self.due_ns.load(Ordering::Acquire);
            let left = clock.left(Nanos(due_ns));
            if left == Nanos::ZERO {
                self.live(self.lock());
            } else if left <= SPIN {
                std::hint::spin_loop();
            } else {
                let state = self.lock();
                if self.due_ns.load(Ordering::Acquire) != due_ns {
                    continue;
                }
                let sleep = Duration::from_nanos((left - SPIN).0).min(LONGEST_SLEEP);
                // Whether it was woken or has slept enough, it looks again.
                drop(self.changed.wait_timeout(state, sleep));
            }
        }
    }

    /// End [`Function::complete`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.changed.notify_all();
    }
}
