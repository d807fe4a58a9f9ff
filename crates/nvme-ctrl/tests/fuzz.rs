//! Fuzzing with arbitrary registers, queue entries and memory: no panic, no hang, bounded memory.

use crate::support;

use assay_nvme_ctrl::{Controller, ControllerOptions, FlatMemory, HostMemory};
use assay_nvme_spec::register;
use assay_ssd::{Drive, DriveOptions};
use assay_units::{Nanos, Rng};
use proptest::prelude::*;

const SIZE: usize = 1 << 20;

/// A small drive, with faults for every third seed.
fn faulty_drive(seed: u64, keep: bool) -> Drive {
    let mut options = DriveOptions { seed, keep_data: keep, ..DriveOptions::default() };
    for fault in [
        "read-error@3",
        "write-error@4",
        "latency-spike@5=3s",
        "media-error@0+64k",
        "power-loss@10",
        "surprise-removal@25",
    ] {
        if seed.is_multiple_of(3) {
            options.set("fault", fault).expect("a known fault");
        }
    }
    support::small(options)
}

/// An entry with fields near the limits; half of them plausible.
fn entry(rng: &mut Rng, admin: bool) -> [u8; 64] {
    let mut raw = [0; 64];
    let sane = rng.below(2) == 0;
    if !sane && rng.below(4) == 0 {
        rng.fill(&mut raw);
    }
    let opcodes: &[u8] = if admin {
        &[0, 1, 2, 2, 4, 5, 6, 8, 9, 9, 10, 10, 12, 20, 0x80, 0x84, 0xff]
    } else {
        &[0, 1, 1, 1, 2, 2, 2, 4, 5, 8, 9, 12, 0x19]
    };
    raw[0] = opcodes[rng.below(opcodes.len() as u64) as usize];
    raw[1] = if sane { 0 } else { [0, 0, 0x40, 0x40, 0x40, 0x80, 1, 0xc0][rng.below(8) as usize] };
    raw[2..4].copy_from_slice(&(rng.next_u64() as u16).to_le_bytes());
    let nsid: u32 = if sane { 1 } else { [1, 1, 0, 2, u32::MAX][rng.below(5) as usize] };
    raw[4..8].copy_from_slice(&nsid.to_le_bytes());
    let address = |rng: &mut Rng| match rng.below(16) {
        0 if !sane => rng.next_u64(),
        1 if !sane => SIZE as u64 - rng.below(5000),
        2 if !sane => rng.below(SIZE as u64),
        _ => DATA + rng.below((SIZE as u64 - DATA) / 4096) * 4096,
    };
    let (prp1, prp2) = (address(rng), address(rng));
    raw[24..32].copy_from_slice(&prp1.to_le_bytes());
    raw[32..40].copy_from_slice(&prp2.to_le_bytes());
    if raw[1] >= 0x40 {
        raw[32..36].copy_from_slice(&(16 * rng.below(40) as u32).to_le_bytes());
        raw[39] = (rng.below(6) << 4) as u8;
    }
    // Mostly small numbers: identifiers, sizes, addresses.
    for dword in 10..16 {
        let value = match rng.below(6) {
            _ if sane && !admin && dword == 11 => 4,
            _ if sane && !admin => rng.below(16) as u32,
            0 => rng.next_u64() as u32,
            1 => (1 << rng.below(32)) as u32,
            2 => (rng.below(16) << 16 | rng.below(16)) as u32,
            _ => rng.below(32) as u32,
        };
        let value = if sane && !admin && dword == 11 && raw[0] != 9 { 0 } else { value };
        raw[dword * 4..dword * 4 + 4].copy_from_slice(&value.to_le_bytes());
    }
    raw
}

/// Queues of 16 entries by identifier, then everything else.
const QUEUES: u64 = 5;
const DATA: u64 = 0x1000 * (2 * QUEUES + 1);

fn sq_at(qid: u64) -> u64 {
    0x1000 * (2 * qid + 1)
}

fn cq_at(qid: u64) -> u64 {
    sq_at(qid) + 0x1000
}

/// A malicious guest with a working driver.
struct Guest {
    controller: Controller,
    memory: FlatMemory,
    rng: Rng,
    now: Nanos,
    tails: [u64; QUEUES as usize],
    heads: [u64; QUEUES as usize],
    phases: [bool; QUEUES as usize],
}

impl Guest {
    fn new(seed: u64, keep: bool) -> Guest {
        let mut guest = Guest {
            controller: Controller::new(faulty_drive(seed, keep), ControllerOptions::default()),
            memory: FlatMemory::new(0, SIZE),
            rng: Rng::new(seed),
            now: Nanos::ZERO,
            tails: [0; QUEUES as usize],
            heads: [0; QUEUES as usize],
            phases: [true; QUEUES as usize],
        };
        if guest.rng.below(2) == 0 {
            let mut noise = vec![0; SIZE];
            guest.rng.fill(&mut noise);
            guest.memory.write(0, &noise).expect("mapped memory");
        }
        guest.bring_up();
        guest
    }

    fn register(&mut self, offset: u64, size: usize, value: u64) {
        self.controller.write_register(self.now, offset, size, value);
    }

    /// Resets the controller and creates queues.
    fn bring_up(&mut self) {
        self.register(register::CC, 4, 0);
        let zeroes = vec![0; DATA as usize];
        self.memory.write(0, &zeroes).expect("mapped memory");
        (self.tails, self.heads, self.phases) = Default::default();
        self.phases.fill(true);
        self.register(register::AQA, 4, 0x000f_000f);
        self.register(register::ASQ, 8, sq_at(0));
        self.register(register::ACQ, 8, cq_at(0));
        self.register(register::CC, 4, 0x0046_0001);
        self.pass(2_000_000);
        for qid in 1..QUEUES {
            for (opcode, queue, dword11) in
                [(5_u8, cq_at(qid), 3_u32), (1, sq_at(qid), 1 | (qid as u32) << 16)]
            {
                let mut raw = [0; 64];
                raw[0] = opcode;
                raw[24..32].copy_from_slice(&queue.to_le_bytes());
                raw[40..44].copy_from_slice(&(15 << 16 | qid as u32).to_le_bytes());
                raw[44..48].copy_from_slice(&dword11.to_le_bytes());
                self.put(0, &raw);
            }
            self.ring(0);
            self.pass(1_000_000);
            self.take(0);
        }
    }

    fn pass(&mut self, span_ns: u64) {
        self.now += Nanos(span_ns);
        self.controller.advance(self.now, &mut self.memory);
    }

    fn put(&mut self, qid: u64, raw: &[u8; 64]) {
        let tail = &mut self.tails[qid as usize];
        self.memory.write(sq_at(qid) + *tail * 64, raw).expect("mapped memory");
        *tail = (*tail + 1) % 16;
    }

    fn ring(&mut self, qid: u64) {
        self.register(register::sq_doorbell(qid as u16, 0), 4, self.tails[qid as usize]);
    }

    /// Take the completions that are there.
    fn take(&mut self, qid: u64) {
        let at = qid as usize;
        for _ in 0..16 {
            let mut raw = [0; 16];
            self.memory.read(cq_at(qid) + self.heads[at] * 16, &mut raw).expect("mapped memory");
            if (raw[14] & 1 != 0) != self.phases[at] {
                break;
            }
            self.heads[at] += 1;
            if self.heads[at] == 16 {
                self.heads[at] = 0;
                self.phases[at] = !self.phases[at];
            }
        }
        self.register(register::cq_doorbell(qid as u16, 0), 4, self.heads[at]);
    }

    fn act(&mut self) {
        let qid = self.rng.below(QUEUES);
        match self.rng.below(100) {
            0..3 => {
                let (any, near) = (self.rng.next_u64(), self.rng.below(0x60));
                let bell = register::DOORBELLS + self.rng.below(64);
                let offset = [any, near, bell][self.rng.below(3) as usize];
                let (size, value) = (self.rng.below(10) as usize, self.rng.next_u64());
                self.register(offset, size, value);
            }
            3 => {
                let offset = self.rng.next_u64() >> self.rng.below(64);
                let size = self.rng.below(12) as usize;
                self.controller.read_register(offset, size);
            }
            4 => {
                let value = [0, 0x0046_0001, 0x0046_4001, 0x0046_0801][self.rng.below(4) as usize];
                self.register(register::CC, 4, value);
            }
            5 | 6 => {
                let (at, mut bytes) = (self.rng.below(SIZE as u64 - 64), [0; 64]);
                self.rng.fill(&mut bytes);
                self.memory.write(at, &bytes).expect("mapped memory");
            }
            7 => {
                let bell =
                    [register::sq_doorbell(qid as u16, 0), register::cq_doorbell(qid as u16, 0)];
                let (which, value) = (self.rng.below(2) as usize, self.rng.below(17));
                self.register(bell[which], 4, value);
            }
            8 => self.bring_up(),
            9..50 => {
                for _ in 0..=self.rng.below(6) {
                    let raw = entry(&mut self.rng, qid == 0);
                    self.put(qid, &raw);
                }
            }
            50..70 => self.ring(qid),
            70..85 => self.take(qid),
            _ => {
                let span_ns = match (self.rng.below(4), self.controller.next_event()) {
                    (0, Some(event)) => (event - self.now).0,
                    (1, _) => self.rng.below(3_000_000_000),
                    _ => self.rng.below(100_000),
                };
                self.pass(span_ns);
            }
        }
    }

    /// Without further commands the events end, except temperature monitoring.
    fn run_until_idle(&mut self) {
        let end = self.now + Nanos::from_secs(1000);
        for _ in 0..100_000 {
            match self.controller.next_event() {
                Some(event) if event < end => {
                    self.controller.advance(event, &mut self.memory);
                }
                _ => return,
            }
        }
        panic!("events never end");
    }
}

/// A guest of `acts` actions.
fn run_guest(seed: u64, acts: u32, keep: bool) -> Controller {
    let mut guest = Guest::new(seed, keep);
    (0..acts).for_each(|_| guest.act());
    guest.run_until_idle();
    guest.controller
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_guest_causes_a_panic(seed: u64, acts in 1_u32..400, keep: bool) {
        let controller = run_guest(seed, acts, keep);
        // Stored data is what the guest wrote, bounded by its commands.
        prop_assert!(controller.drive().resident_bytes() < 512 << 20);
    }
}

/// The guests above reach the drive in every way.
#[test]
fn guests_reach_the_drive() {
    let (mut reads, mut writes, mut erased, mut media_errors, mut fatal, mut gone, mut large) =
        (0, 0, 0, 0, 0, 0, 0);
    for seed in 0..150 {
        let mut controller = run_guest(seed, 399, seed % 2 == 0);
        let telemetry = controller.drive_mut().telemetry(Nanos::ZERO);
        reads += telemetry.host_reads;
        writes += telemetry.host_writes;
        erased += telemetry.superblocks_erased;
        media_errors += telemetry.media_errors;
        fatal += controller.read_register(register::CSTS, 4) >> 1 & 1;
        gone += u32::from(!controller.drive().is_present());
        large += u32::from(controller.drive().identity().logical_block_bytes == 4096);
    }
    let seen = [reads, writes, erased, media_errors, fatal, gone.into(), large.into()];
    assert!(reads > 1000 && writes > 500, "{seen:?}");
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

/// A guest that never consumes completions: the controller stops fetching.
#[test]
fn fetching_stops_without_free_completion_entries() {
    let mut driver = support::TestDriver::new("samsung-951", &[]);
    let at = driver.pages(4096);
    let mut read = assay_nvme_spec::nvm::Read::for_blocks(1, 0, 8).entry();
    read.set_prps(at, 0);
    let mut tail = 0;
    let mut completed = std::collections::HashSet::new();
    for round in 0..2_000_u64 {
        for slot in 0..64 {
            read.set_cid((round * 64 + slot) as u16);
            driver
                .memory
                .write(driver.pairs[&1].sq + slot * 64, read.as_bytes())
                .expect("mapped memory");
        }
        tail = (tail + 63) % 64;
        driver.write32(register::sq_doorbell(1, 0), tail);
        driver.advance_to(driver.now + Nanos::from_millis(10));
        completed.insert(driver.bytes(driver.pairs[&1].cq, 64 * 16));
    }
    // The entries of one queue were written, and no more.
    assert!(completed.len() < 5, "{}", completed.len());
}
