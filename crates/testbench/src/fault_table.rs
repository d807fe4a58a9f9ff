//! Ordinals and addresses are those of the bench with [`options`], on one drive whose smallest I/O
//! is 512 bytes.

use assay_integrity::planned_faults::{BenchFault, Faults, Trigger};

use crate::BenchOptions;

pub const CHUNK_BYTES: u32 = 16 << 10;
pub const CHUNKS: u64 = 256;
/// Chunks in flight: the window at this depth is 64 chunks, and a session 16.
const DEPTH: u32 = 8;

pub fn options() -> BenchOptions {
    BenchOptions {
        last: Some((CHUNKS - 1) * u64::from(CHUNK_BYTES)),
        chunk_bytes: CHUNK_BYTES,
        depth: DEPTH,
        seed: 7,
        ..BenchOptions::default()
    }
}

#[derive(Clone, Debug)]
pub struct FaultRow {
    pub name: &'static str,
    /// The faults are armed in this test alone.
    pub test: &'static str,
    pub faults: Faults,
    /// Parts of the detail of the failed test.
    pub says: &'static [&'static str],
}

fn row(
    name: &'static str,
    test: &'static str,
    fault: BenchFault,
    nth: u64,
    says: &'static [&'static str],
) -> FaultRow {
    FaultRow { name, test, faults: Faults::new(&[(fault, Trigger::Once(nth))]), says }
}

/// `stopped_reads`: read commands of test 01 until its replay has stopped, 16 chunks and what the
/// streamer had read ahead.
pub fn rows(stopped_reads: u64) -> Vec<FaultRow> {
    // A table: a row per fault.
    vec![
        // The seventh read after the stopped replay.
        row(
            "left-over beats",
            "01",
            BenchFault::UnfilledRead,
            stopped_reads + 7,
            &["wrong read: chunk 6", "of the same stream", "read again it is right"],
        ),
        row(
            "flipped bit, read by the checker",
            "02",
            BenchFault::BitFlip(12_345),
            9,
            &["flipped bits: chunk 8", "bit 57"],
        ),
        FaultRow {
            faults: Faults::new(&[(BenchFault::LostFlush, Trigger::Once(1))]).volatile(),
            ..row(
                "lost flush at power cut",
                "03",
                BenchFault::LostFlush,
                1,
                &["lost in a power cut", "lost write: chunk 0"],
            )
        },
        FaultRow {
            faults: Faults::new(&[(BenchFault::EarlyWrite(2), Trigger::Once(64))]).volatile(),
            ..row(
                "early completion at power cut",
                "03",
                BenchFault::LostFlush,
                1,
                &["lost in a power cut", "lost write: chunk 63"],
            )
        },
        // The 64 of the old pattern, then 21 whole chunks and the partial one.
        row(
            "range overrun of a sector",
            "04",
            BenchFault::Overrun(512),
            64 + 22,
            &["overrun after the stream's end", "chunk 21"],
        ),
        row(
            "write after the abort",
            "05",
            BenchFault::Overrun(CHUNK_BYTES),
            64 + 25,
            &["overrun", "26624 and must at beat 25600", "16384 bytes", "written after the end"],
        ),
        row(
            "write after the stop",
            "06",
            BenchFault::Overrun(512),
            64 + 25,
            &["overrun", "25632 and must at beat 25600", "512 bytes"],
        ),
        // The last session written is the second of four; its last chunk goes to the first of the
        // third.
        row(
            "misdirected write",
            "07",
            BenchFault::MisdirectedWrite(i64::from(CHUNK_BYTES)),
            64,
            &[
                "misdirected write: chunk 31",
                "chunk 32: the chunk holds chunk 15 of what session 1",
            ],
        ),
        // Writes of single chunks follow the 64 of the sessions: each half of the chunks twice.
        row(
            "damage to the first block of the next chunk",
            "07",
            BenchFault::DamagedBlock(i64::from(CHUNK_BYTES)),
            64 + 20,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        row(
            "damage to the last block of the next chunk",
            "07",
            BenchFault::DamagedBlock(2 * i64::from(CHUNK_BYTES) - 512),
            64 + 50,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        row(
            "damage to the first block of the chunk before",
            "07",
            BenchFault::DamagedBlock(-i64::from(CHUNK_BYTES)),
            64 + 90,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        row(
            "damage to the last block of the chunk before",
            "07",
            BenchFault::DamagedBlock(-512),
            64 + 110,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        row(
            "overrun of a single chunk",
            "07",
            BenchFault::Overrun(512),
            64 + 33,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        // The last write of a half: all others of it came before.
        row(
            "damage to the next stripe",
            "07",
            BenchFault::DamagedBlock(8 * i64::from(CHUNK_BYTES)),
            64 + 64,
            &["after writes of single chunks", "32 beats are wrong in all"],
        ),
        row(
            "stale read",
            "08",
            BenchFault::StaleRead,
            300,
            &["wrong read", "read again it is right"],
        ),
        row(
            "dropped write",
            "10",
            BenchFault::DroppedWrite,
            100,
            &["lost write: chunk 99", "still holds what the stream of 256 chunks (test 08) wrote"],
        ),
        row(
            "torn chunk",
            "10",
            BenchFault::TornWrite(4096 + 512),
            100,
            &["torn write: chunk 99", "the rest is right"],
        ),
        row(
            "flipped bit",
            "10",
            BenchFault::BitFlip(1000),
            100,
            &["flipped bits: chunk 99", "bit 104"],
        ),
    ]
}
