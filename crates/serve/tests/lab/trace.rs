//! Traces of commands, and what they do to a drive in process.

use assay_ssd::{Command, Drive};
use assay_units::{DataClass, Nanos, Op, Rng};

/// What a trace does at one place.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Write(bool),
    Read,
    Trim,
    Zero,
    Flush,
}

/// Acts at places, so many that collection sets in.
pub fn trace(seed: u64, blocks: u64, acts: usize) -> Vec<(Act, u64, u32)> {
    let mut rng = Rng::new(seed);
    let act = |rng: &mut Rng| match rng.below(20) {
        0 => Act::Trim,
        1 => Act::Zero,
        2 => Act::Flush,
        3 => Act::Write(true),
        4..=6 => Act::Read,
        _ => Act::Write(false),
    };
    let one = |rng: &mut Rng| {
        let (act, len) = (act(rng), 1 + rng.below(32));
        (act, rng.below(blocks - len) * 512, len as u32 * 512)
    };
    (0..acts).map(|_| one(&mut rng)).collect()
}

pub fn payload(n: usize, len: u32) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    // Some are of one byte alone, some of zeroes.
    match n % 5 {
        0 => bytes.fill((n / 5) as u8),
        _ => Rng::new(n as u64).fill(&mut bytes),
    }
    bytes
}

/// The trace on a drive in process, one act after the other; what its reads gave.
pub fn in_process(drive: &mut Drive, trace: &[(Act, u64, u32)]) -> Vec<Vec<u8>> {
    let (mut now, mut reads, mut done) = (Nanos::ZERO, Vec::new(), Vec::new());
    for (n, &(act, offset_bytes, len_bytes)) in trace.iter().enumerate() {
        let op = match act {
            Act::Write(_) => Op::Write,
            Act::Read => Op::Read,
            Act::Trim => Op::Discard,
            Act::Zero => Op::WriteZeroes,
            Act::Flush => Op::Flush,
        };
        let mut one = |op: Op| {
            let bytes = payload(n, len_bytes);
            let zero = op != Op::Read && (op != Op::Write || bytes.iter().all(|&b| b == 0));
            let (offset_bytes, len_bytes) = match op {
                Op::Flush => (0, 0),
                _ => (offset_bytes, len_bytes),
            };
            let command = Command {
                tag: 0,
                queue: 0,
                op,
                offset_bytes,
                len_bytes,
                data: if zero {
                    DataClass::Zero
                } else {
                    DataClass::Incompressible
                },
            };
            if op == Op::Write {
                drive.submit_write(now, command, &bytes);
            } else {
                drive.submit(now, command);
            }
            done.clear();
            while done.is_empty() {
                now = drive.next_event().unwrap();
                drive.advance(now, &mut done);
            }
            if op == Op::Read {
                let mut bytes = vec![0; len_bytes as usize];
                drive.read_data(&done[0], offset_bytes, &mut bytes);
                reads.push(bytes);
            }
        };
        one(op);
        if matches!(act, Act::Write(true)) {
            one(Op::Flush);
        }
    }
    reads
}
