//! A drive that can be made to fail a command, to be lost at a command, and to be replaced.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_cosim::pcie_drive::{CommandHook, Disposition, LinkEvent, PcieDrive, PcieFault, Wedge};
use assay_cosim::signals::{DriveInputs, DriveOutputs};
use assay_cosim::world::DriveSide;
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;

/// How a drive is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The link goes down.
    LinkDown,
    /// The drive is removed while its link is reported up.
    Removal,
    /// Commands do not complete any more.
    NoCompletion,
    /// Registers are not answered any more.
    SilentRegisters,
    /// The controller hangs.
    Wedged(Wedge),
}

/// Faults to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Reads or writes (true) that touch this byte address fail.
    pub bad: Option<(bool, u64)>,
    /// The drive is lost at this read or write, counted from 1.
    pub loss: Option<(u64, Loss)>,
    /// Reads and writes so far.
    pub commands: u64,
    /// The drive was lost.
    pub lost: bool,
}

impl Plan {
    /// A command begins: it fails (true: as all that follow).
    pub fn begin(&mut self, is_write: bool, offset_bytes: u64, len_bytes: u64) -> Option<bool> {
        self.commands += 1;
        self.lost |= self.loss.is_some_and(|(at, _)| self.commands >= at);
        if self.lost {
            return Some(true);
        }
        let (writes, at) = self.bad?;
        let hit = writes == is_write && at >= offset_bytes && at - offset_bytes < len_bytes;
        hit.then_some(false)
    }
}

/// Shared by a drive's commands and the test.
#[derive(Clone, Debug, Default)]
pub struct SharedPlan(Arc<Mutex<Plan>>);

impl SharedPlan {
    /// The plan.
    pub fn get(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count anew, with this plan.
    pub fn set(&self, plan: Plan) {
        *self.get() = plan;
    }
}

struct Hook(SharedPlan);

impl CommandHook for Hook {
    fn submitted(
        &mut self,
        drive: &mut Drive,
        _: u16,
        entry: &mut SubmissionEntry,
        _: &mut [u8],
    ) -> Disposition {
        let is_write = entry.opcode() == NvmOpcode::WRITE.0;
        if !is_write && entry.opcode() != NvmOpcode::READ.0 {
            let is_lost = self.0.get().lost;
            return if is_lost { Disposition::Drop } else { Disposition::Execute };
        }
        let block = drive.identity().logical_block_bytes;
        let range = Read::from(*entry);
        let (at, len) = (range.slba() * block, u64::from(range.blocks()) * block);
        match self.0.get().begin(is_write, at, len) {
            None => Disposition::Execute,
            Some(true) => Disposition::Drop,
            Some(false) if is_write => Disposition::Answer(StatusCode::WRITE_FAULT),
            Some(false) => Disposition::Answer(StatusCode::UNRECOVERED_READ_ERROR),
        }
    }
}

/// A drive's place, and the drive in it.
pub struct Slot {
    /// The drive.
    pub far: PcieDrive,
    make: Box<dyn Fn() -> PcieDrive>,
    /// Its faults.
    pub plan: SharedPlan,
    /// AxSIZE and AxBURST of its bursts, if other than they are to be.
    pub shape: Option<(u8, u8)>,
    applied: bool,
    cycle: u64,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slot").field("far", &self.far).finish_non_exhaustive()
    }
}

impl Slot {
    /// With a drive.
    pub fn new(make: impl Fn() -> PcieDrive + 'static) -> Slot {
        let mut slot = Slot {
            far: make(),
            make: Box::new(make),
            plan: SharedPlan::default(),
            shape: None,
            applied: false,
            cycle: 0,
        };
        slot.far.set_hook(Some(Box::new(Hook(slot.plan.clone()))));
        slot
    }

    /// Something happens in the next cycle.
    pub fn now(&mut self, event: LinkEvent) {
        let cycle = self.cycle + 1;
        self.far.add_fault(PcieFault::At { cycle, event });
    }

    /// Another drive with the content of this one, up to an address. The link must be down.
    pub fn replace(&mut self, content_bytes: usize) {
        assert!(!self.far.is_link_up(), "a connected drive");
        let mut content = vec![0; content_bytes];
        assert!(self.far.controller().drive().read_kept(0, &mut content));
        self.far = (self.make)();
        self.far.set_hook(Some(Box::new(Hook(self.plan.clone()))));
        assert!(self.far.drive_mut().write_kept(0, &content));
    }

    /// No faults from now on; a drive with a link is left as it is.
    pub fn disarm(&mut self) {
        self.plan.set(Plan::default());
        self.applied = false;
    }
}

impl DriveSide for Slot {
    fn step(&mut self, cycle: u64, outputs: &DriveOutputs, inputs: &mut DriveInputs) {
        self.cycle = cycle;
        let plan = *self.plan.get();
        if let (true, false, Some((_, loss))) = (plan.lost, self.applied, plan.loss) {
            self.applied = true;
            let event = match loss {
                Loss::LinkDown => Some(LinkEvent::Down),
                Loss::Removal => Some(LinkEvent::SurpriseRemoval),
                Loss::NoCompletion => None,
                Loss::SilentRegisters => Some(LinkEvent::SilentRegisters),
                Loss::Wedged(wedge) => Some(LinkEvent::Wedge(wedge)),
            };
            if let Some(event) = event {
                self.far.add_fault(PcieFault::At { cycle, event });
            }
        }
        self.far.step(cycle, outputs, inputs);
        if let Some((size, burst)) = self.shape {
            (inputs.dev_aw_size, inputs.dev_ar_size) = (size, size);
            (inputs.dev_aw_burst, inputs.dev_ar_burst) = (burst, burst);
        }
    }

    fn next_event_cycle(&self) -> Option<u64> {
        let plan = *self.plan.get();
        if plan.lost && !self.applied {
            return Some(self.cycle);
        }
        self.far.next_event_cycle()
    }
}
