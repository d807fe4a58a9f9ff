//! Faults of the drive: completions, accesses, link, drive, commands.

use assay_cosim::pcie_drive::planned_faults::PlannedFaults;
use assay_cosim::pcie_drive::{
    CommandHook, CompletionFault, Disposition, LinkEvent, LinkOptions, PcieFault,
};
use assay_integrity::planned_faults::{BenchFault, Faults, Trigger};
use assay_nvme_spec::register::{self, ControllerStatus};
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_ssd::Drive;

use crate::core_side;
use crate::host;
use crate::setup;

use core_side::BarState;
use host::{BAR, BUS_BASE, ENDPOINT, Host, slot_address};
use setup::{CHUNK, check, options, pattern, unlimited, write_and_read};

fn faulty(ordinal: u64, fault: CompletionFault) -> Host {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    host.far.add_fault(PcieFault::Completion { ordinal, fault });
    host
}

/// Queues reads 0 to 3 and waits.
fn four_reads(host: &mut Host) {
    for slot in 0..4 {
        host.put_io(true, slot, 0, 8192);
    }
    host.ring(2);
    host.wait(20_000);
}

fn polled(host: &mut Host) -> Vec<u16> {
    std::iter::from_fn(|| host.poll(2)).map(|entry| entry.cid()).collect()
}

#[test]
fn completion_faults_are_on_the_bus() {
    let mut host = faulty(2, CompletionFault::WrongPhase);
    four_reads(&mut host);
    assert_eq!(polled(&mut host), [0]);

    let mut host = faulty(2, CompletionFault::WrongCid(0x55));
    four_reads(&mut host);
    assert_eq!(polled(&mut host), [0, 1 ^ 0x55, 2, 3]);

    let mut host = faulty(2, CompletionFault::Doubled);
    four_reads(&mut host);
    assert_eq!(polled(&mut host), [0, 1, 1, 2, 3]);

    let mut host = faulty(4, CompletionFault::WrongIndex);
    four_reads(&mut host);
    assert_eq!(polled(&mut host), [0, 1, 2]);

    let mut host = faulty(2, CompletionFault::Missing);
    four_reads(&mut host);
    assert_eq!(polled(&mut host), [0, 2, 3]);
    // The queue goes on, over its end and with all of its entries used.
    host.acknowledge(2);
    write_and_read(&mut host, 100, 32, 4096);
    check(&host);
}

#[test]
fn a_completion_before_its_data() {
    let position = |fault: Option<CompletionFault>| {
        let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
        host.bring_up();
        if let Some(fault) = fault {
            host.far.add_fault(PcieFault::Completion { ordinal: 1, fault });
        }
        host.core.write_bursts.clear();
        host.put_io(true, 0, 0, 8192);
        host.ring(2);
        host.wait(20_000);
        assert_eq!(host.core.write_bursts.iter().map(|(_, len)| len).sum::<u64>(), 8192 + 16);
        host.core.write_bursts.iter().position(|&(_, len)| len == 16).unwrap()
    };
    assert_eq!(position(None), 8192 / 256);
    assert_eq!(position(Some(CompletionFault::BeforeData)), 0);
}

#[test]
fn accesses_without_a_command() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 256));
    host.bring_up();
    let address = BUS_BASE | 0x77_0000_0a20;
    let (at, bytes) = (host.cycle + 10, vec![7; 40]);
    host.far.add_fault(PcieFault::At { cycle: at, event: LinkEvent::Write { address, bytes } });
    host.far
        .add_fault(PcieFault::At { cycle: at, event: LinkEvent::Read { address, len_bytes: 96 } });
    host.core.read_bursts.clear();
    host.wait(1000);
    let mut data = [0; 42];
    host.core.memory.read(0x77_0000_0a1f, &mut data);
    assert!(data[0] == 0 && data[41] == 0 && data[1..41].iter().all(|&byte| byte == 7));
    let bursts: Vec<_> =
        host.core.read_bursts.iter().map(|burst| (burst.address, burst.len)).collect();
    assert_eq!(bursts, [(0x77_0000_0a20, 2)]);
    check(&host);
    // Not the core's: refused by the root port.
    let cycle = host.cycle + 10;
    host.far.add_fault(PcieFault::At {
        cycle,
        event: LinkEvent::Read { address: 0x1000, len_bytes: 4 },
    });
    host.wait(1000);
    assert_eq!(host.far.counters().refused_requests, 1);
}

#[test]
fn the_link_goes_down_and_comes_up() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    for slot in 0..8 {
        host.put_io(false, slot, u64::from(slot) * 256, CHUNK);
        host.put_io(true, slot, u64::from(slot) * 256, CHUNK);
    }
    host.ring(1);
    host.ring(2);
    let cycle = host.cycle + 20_000;
    host.far.add_fault(PcieFault::At { cycle, event: LinkEvent::Down });
    host.far.add_fault(PcieFault::At { cycle: cycle + 5000, event: LinkEvent::Up });
    host.wait(21_000);
    assert_eq!(host.inputs.link_up, 0);
    let before = host.far.counters();
    assert_eq!(host.register(register::CSTS), u32::MAX);
    assert_eq!(host.read(ENDPOINT), u32::MAX);
    host.wait(5000);
    assert_eq!(host.inputs.link_up, 1);
    assert_eq!(host.far.counters().drive, before.drive, "nothing completes without a link");
    assert_eq!(host.read(ENDPOINT + 4) & 6, 0, "a reset endpoint");
    check(&host);
    // Bring-up from the beginning, with the same bridge.
    let (cycle, far) = (host.cycle, host.far);
    let mut again = Host::new(far);
    again.cycle = cycle;
    again.bring_up();
    write_and_read(&mut again, 40, 16, 8192);
    check(&again);
}

#[test]
fn a_removed_drive_reads_as_ones_and_stays_silent() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    for slot in 0..8 {
        host.put_io(false, slot, 0, CHUNK);
    }
    host.ring(1);
    let cycle = host.cycle + 2000;
    host.far.add_fault(PcieFault::At { cycle, event: LinkEvent::SurpriseRemoval });
    host.wait(3000);
    let bursts = host.core.read_bursts.len();
    assert_eq!(host.next_completion(1, 100_000), None);
    assert_eq!(host.core.read_bursts.len(), bursts, "no more reads");
    assert_eq!(host.register(register::CSTS), u32::MAX);
    assert_eq!(host.inputs.link_up, 1);
}

#[test]
fn silent_registers_never_answer() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    host.far.add_fault(PcieFault::At { cycle: host.cycle, event: LinkEvent::SilentRegisters });
    host.core.bar = BarState::Read { address: BAR };
    host.wait(50_000);
    assert_eq!(host.core.bar, BarState::ReadData);
}

#[test]
fn controller_reset_drops_what_was_under_way() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    for slot in 0..16 {
        host.put_io(false, slot, 0, CHUNK);
        host.put_io(true, slot, 0, CHUNK);
    }
    host.ring(1);
    host.ring(2);
    host.wait(30_000);
    host.set_register(register::CC, 0);
    assert!(!ControllerStatus::from_raw(host.register(register::CSTS)).ready());
    host.wait(2000);
    let bursts = (host.core.read_bursts.len(), host.core.write_bursts.len());
    host.wait(50_000);
    assert_eq!(bursts, (host.core.read_bursts.len(), host.core.write_bursts.len()));
    let (cycle, far) = (host.cycle, host.far);
    let mut again = Host::new(far);
    again.cycle = cycle;
    again.bring_up();
    write_and_read(&mut again, 10, 4, CHUNK);
    check(&again);
}

#[test]
fn a_deleted_queue_takes_its_commands_along() {
    let mut host = unlimited(options(LinkOptions::new(1, 1), 128));
    host.bring_up();
    for slot in 0..16 {
        host.put_io(false, slot, 0, CHUNK);
    }
    host.ring(1);
    host.wait(20_000);
    host.delete_submission_queue(1);
    host.wait(20_000);
    let reads = host.core.read_bursts.len();
    host.wait(20_000);
    assert_eq!(host.core.read_bursts.len(), reads);
    check(&host);
}

struct Hook;

impl CommandHook for Hook {
    fn submitted(
        &mut self,
        _: &mut Drive,
        queue: u16,
        entry: &mut SubmissionEntry,
        data: &mut [u8],
    ) -> Disposition {
        match (queue, entry.cid()) {
            (1, 0) => data[5] ^= 1,
            (1, 1) => return Disposition::Answer(StatusCode::SUCCESS),
            (1, 2) => return Disposition::Answer(StatusCode::WRITE_FAULT),
            (1, 3) => return Disposition::Drop,
            (1, 4) => {
                entry.set_cdw10(entry.cdw10() + 8);
            }
            _ => {}
        }
        Disposition::Execute
    }

    fn completed(
        &mut self,
        queue: u16,
        entry: &SubmissionEntry,
        data: &mut [Vec<u8>],
        status: &mut StatusCode,
    ) -> u64 {
        match (queue, entry.cid()) {
            (2, 6) => data[1][7] ^= 0x10,
            (2, 7) => *status = StatusCode::UNRECOVERED_READ_ERROR,
            (2, 8) => return 40_000,
            _ => {}
        }
        0
    }
}

#[test]
fn a_hook_changes_commands_and_completions() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    host.far.set_hook(Some(Box::new(Hook)));
    let data = pattern(5, 8192);
    for slot in 0..6 {
        host.core.memory.write(slot_address(false, slot), &data);
        host.put_io(false, slot, u64::from(slot) * 100, 8192);
    }
    host.ring(1);
    host.wait(30_000);
    let mut done: Vec<_> =
        std::iter::from_fn(|| host.poll(1)).map(|e| (e.cid(), e.status())).collect();
    done.sort_by_key(|&(cid, _)| cid);
    let ok = StatusCode::SUCCESS;
    assert_eq!(done, [(0, ok), (1, ok), (2, StatusCode::WRITE_FAULT), (4, ok), (5, ok)]);
    host.acknowledge(1);

    let mut read = |slot: u16, lba| {
        host.put_io(true, slot, lba, 8192);
        host.ring(2);
        let start = host.cycle;
        let status = host.next_completion(2, 100_000).unwrap().status();
        let mut data = vec![0; 8192];
        host.core.memory.read(slot_address(true, slot), &mut data);
        (status, data, host.cycle - start)
    };
    let mut flipped = data.clone();
    flipped[5] ^= 1;
    assert_eq!(read(0, 0).1, flipped);
    assert_eq!(read(1, 100).1, vec![0; 8192]);
    assert_eq!(read(4, 400 + 8).1, data);
    let mut flipped = data.clone();
    flipped[4096 + 7] ^= 0x10;
    assert_eq!(read(6, 500).1, flipped);
    assert_eq!(read(7, 500).0, StatusCode::UNRECOVERED_READ_ERROR);
    assert!(read(8, 500).2 > 40_000);
    let (status, plain, cycles) = read(9, 500);
    assert!(status.is_success() && plain == data && cycles < 40_000);
}

#[test]
fn planned_faults_of_the_test_bench() {
    const LEN: u64 = 16 << 10;
    let old = pattern(1, 4 * LEN);
    let new = pattern(2, LEN);
    // What blocks 0 to 3 of LEN bytes hold after the second write goes to block 1, and what a read
    // of block 1 gets.
    let run = |fault| {
        let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
        host.bring_up();
        let ok = |done: Option<assay_nvme_spec::CompletionEntry>| {
            assert!(done.expect("a completion").status().is_success());
        };
        for block in 0..4 {
            let data = &old[(block * LEN) as usize..][..LEN as usize];
            host.core.memory.write(slot_address(false, 0), data);
            host.put_io(false, 0, block * LEN / 512, LEN);
            host.ring(1);
            ok(host.next_completion(1, 100_000));
        }
        let faults = Faults::new(&[(fault, Trigger::Once(1))]);
        host.far.set_hook(Some(Box::new(PlannedFaults::new(faults.clone()))));
        host.core.memory.write(slot_address(false, 0), &new);
        host.put_io(false, 0, LEN / 512, LEN);
        host.ring(1);
        ok(host.next_completion(1, 100_000));
        host.core.memory.write(slot_address(true, 0), &vec![0xee; LEN as usize]);
        host.put_io(true, 0, LEN / 512, LEN);
        host.ring(2);
        ok(host.next_completion(2, 100_000));
        let mut read = vec![0; LEN as usize];
        host.core.memory.read(slot_address(true, 0), &mut read);
        assert_eq!(faults.triggered(), 1, "{fault:?}");
        let mut stored = vec![0; 4 * LEN as usize];
        assert!(host.far.drive_mut().read_kept(0, &mut stored));
        check(&host);
        (stored, read)
    };
    let with = |at: u64, data: &[u8]| {
        let mut all = old.clone();
        all[at as usize..at as usize + data.len()].copy_from_slice(data);
        all
    };
    let (len, block) = (LEN as usize, |all: &[u8]| all[LEN as usize..][..LEN as usize].to_vec());
    let good = with(LEN, &new);
    let mut flipped = new.clone();
    flipped[1] ^= 4;
    for (fault, expected) in [
        (BenchFault::DroppedWrite, old.clone()),
        (BenchFault::TornWrite(512), with(LEN, &new[..512])),
        (BenchFault::TornWrite(8192), with(LEN, &new[..8192])),
        (BenchFault::TornWrite(12 << 10), with(LEN, &new[..12 << 10])),
        (BenchFault::BitFlip(10), with(LEN, &flipped)),
        (BenchFault::MisdirectedWrite(LEN as i64), with(2 * LEN, &new)),
    ] {
        let (stored, read) = run(fault);
        assert!(stored == expected && read == block(&expected), "{fault:?}");
    }
    let (stored, read) = run(BenchFault::StaleRead);
    assert!(stored == good && read == block(&old), "stale data");
    let (stored, read) = run(BenchFault::UnfilledRead);
    assert!(stored == good && read == vec![0xee; len], "no data");
    // Executed at the first command behind it, which is the read.
    let (stored, read) = run(BenchFault::EarlyWrite(0));
    assert!(stored == good && read == new, "a late write");
    let (stored, _) = run(BenchFault::Overrun(512));
    assert!(
        stored[..2 * len] == good[..2 * len] && stored[2 * len..] != good[2 * len..],
        "an overrun"
    );
}
