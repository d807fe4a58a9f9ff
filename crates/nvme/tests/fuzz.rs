//! Nothing a guest can do makes the controller panic, hang or grow: arbitrary registers, queue entries and memory.

mod support;

use assay_nvme::{Controller, ControllerOptions, FlatMemory, HostMemory};
use assay_spec::register;
use assay_ssd::{Drive, DriveOptions};
use assay_units::{Nanos, Rng};
use proptest::prelude::*;

const SIZE: usize = 1 << 20;

/// A small drive, with faults every third time.
fn fragile(seed: u64, keep: bool) -> Drive {
    let mut options = DriveOptions {
        seed,
        keep_data: keep,
        ..DriveOptions::default()
    };
    for fault in [
        "read-error@3",
        "write-error@4",
        "latency-spike@5=3s",
        "media-error@0+64k",
        "power-loss@60",
        "vanish@150",
    ] {
        if seed.is_multiple_of(3) {
            options.set("fault", fault).expect("a known fault");
        }
    }
    support::small(options)
}

/// An entry with fields near the edges of what there is.
fn entry(rng: &mut Rng, admin: bool) -> [u8; 64] {
    let mut raw = [0; 64];
    if rng.below(4) == 0 {
        rng.fill(&mut raw);
    }
    let opcodes: &[u8] = if admin {
        &[0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 20, 0x80, 0x84, 0xff]
    } else {
        &[0, 1, 2, 4, 5, 8, 9, 12, 0x19]
    };
    raw[0] = opcodes[rng.below(opcodes.len() as u64) as usize];
    raw[1] = [0, 0, 0, 0, 0x40, 0x80, 1, 0xc0][rng.below(8) as usize];
    raw[2..4].copy_from_slice(&(rng.next_u64() as u16).to_le_bytes());
    let nsid: u32 = [1, 1, 1, 1, 0, 2, u32::MAX][rng.below(7) as usize];
    raw[4..8].copy_from_slice(&nsid.to_le_bytes());
    let address = |rng: &mut Rng| match rng.below(8) {
        0 => rng.next_u64(),
        1 => SIZE as u64 - rng.below(5000),
        2 => rng.below(SIZE as u64),
        _ => rng.below(SIZE as u64 / 4096) * 4096,
    };
    let (prp1, prp2) = (address(rng), address(rng));
    raw[24..32].copy_from_slice(&prp1.to_le_bytes());
    raw[32..40].copy_from_slice(&prp2.to_le_bytes());
    if raw[1] >= 0x40 {
        raw[32..36].copy_from_slice(&(16 * rng.below(40) as u32).to_le_bytes());
        raw[39] = (rng.below(6) << 4) as u8;
    }
    // Small numbers: identifiers, sizes, places on the drive.
    for dword in 10..16 {
        let value = match rng.below(6) {
            0 => rng.next_u64() as u32,
            1 => (1 << rng.below(32)) as u32,
            2 => (rng.below(16) << 16 | rng.below(16)) as u32,
            _ => rng.below(32) as u32,
        };
        raw[dword * 4..dword * 4 + 4].copy_from_slice(&value.to_le_bytes());
    }
    raw
}

/// So many random acts of a guest on a controller that is up half of the time.
fn torment(seed: u64, acts: u32, keep: bool) -> Controller {
    let mut rng = Rng::new(seed);
    let mut controller = Controller::new(fragile(seed, keep), ControllerOptions::default());
    let mut memory = FlatMemory::new(0, SIZE);
    if rng.below(2) == 0 {
        let mut noise = vec![0; SIZE];
        rng.fill(&mut noise);
        memory.write(0, &noise).expect("mapped memory");
    }
    let mut now = Nanos::ZERO;
    // Queue memory by identifier, overlapping some of everything else.
    let queue_at = |qid: u64| 0x1000 * (2 * qid + 1);
    controller.write_register(now, register::AQA, 4, 0x000f_000f);
    controller.write_register(now, register::ASQ, 8, queue_at(0));
    controller.write_register(now, register::ACQ, 8, queue_at(0) + 0x1000);
    controller.write_register(now, register::CC, 4, 0x0046_0001);
    for _ in 0..acts {
        let qid = rng.below(5);
        match rng.below(24) {
            0 => {
                let offset = [
                    rng.next_u64(),
                    rng.below(0x60),
                    register::DOORBELLS + rng.below(64),
                ][rng.below(3) as usize];
                controller.write_register(now, offset, rng.below(10) as usize, rng.next_u64());
            }
            1 => {
                let _ = controller
                    .read_register(rng.next_u64() >> rng.below(64), rng.below(12) as usize);
            }
            2 => controller.write_register(
                now,
                register::CC,
                4,
                [0, 0x0046_0001, 0x0046_4001, 0x0046_0081][rng.below(4) as usize],
            ),
            3 => {
                let (at, mut bytes) = (rng.below(SIZE as u64 - 64), [0; 64]);
                rng.fill(&mut bytes);
                memory.write(at, &bytes).expect("mapped memory");
            }
            4..12 => {
                let slot = rng.below(16);
                memory
                    .write(queue_at(qid) + slot * 64, &entry(&mut rng, qid == 0))
                    .expect("mapped memory");
            }
            // A well-formed pair of queues now and then, so that I/O commands get through.
            12 if qid > 0 => {
                for (slot, opcode, queue, dword11) in [
                    (0, 5_u8, queue_at(qid) + 0x1000, 3_u32),
                    (1, 1, queue_at(qid), 1 | (qid as u32) << 16),
                ] {
                    let mut raw = [0; 64];
                    raw[0] = opcode;
                    raw[24..32].copy_from_slice(&queue.to_le_bytes());
                    raw[40..44].copy_from_slice(&(15 << 16 | qid as u32).to_le_bytes());
                    raw[44..48].copy_from_slice(&dword11.to_le_bytes());
                    memory
                        .write(queue_at(0) + slot * 64, &raw)
                        .expect("mapped memory");
                }
                controller.write_register(now, register::sq_doorbell(0, 0), 4, 2);
            }
            12..18 => controller.write_register(
                now,
                register::sq_doorbell(qid as u16, 0),
                4,
                rng.below(17),
            ),
            18..20 => controller.write_register(
                now,
                register::cq_doorbell(qid as u16, 0),
                4,
                rng.below(17),
            ),
            _ => {
                now = match (rng.below(3), controller.next_event()) {
                    (0, Some(event)) => now.max(event),
                    (1, _) => now + Nanos(rng.below(3_000_000_000)),
                    _ => now + Nanos(rng.below(100_000)),
                };
                controller.advance(now, &mut memory);
            }
        }
    }
    // Left alone, it comes to rest, but for a watch over temperature.
    for _ in 0..100_000 {
        match controller.next_event() {
            Some(event) if event < Nanos(now.0 + 1_000_000_000_000) => {
                controller.advance(event, &mut memory);
            }
            _ => break,
        }
    }
    controller
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_guest_is_survived(seed: u64, acts in 1_u32..400, keep: bool) {
        let controller = torment(seed, acts, keep);
        // What it keeps of data is what the guest wrote, and that is bounded by its commands.
        prop_assert!(controller.drive().resident_bytes() < 512 << 20);
    }
}

/// A guest that never takes completions, and submits for ever: the controller stops fetching and stays as it is.
#[test]
fn a_guest_that_never_listens_is_not_served_for_ever() {
    let mut host = support::Host::new("samsung-951", &[]);
    let at = host.pages(4096);
    let mut read = assay_spec::nvm::Read::of(1, 0, 8).entry();
    read.set_prps(at, 0);
    let mut tail = 0;
    let mut completed = std::collections::HashSet::new();
    for round in 0..2_000_u64 {
        for slot in 0..64 {
            read.set_cid((round * 64 + slot) as u16);
            host.memory
                .write(host.pairs[&1].sq + slot * 64, read.as_bytes())
                .expect("mapped memory");
        }
        tail = (tail + 63) % 64;
        host.write32(register::sq_doorbell(1, 0), tail);
        host.live(host.now + Nanos::from_millis(10));
        completed.insert(host.bytes(host.pairs[&1].cq, 64 * 16));
    }
    // One queue's worth of entries was written, and then no more.
    assert!(completed.len() < 5, "{}", completed.len());
}
