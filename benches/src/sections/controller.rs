//! In this process and thread, driver included: it writes every submission queue entry whole, rings
//! a doorbell per batch, and takes every completion by its phase tag, as a driver does. Processor
//! time, not wall time, as in [`super::simulation`].

use anyhow::{Result, bail, ensure};
use assay_nvme_ctrl::{Controller, ControllerOptions, FlatMemory, HostMemory};
use assay_nvme_spec::CompletionEntry;
use assay_nvme_spec::admin::{CreateCompletionQueue, CreateSubmissionQueue};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::register::{self, Configuration};
use assay_ssd::InitialState;
use assay_units::{Nanos, Op, Rng};

use super::simulation::{self, Load, scaled};
use crate::Bench;
use crate::document::{Section, Table};
use crate::rounds::{Spread, cpu_s};

/// Millions of commands per second that were asked for.
const GOAL: f64 = 3.0;
const BLOCK: u64 = 4096;
const PROFILES: [&str; 2] = ["samsung-951", "intel-600p"];
const DEPTHS: [u32; 3] = [1, 32, 128];
/// Entries of each queue: more than any depth, and not more than any profile has.
const ENTRIES: u32 = 256;
/// Where things are in the host's memory: queues, then a page of data per queue entry.
const ADMIN_SQ: u64 = 0x1000;
const ADMIN_CQ: u64 = 0x2000;
const IO_SQ: u64 = 0x1_0000;
const IO_CQ: u64 = 0x3_0000;
const DATA: u64 = 0x10_0000;

fn bare(bench: &Bench, name: &str, depth: u32, count: u64) -> Result<(f64, Nanos)> {
    let mut drive = scaled(name, 1, InitialState::Filled)?;
    let mut load = Load::random(Op::Read, depth, count);
    load.one_queue = true;
    let cost = simulation::run(bench, &mut drive, load, START)?;
    Ok((cost.millions_per_s(load), cost.end))
}

/// Both paths begin then, after the controller's initialization.
const START: Nanos = Nanos::SECOND;

/// A driver that polls one queue pair.
struct PolledDriver {
    controller: Controller,
    memory: FlatMemory,
    now: Nanos,
    tail: u32,
    head: u32,
    phase: bool,
}

impl PolledDriver {
    fn new(name: &str) -> Result<PolledDriver> {
        let drive = scaled(name, 1, InitialState::Filled)?;
        let mut driver = PolledDriver {
            controller: Controller::new(drive, ControllerOptions::default()),
            memory: FlatMemory::new(0, (DATA + u64::from(ENTRIES) * BLOCK) as usize),
            now: Nanos::ZERO,
            tail: 0,
            head: 0,
            phase: true,
        };
        let mut cc = Configuration::default();
        cc.set_enable(true).set_io_sq_entry_size(6).set_io_cq_entry_size(4);
        for (offset, size, value) in [
            (register::AQA, 4, 0x000f_000f),
            (register::ASQ, 8, ADMIN_SQ),
            (register::ACQ, 8, ADMIN_CQ),
            (register::CC, 4, u64::from(cc.raw())),
        ] {
            driver.write_register(offset, size, value);
        }
        driver.advance_to(Nanos(START.0 / 2));
        let mut cq = CreateCompletionQueue::new();
        cq.set_qid(1).set_size((ENTRIES - 1) as u16).set_contiguous(true);
        let mut sq = CreateSubmissionQueue::new();
        sq.set_qid(1).set_size((ENTRIES - 1) as u16).set_contiguous(true).set_cqid(1);
        for (slot, (mut entry, at)) in (0..).zip([(cq.entry(), IO_CQ), (sq.entry(), IO_SQ)]) {
            entry.set_prps(at, 0);
            driver.memory.write(ADMIN_SQ + slot * 64, entry.as_bytes())?;
        }
        driver.write_register(register::sq_doorbell(0, 0), 4, 2);
        driver.advance_to(START);
        let mut raw = [0; 16];
        driver.memory.read(ADMIN_CQ + 16, &mut raw)?;
        let created = CompletionEntry::from_bytes(raw);
        ensure!(
            created.phase() && created.status().is_success(),
            "the controller refused its queues: {created:?}"
        );
        Ok(driver)
    }

    fn write_register(&mut self, offset: u64, size: usize, value: u64) {
        self.controller.write_register(self.now, offset, size, value);
    }

    fn advance_to(&mut self, until: Nanos) {
        while let Some(event) = self.controller.next_event()
            && event <= until
        {
            self.controller.advance(event, &mut self.memory);
        }
        self.now = until;
    }

    fn put(&mut self, cid: u16, offset_bytes: u64) -> Result<()> {
        let mut entry = Read::for_blocks(1, offset_bytes / 512, (BLOCK / 512) as u32).entry();
        entry.set_cid(cid).set_prps(DATA + u64::from(cid) * BLOCK, 0);
        let at = IO_SQ + u64::from(self.tail) * 64;
        self.memory.write(at, entry.as_bytes())?;
        self.tail = (self.tail + 1) % ENTRIES;
        Ok(())
    }

    fn ring(&mut self) {
        self.write_register(register::cq_doorbell(1, 0), 4, self.head.into());
        self.write_register(register::sq_doorbell(1, 0), 4, self.tail.into());
    }

    fn take(&mut self) -> Result<Option<CompletionEntry>> {
        let mut raw = [0; 16];
        let at = IO_CQ + u64::from(self.head) * 16;
        self.memory.read(at, &mut raw)?;
        let entry = CompletionEntry::from_bytes(raw);
        if entry.phase() != self.phase {
            return Ok(None);
        }
        self.head = (self.head + 1) % ENTRIES;
        self.phase ^= self.head == 0;
        ensure!(entry.status().is_success(), "a read failed: {entry:?}");
        Ok(Some(entry))
    }
}

fn through(name: &str, depth: u32, count: u64) -> Result<(f64, Nanos)> {
    let mut driver = PolledDriver::new(name)?;
    let blocks = driver.controller.drive().identity().capacity_bytes / BLOCK;
    // The offsets of the bare drive.
    let mut rng = Rng::stream(1, "offsets");
    let mut place = || rng.below(blocks) * BLOCK;
    let from_s = cpu_s();
    for cid in 0..depth {
        driver.put(cid as u16, place())?;
    }
    driver.ring();
    let mut left = count.saturating_sub(u64::from(depth));
    let mut outstanding = depth;
    while outstanding > 0 {
        let Some(event) = driver.controller.next_event() else {
            bail!("the controller stopped with {outstanding} commands outstanding");
        };
        driver.now = event;
        driver.controller.advance(event, &mut driver.memory);
        let mut taken = 0;
        while let Some(entry) = driver.take()? {
            taken += 1;
            if left > 0 {
                left -= 1;
                driver.put(entry.cid(), place())?;
            } else {
                outstanding -= 1;
            }
        }
        if taken > 0 {
            driver.ring();
        }
    }
    Ok((count as f64 / 1e6 / (cpu_s() - from_s), driver.now))
}

pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "controller",
        "The NVMe controller",
        "One core, in this process: 4 KiB random reads of a filled drive through a submission and \
         a completion queue in host memory, PRPs, doorbells and phase tags, host included \
         (*controller*), and the same commands submitted to the simulated drive directly \
         (*drive*), in turns. The drive keeps no data. The last completion has the same virtual \
         time in both cases.",
    );
    let count = if bench.quick { 400_000 } else { 4_000_000 };
    let head = ["profile", "depth", "drive, M/s", "controller, M/s", "of the drive's"];
    let mut table = Table::new(&head);
    let mut least = f64::MAX;
    for name in PROFILES {
        for depth in DEPTHS {
            let (mut drives, mut controllers) = (Vec::new(), Vec::new());
            let title = format!("controller, {name}, depth {depth}");
            bench.repeat(&title, bench.rounds(), |_| {
                let (rate, end) = bare(bench, name, depth, count)?;
                drives.push(rate);
                let (rate, same_end) = through(name, depth, count)?;
                controllers.push(rate);
                ensure!(
                    end == same_end,
                    "the last read of {name} at depth {depth} is done at {end} by the drive and \
                     at {same_end} through the controller"
                );
                Ok(())
            })?;
            let share = Spread::new(controllers.iter().zip(&drives).map(|(a, b)| a / b));
            let (drives, controllers) = (Spread::new(drives), Spread::new(controllers));
            if depth > 1 {
                least = least.min(controllers.median);
            }
            let (drives, controllers) = (drives.show(2), controllers.show(2));
            table.row([&name, &depth, &drives, &controllers, &share.show(2)]);
        }
    }
    section.tables.push(table);
    section.goal(
        format!("{GOAL} M commands/s through real queues and PRPs at depth 32 and more"),
        format!("{least:.2} M/s on the slowest"),
        least >= GOAL,
    );
    section.commands.push("assay-bench controller".to_owned());
    Ok(section)
}
