//! An NVMe controller paced by the wall clock ([`crate::pacer`]).

use assay_nvme_ctrl::{Controller, HostMemory};
use assay_units::Nanos;

use crate::pacer::{Lateness, ModelClock, Pace};

/// Steps of the model per call at [`Pace::Free`], so that the caller can do other work.
const MAX_FREE_STEPS: usize = 4096;

#[derive(Debug)]
pub struct PacedController<M> {
    pub controller: Controller,
    pub memory: M,
    pub clock: ModelClock,
    /// Delay of the model's events (such as completions) so far; 0 at [`Pace::Free`].
    pub lateness: Lateness,
    /// Time of the controller's next event when it last advanced; [`Nanos::MAX`] for none.
    pub due: Nanos,
}

impl<M: HostMemory> PacedController<M> {
    pub fn new(controller: Controller, memory: M, pace: Pace) -> PacedController<M> {
        PacedController {
            controller,
            memory,
            clock: ModelClock::new(pace),
            lateness: Lateness::default(),
            due: Nanos::MAX,
        }
    }

    /// The controller is to be advanced then.
    pub fn write_register(&mut self, offset: u64, size: usize, value: u64) {
        let now = self.clock.now();
        self.controller.write_register(now, offset, size, value);
    }

    /// Advances the controller to now, and reports the vectors that it raises.
    pub fn advance(&mut self, mut raise: impl FnMut(u16)) {
        let now = self.clock.now();
        if self.due <= now && self.clock.pace == Pace::Real {
            self.lateness.add(self.due, now);
        }
        for _ in 0..MAX_FREE_STEPS {
            let raised = self.controller.advance(self.clock.now(), &mut self.memory);
            raised.iter().for_each(&mut raise);
            // At `Pace::Free` the clock jumps to the next event while commands are in flight.
            match self.controller.next_event() {
                Some(next) if self.controller.is_busy() && self.clock.jump(next) => {}
                _ => break,
            }
        }
        self.due = self.controller.next_event().unwrap_or(Nanos::MAX);
    }
}
