//! The core and everything around it, clock cycle by clock cycle.
//!
//! # A cycle
//! In cycle *t* the outputs of the core are known (no output depends on an input of the same
//! cycle). Memory, drives, register host and stream ports look at them and choose their inputs;
//! then comes the clock edge. A transfer happens when valid and ready of the same cycle are set.
//!
//! # Skipped cycles
//! While the core shows `quiet`, nothing is offered but a beat of the stream that it does not take,
//! and no part of the world has something to do, nothing can change before the next tick: the
//! cycles up to it are counted without being evaluated.

use std::path::Path;

use crate::TICK_CYCLES;
use crate::config::Configuration;
use crate::memory::{MemoryOptions, RingMemory};
use crate::model::{CoreModel, ModelError};
use crate::monitor::{Monitors, Violation};
use crate::pace::Pace;
use crate::register_port::RegisterPort;
use crate::signals::{DriveInputs, DriveOutputs, Inputs, MAX_DRIVES, Outputs};
use crate::stream_port::{SinkPort, SourcePort};
use crate::timeline::Timeline;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorldError {
    /// The model cannot run, or an assertion of the RTL failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("protocol violation in {0}")]
    Protocol(#[from] Violation),
    #[error("access to register {address:#05x}: response {response}")]
    Register {
        address: u32,
        /// AXI response code.
        response: u8,
    },
    #[error("cycle {cycle}: {what} did not happen within {limit_cycles} cycles")]
    Timeout { cycle: u64, what: &'static str, limit_cycles: u64 },
}

/// What is connected to the ports of one drive.
pub trait DriveSide {
    /// Choose the inputs of the core; called once per evaluated cycle, before the edge.
    fn step(&mut self, cycle: u64, outputs: &DriveOutputs, inputs: &mut DriveInputs);

    /// No work before this cycle unless an output of the core changes; `None`: no work.
    fn next_event_cycle(&self) -> Option<u64>;
}

/// Nothing is connected: link down, nothing is taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptySlot;

impl DriveSide for EmptySlot {
    fn step(&mut self, _: u64, _: &DriveOutputs, _: &mut DriveInputs) {}

    fn next_event_cycle(&self) -> Option<u64> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorldOptions {
    pub memory: MemoryOptions,
    /// Pauses of the stream to record.
    pub source_pace: Pace,
    /// Pauses of the receiver of the replayed stream.
    pub sink_pace: Pace,
    /// Check the rules of AXI in every cycle.
    pub monitors: bool,
    /// Do not evaluate cycles in which nothing can change.
    pub skip_quiet: bool,
    /// For registers without reset.
    pub seed: u32,
}

impl Default for WorldOptions {
    fn default() -> WorldOptions {
        WorldOptions {
            memory: MemoryOptions::default(),
            source_pace: Pace::FULL,
            sink_pace: Pace::FULL,
            monitors: true,
            skip_quiet: true,
            seed: 1,
        }
    }
}

/// `quiet` is a register behind others, so it does not cover inputs of the cycles before.
const SETTLE_CYCLES: u32 = 8;

/// Cycles in which a register access must be answered.
const ACCESS_LIMIT_CYCLES: u64 = 1000;

#[derive(Debug)]
pub struct World<D> {
    model: CoreModel,
    inputs: Inputs,
    cycle: u64,
    skipped_cycles: u64,
    mark_cycle: Option<u64>,
    /// Since the mark: evaluated cycles before the skip, and all cycles skipped up to and with it.
    skips: Vec<(u64, u64)>,
    skip_quiet: bool,
    /// Evaluated cycles since the core was last given something.
    settled_cycles: u32,
    registers: RegisterPort,
    monitors: Option<Monitors>,
    pub memory: RingMemory,
    /// The stream to record.
    pub source: SourcePort,
    /// The replayed stream.
    pub sink: SinkPort,
    pub drives: Vec<D>,
    /// Events on the ports, if they are kept.
    pub timeline: Option<Timeline>,
}

impl<D: DriveSide> World<D> {
    /// A core after reset. Fails when the model was not built.
    pub fn new(
        configuration: &Configuration,
        drives: Vec<D>,
        options: &WorldOptions,
    ) -> Result<World<D>, WorldError> {
        assert_eq!(drives.len(), configuration.drives as usize, "one per port");
        let model = CoreModel::new(configuration, options.seed)?;
        let beat = configuration.beat_bytes();
        let ring = configuration.ring_bytes();
        Ok(World {
            model,
            inputs: Inputs::ZERO,
            cycle: 0,
            skipped_cycles: 0,
            mark_cycle: None,
            skips: Vec::new(),
            skip_quiet: options.skip_quiet,
            settled_cycles: 0,
            registers: RegisterPort::default(),
            monitors: options.monitors.then(|| Monitors::new(configuration)),
            memory: RingMemory::new(ring, beat, options.memory),
            source: SourcePort::new(beat, options.source_pace),
            sink: SinkPort::new(beat, options.sink_pace),
            drives,
            timeline: None,
        })
    }

    pub fn configuration(&self) -> &Configuration {
        self.model.configuration()
    }

    /// Clock cycles since the reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Cycles since the reset that were not evaluated.
    pub fn skipped_cycles(&self) -> u64 {
        self.skipped_cycles
    }

    /// Time begins here for [`World::elapsed_cycles`].
    pub fn mark(&mut self) {
        self.mark_cycle = Some(self.cycle);
        self.skips.clear();
    }

    pub fn unmark(&mut self) {
        self.mark_cycle = None;
        self.skips = Vec::new();
    }

    /// Cycles from the mark to the end of `evaluated` evaluated ones: a core's counter as a time.
    pub fn elapsed_cycles(&self, evaluated: u64) -> u64 {
        let count = self.skips.partition_point(|skip| skip.0 < evaluated);
        let skipped = count.checked_sub(1).map_or(0, |last| self.skips[last].1);
        evaluated + skipped
    }

    pub fn outputs(&self) -> &Outputs {
        self.model.outputs()
    }

    /// One evaluated cycle, after skipped ones. Fails when an assertion or a rule of AXI fails.
    #[inline]
    pub fn step(&mut self) -> Result<(), WorldError> {
        self.step_before(u64::MAX)
    }

    /// [`World::step`] that skips cycles only before `limit`.
    fn step_before(&mut self, limit: u64) -> Result<(), WorldError> {
        if self.settled_cycles >= SETTLE_CYCLES && self.skip_quiet {
            self.skip(limit);
        }
        let links = self.links();
        let outputs = self.model.outputs();
        let (cycle, inputs) = (self.cycle, &mut self.inputs);
        inputs.tick = u8::from(cycle % TICK_CYCLES == TICK_CYCLES - 1);
        self.memory.step(cycle, outputs, inputs);
        let ports = outputs.drives.iter().zip(&mut inputs.drives);
        for (drive, (outputs, inputs)) in self.drives.iter_mut().zip(ports) {
            drive.step(cycle, outputs, inputs);
        }
        self.registers.step(outputs, inputs);
        self.source.step(cycle, outputs, inputs);
        self.sink.step(cycle, outputs, inputs);
        if let Some(monitors) = &mut self.monitors {
            monitors.observe(cycle, inputs, outputs)?;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.observe(cycle, inputs, outputs);
        }
        self.model.step(&self.inputs)?;
        self.cycle += 1;
        let is_quiet = self.model.outputs().quiet != 0 && self.inputs.tick == 0;
        self.settled_cycles = if is_quiet && !self.is_offering() && links == self.links() {
            self.settled_cycles.saturating_add(1)
        } else {
            0
        };
        Ok(())
    }

    /// Link inputs, which have no valid.
    fn links(&self) -> [[u8; 3]; MAX_DRIVES] {
        let mut links = [[0; 3]; MAX_DRIVES];
        for (link, inputs) in links.iter_mut().zip(&self.inputs.drives) {
            *link = [inputs.link_up, inputs.link_speed, inputs.link_width];
        }
        links
    }

    /// The core was offered something in the last evaluated cycle, or offers something now.
    fn is_offering(&self) -> bool {
        let (i, o) = (&self.inputs, self.model.outputs());
        let source = i.s_valid & u8::from(!self.is_source_held());
        let top = i.s_reg_aw_valid | i.s_reg_w_valid | i.s_reg_ar_valid | source;
        let memory = i.mem_b_valid | i.mem_r_valid;
        let core = o.s_reg_b_valid | o.s_reg_r_valid | o.m_valid;
        let core = core | o.mem_aw_valid | o.mem_w_valid | o.mem_ar_valid;
        let drives = i.drives.iter().zip(&o.drives).map(|(i, o)| {
            let inputs = i.dev_aw_valid | i.dev_w_valid | i.dev_ar_valid;
            let inputs = inputs | i.bar_b_valid | i.bar_r_valid;
            let outputs = o.dev_b_valid | o.dev_r_valid;
            inputs | outputs | o.bar_aw_valid | o.bar_w_valid | o.bar_ar_valid
        });
        drives.fold(top | memory | core, |all, drive| all | drive) != 0
    }

    /// The core takes the offered beat neither in the last evaluated cycle nor in the current one.
    fn is_source_held(&self) -> bool {
        self.source.is_held() && self.model.outputs().s_ready == 0
    }

    /// Go to the next cycle in which something happens, or to `limit`.
    fn skip(&mut self, limit: u64) {
        let is_source_busy = self.source.is_busy() && !self.is_source_held();
        if is_source_busy || self.registers.is_busy() {
            return;
        }
        let tick = self.cycle / TICK_CYCLES * TICK_CYCLES + TICK_CYCLES - 1;
        let events = self.drives.iter().filter_map(DriveSide::next_event_cycle);
        let events = events.chain(self.memory.next_event_cycle());
        let next = events.fold(tick.min(limit), u64::min);
        if next > self.cycle {
            if let Some(mark) = self.mark_cycle {
                let before = self.skips.last().map_or(0, |skip| skip.1);
                let evaluated = self.cycle - mark - before;
                self.skips.push((evaluated, before + next - self.cycle));
            }
            self.skipped_cycles += next - self.cycle;
            self.cycle = next;
        }
    }

    /// Fails as [`World::step`].
    pub fn run(&mut self, cycles: u64) -> Result<(), WorldError> {
        let end = self.cycle + cycles;
        while self.cycle < end {
            self.step_before(end - 1)?;
        }
        Ok(())
    }

    /// Fails as [`World::step`], and when the condition does not hold within the limit.
    pub fn run_until(
        &mut self,
        what: &'static str,
        limit_cycles: u64,
        mut holds: impl FnMut(&World<D>) -> bool,
    ) -> Result<(), WorldError> {
        let end = self.cycle + limit_cycles;
        while !holds(self) {
            if self.cycle >= end {
                return Err(WorldError::Timeout { cycle: self.cycle, what, limit_cycles });
            }
            self.step_before(end)?;
        }
        Ok(())
    }

    /// Fails as [`World::step`], and when the access fails.
    pub fn read32(&mut self, address: u32) -> Result<u32, WorldError> {
        self.registers.start_read(address);
        self.access(address)
    }

    /// Low half first, because reading it holds the high half. Fails as [`World::read32`].
    pub fn read64(&mut self, address: u32) -> Result<u64, WorldError> {
        let low = self.read32(address)?;
        let high = self.read32(address + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// Fails as [`World::read32`].
    pub fn write32(&mut self, address: u32, value: u32) -> Result<(), WorldError> {
        self.registers.start_write(address, value);
        self.access(address).map(|_| ())
    }

    /// Writes the bytes whose strobe is set. Fails as [`World::read32`].
    pub fn write_bytes(&mut self, address: u32, value: u32, strobes: u8) -> Result<(), WorldError> {
        self.registers.start_write_bytes(address, value, strobes);
        self.access(address).map(|_| ())
    }

    /// Low half first. Fails as [`World::read32`].
    pub fn write64(&mut self, address: u32, value: u64) -> Result<(), WorldError> {
        self.write32(address, value as u32)?;
        self.write32(address + 4, (value >> 32) as u32)
    }

    /// Run until the access ends. The rest of the world goes on meanwhile.
    fn access(&mut self, address: u32) -> Result<u32, WorldError> {
        let end = self.cycle + ACCESS_LIMIT_CYCLES;
        loop {
            if let Some(answer) = self.registers.take_answer() {
                return answer.map_err(|response| WorldError::Register { address, response });
            }
            if self.cycle >= end {
                return Err(WorldError::Timeout {
                    cycle: self.cycle,
                    what: "the answer to a register access",
                    limit_cycles: ACCESS_LIMIT_CYCLES,
                });
            }
            self.step()?;
        }
    }

    /// Fails when a request on any interface is without an answer.
    pub fn check_idle(&self) -> Result<(), WorldError> {
        match &self.monitors {
            Some(monitors) => Ok(monitors.check_idle(self.cycle)?),
            None => Ok(()),
        }
    }

    /// Write all signals to an FST wave file from now on.
    pub fn trace_start(&mut self, path: &Path) -> Result<(), WorldError> {
        Ok(self.model.trace_start(path)?)
    }

    pub fn trace_stop(&mut self) {
        self.model.trace_stop();
    }
}

#[cfg(test)]
#[path = "../tests/unit/world.rs"]
mod tests;
