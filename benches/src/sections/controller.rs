//! Cost of the NVMe controller: commands per second of one processor through registers, queues in host memory and data pointers, against the
//! same commands given to the drive itself.
//!
//! In this process and thread, host included: it writes every submission queue entry whole, rings a doorbell per batch, and takes
//! every completion by its phase tag, as a driver does. Processor time, not wall time, as in [`super::simulation`].

use anyhow::{Result, bail, ensure};
use assay_nvme_ctrl::{Controller, ControllerOptions, FlatMemory, HostMemory};
use assay_nvme_spec::admin::{CreateCompletionQueue, CreateSubmissionQueue};
use assay_nvme_spec::nvm::Read;
use assay_nvme_spec::register::{self, Configuration};
use assay_nvme_spec::{CompletionEntry, SubmissionEntry};
use assay_ssd::{Command, Drive, DriveOptions, Profile};
use assay_units::{DataClass, Nanos, Op, Rng};

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

fn drive(name: &str) -> Result<Drive> {
    let drive = Drive::new(Profile::builtin(name)?, DriveOptions::default())?;
    // As `sim:` drives have it.
    assay_sim_host::prefer_huge_tables(&drive);
    Ok(drive)
}

/// Random offsets, the same for both paths.
fn places(drive: &Drive) -> impl FnMut() -> u64 + use<> {
    let blocks = drive.identity().capacity_bytes / BLOCK;
    let mut rng = Rng::stream(1, "offsets");
    move || rng.below(blocks) * BLOCK
}

/// Millions per second of processor time by the drive itself, and when the last was done.
fn bare(name: &str, depth: u32, count: u64) -> Result<(f64, Nanos)> {
    let mut drive = drive(name)?;
    let mut place = places(&drive);
    let mut out = Vec::with_capacity(64);
    let mut send = |drive: &mut Drive, now: Nanos, tag: u32| {
        let command = Command {
            tag,
            queue: 0,
            op: Op::Read,
            offset_bytes: place(),
            len_bytes: BLOCK as u32,
            data: DataClass::Incompressible,
        };
        drive.submit(now, command);
    };
    let from_s = cpu_s();
    let mut now = START;
    (0..depth).for_each(|tag| send(&mut drive, now, tag));
    let mut left = count.saturating_sub(u64::from(depth));
    while let Some(event) = drive.next_event() {
        now = event;
        drive.advance(now, &mut out);
        for completion in out.drain(..) {
            if left > 0 {
                left -= 1;
                send(&mut drive, now, completion.tag);
            }
        }
    }
    Ok((count as f64 / 1e6 / (cpu_s() - from_s), now))
}

/// Both paths begin then, after the controller's initialization.
const START: Nanos = Nanos::SECOND;

/// A host that polls one queue pair.
struct Host {
    controller: Controller,
    memory: FlatMemory,
    now: Nanos,
    tail: u32,
    head: u32,
    phase: bool,
}

impl Host {
    fn new(name: &str) -> Result<Host> {
        let mut host = Host {
            controller: Controller::new(drive(name)?, ControllerOptions::default()),
            memory: FlatMemory::new(0, (DATA + u64::from(ENTRIES) * BLOCK) as usize),
            now: Nanos::ZERO,
            tail: 0,
            head: 0,
            phase: true,
        };
        let mut cc = Configuration::default();
        cc.set_enable(true)
            .set_io_sq_entry_size(6)
            .set_io_cq_entry_size(4);
        for (offset, size, value) in [
            (register::AQA, 4, 0x000f_000f),
            (register::ASQ, 8, ADMIN_SQ),
            (register::ACQ, 8, ADMIN_CQ),
            (register::CC, 4, u64::from(cc.raw())),
        ] {
            host.controller
                .write_register(host.now, offset, size, value);
        }
        host.live(START.scale(1, 2));
        let mut cq = CreateCompletionQueue::new();
        cq.set_qid(1)
            .set_size((ENTRIES - 1) as u16)
            .set_contiguous(true);
        let mut sq = CreateSubmissionQueue::new();
        sq.set_qid(1)
            .set_size((ENTRIES - 1) as u16)
            .set_contiguous(true)
            .set_cqid(1);
        for (slot, (mut entry, at)) in (0..).zip([(cq.entry(), IO_CQ), (sq.entry(), IO_SQ)]) {
            entry.set_prps(at, 0);
            host.memory.write(ADMIN_SQ + slot * 64, entry.as_bytes())?;
        }
        host.controller
            .write_register(host.now, register::sq_doorbell(0, 0), 4, 2);
        host.live(START);
        let mut raw = [0; 16];
        host.memory.read(ADMIN_CQ + 16, &mut raw)?;
        let created = CompletionEntry::from_bytes(raw);
        ensure!(
            created.phase() && created.status().is_success(),
            "the controller refused its queues: {created:?}"
        );
        Ok(host)
    }

    fn live(&mut self, until: Nanos) {
        while let Some(event) = self.controller.next_event()
            && event <= until
        {
            self.controller.advance(event, &mut self.memory);
        }
        self.now = until;
    }

    /// Put a read into the queue.
    fn put(&mut self, cid: u16, offset_bytes: u64) -> Result<()> {
        let mut entry: SubmissionEntry =
            Read::of(1, offset_bytes / 512, (BLOCK / 512) as u32).entry();
        entry
            .set_cid(cid)
            .set_prps(DATA + u64::from(cid) * BLOCK, 0);
        self.memory
            .write(IO_SQ + u64::from(self.tail) * 64, entry.as_bytes())?;
        self.tail += 1;
        if self.tail == ENTRIES {
            self.tail = 0;
        }
        Ok(())
    }

    fn ring(&mut self) {
        let (sq, cq) = (register::sq_doorbell(1, 0), register::cq_doorbell(1, 0));
        self.controller
            .write_register(self.now, cq, 4, self.head.into());
        self.controller
            .write_register(self.now, sq, 4, self.tail.into());
    }

    /// The next completion, if there is one.
    fn take(&mut self) -> Result<Option<CompletionEntry>> {
        let mut raw = [0; 16];
        self.memory
            .read(IO_CQ + u64::from(self.head) * 16, &mut raw)?;
        let entry = CompletionEntry::from_bytes(raw);
        if entry.phase() != self.phase {
            return Ok(None);
        }
        self.head += 1;
        if self.head == ENTRIES {
            self.head = 0;
            self.phase = !self.phase;
        }
        ensure!(entry.status().is_success(), "a read failed: {entry:?}");
        Ok(Some(entry))
    }
}

/// The same through the controller.
fn through(name: &str, depth: u32, count: u64) -> Result<(f64, Nanos)> {
    let mut host = Host::new(name)?;
    let mut place = places(host.controller.drive());
    let from_s = cpu_s();
    for cid in 0..depth {
        host.put(cid as u16, place())?;
    }
    host.ring();
    let mut left = count.saturating_sub(u64::from(depth));
    let mut outstanding = depth;
    while outstanding > 0 {
        let Some(event) = host.controller.next_event() else {
            bail!("the controller stopped with {outstanding} commands outstanding");
        };
        host.now = event;
        host.controller.advance(event, &mut host.memory);
        let mut taken = 0;
        while let Some(entry) = host.take()? {
            taken += 1;
            if left > 0 {
                left -= 1;
                host.put(entry.cid(), place())?;
            } else {
                outstanding -= 1;
            }
        }
        if taken > 0 {
            host.ring();
        }
    }
    Ok((count as f64 / 1e6 / (cpu_s() - from_s), host.now))
}

/// Rates through the controller, by depth, beside those of the bare drive.
pub fn measure(bench: &Bench) -> Result<Section> {
    let mut section = Section::new(
        "controller",
        "The NVMe controller",
        "One core, in this process: 4 KiB random reads of a filled drive through a submission and a completion queue in host memory, PRPs, doorbells \
         and phase tags, host included (*controller*), and the same commands submitted to the simulated drive directly (*drive*), in turns. The drive keeps no data. The last \
         completion has the same virtual time in both cases.",
    );
    let count = if bench.quick { 400_000 } else { 4_000_000 };
    let mut table = Table::new(&[
        "profile",
        "depth",
        "drive, M/s",
        "controller, M/s",
        "of the drive's",
    ]);
    let mut least = f64::MAX;
    for name in PROFILES {
        for depth in DEPTHS {
            let (mut drives, mut controllers) = (Vec::new(), Vec::new());
            for round in 0..bench.rounds() {
                if bench.runner.stopped() {
                    bail!("interrupted");
                }
                eprintln!(
                    "controller, {name}, depth {depth}: round {} of {}",
                    round + 1,
                    bench.rounds()
                );
                let (rate, end) = bare(name, depth, count)?;
                drives.push(rate);
                let (rate, same_end) = through(name, depth, count)?;
                controllers.push(rate);
                ensure!(
                    end == same_end,
                    "the last read of {name} at depth {depth} is done at {end} by the drive and at {same_end} through the controller"
                );
            }
            let share = Spread::of(controllers.iter().zip(&drives).map(|(a, b)| a / b));
            let (drives, controllers) = (Spread::of(drives), Spread::of(controllers));
            if depth > 1 {
                least = least.min(controllers.median);
            }
            table.rows.push(vec![
                name.to_owned(),
                depth.to_string(),
                drives.show(2),
                controllers.show(2),
                share.show(2),
            ]);
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
