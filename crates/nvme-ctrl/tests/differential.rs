//! The same commands on the drive alone and through the controller leave the same state.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::StatusCode;
use assay_nvme_spec::nvm::{DatasetManagement, DatasetRange, Flush, Read, Write, WriteZeroes};
use assay_ssd::{Command, Completion, Drive, DriveOptions};
use assay_units::{DataClass, Nanos, Op};
use proptest::prelude::*;
use support::{PAGE, TestDriver, drive, small};

/// One step of a trace: wait, then submit on a queue.
#[derive(Clone, Copy, Debug)]
struct TraceStep {
    wait_ns: u64,
    queue: u16,
    op: Op,
    block: u64,
    blocks: u32,
    byte: u8,
}

fn step() -> impl Strategy<Value = TraceStep> {
    let op = prop_oneof![
        5 => Just(Op::Write),
        4 => Just(Op::Read),
        1 => Just(Op::Flush),
        1 => Just(Op::Discard),
        1 => Just(Op::WriteZeroes),
    ];
    let wait = prop_oneof![Just(0_u64), 0..20_000_u64, 0..2_000_000_u64, 0..900_000_000_u64];
    (wait, 1_u16..4, op, 0_u64..4000, 1_u32..=64, any::<u8>()).prop_map(
        |(wait_ns, queue, op, block, blocks, byte)| TraceStep {
            wait_ns,
            queue,
            op,
            block,
            blocks,
            byte,
        },
    )
}

/// A small flash drive, or one without flash translation.
fn new_drive(flash: bool) -> Drive {
    let settings = [("data", "keep"), ("apst", "on"), ("state", "fresh")];
    if !flash {
        return drive("intel-optane-memory-32gb", &settings);
    }
    let mut options = DriveOptions::default();
    for (key, value) in settings {
        options.set(key, value).expect("a known option");
    }
    small(options)
}

/// A day, in which the idle drives patrol once.
const END: Nanos = Nanos(86_400_000_000_000);

/// The trace on the drive itself: completions by step, and the drive.
fn run_on_drive(flash: bool, steps: &[TraceStep], from: Nanos) -> (Vec<Completion>, Drive) {
    let mut drive = new_drive(flash);
    let mut out = Vec::new();
    let mut now = from;
    for (tag, step) in (0..).zip(steps) {
        now += Nanos(step.wait_ns);
        drive.advance(now, &mut out);
        let is_flush = step.op == Op::Flush;
        let command = Command {
            tag,
            queue: step.queue - 1,
            op: step.op,
            offset_bytes: if is_flush { 0 } else { step.block * 512 },
            len_bytes: if is_flush { 0 } else { step.blocks * 512 },
            data: if step.byte == 0 { DataClass::Zero } else { DataClass::Incompressible },
            fua: false,
        };
        if step.op == Op::Write {
            drive.submit_write(now, command, &vec![step.byte; step.blocks as usize * 512]);
        } else {
            drive.submit(now, command);
        }
    }
    drive.advance(END, &mut out);
    out.sort_by_key(|completion| completion.tag);
    (out, drive)
}

/// The trace through registers, queues and PRP lists.
fn run_on_controller(
    flash: bool,
    steps: &[TraceStep],
) -> (Vec<(Nanos, StatusCode)>, Nanos, TestDriver) {
    let mut driver = TestDriver::powered_on(new_drive(flash));
    driver.enable();
    driver.set_queues(3);
    (1..4).for_each(|qid| driver.create_pair(qid, 128));
    let from = driver.now;
    let data = driver.pages(33 * PAGE);
    let mut sent = std::collections::HashMap::new();
    let mut done = vec![None; steps.len()];
    let mut now = from;
    for (tag, step) in steps.iter().enumerate() {
        now += Nanos(step.wait_ns);
        collect(&mut driver, now, &mut sent, &mut done);
        let prps = driver.prps(data, u64::from(step.blocks) * 512);
        let mut entry = match step.op {
            Op::Write => {
                driver
                    .memory
                    .write(data, &vec![step.byte; step.blocks as usize * 512])
                    .expect("mapped memory");
                Write::for_blocks(1, step.block, step.blocks).entry()
            }
            Op::Read => Read::for_blocks(1, step.block, step.blocks).entry(),
            Op::WriteZeroes => WriteZeroes::for_blocks(1, step.block, step.blocks).entry(),
            Op::Flush => {
                let mut flush = Flush::new();
                flush.set_nsid(1);
                flush.entry()
            }
            Op::Discard => {
                let mut range = DatasetRange::default();
                range.set_slba(step.block).set_blocks(step.blocks);
                driver.memory.write(data, range.as_bytes()).expect("mapped memory");
                let mut dataset = DatasetManagement::new();
                dataset.set_nsid(1).set_deallocate(true);
                dataset.entry()
            }
        };
        entry.set_prps(prps.0, prps.1);
        let cid = driver.put(step.queue, entry);
        sent.insert((step.queue, cid), tag);
        driver.ring(step.queue);
        // The controller fetches the data here; the buffer is reused for the next command.
        driver.controller.advance(now, &mut driver.memory);
    }
    collect(&mut driver, END, &mut sent, &mut done);
    assert!(sent.is_empty());
    (done.into_iter().flatten().collect(), from, driver)
}

type Sent = std::collections::HashMap<(u16, u16), usize>;

fn collect(
    driver: &mut TestDriver,
    until: Nanos,
    sent: &mut Sent,
    done: &mut [Option<(Nanos, StatusCode)>],
) {
    loop {
        let event = driver.controller.next_event().filter(|&event| event <= until);
        driver.now = driver.now.max(event.unwrap_or(until));
        driver.controller.advance(driver.now, &mut driver.memory);
        for qid in 1..4 {
            for entry in driver.poll(qid) {
                let tag = sent.remove(&(qid, entry.cid())).expect("a command that was sent");
                done[tag] = Some((driver.now, entry.status()));
            }
        }
        if event.is_none() {
            return;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn controller_and_drive_agree(steps in prop::collection::vec(step(), 1..120), flash: bool) {
        let (seen, from, mut driver) = run_on_controller(flash, &steps);
        let (expected, mut drive) = run_on_drive(flash, &steps, from);
        let through = driver.controller.drive_mut();
        for ((at, status), completion) in seen.iter().zip(&expected) {
            prop_assert_eq!((*at, status.is_success()), (completion.at, completion.status.is_ok()), "{:?}", steps[completion.tag as usize]);
        }
        prop_assert_eq!(through.telemetry(END), drive.telemetry(END));
        prop_assert_eq!(through.digest(), drive.digest());
    }
}
