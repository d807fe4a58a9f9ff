//! Drives whose largest transfer (MDTS) is below a chunk: a chunk is several commands.

use crate::common::{self, Rough};
use crate::measure;

use assay_cosim::map::drive_bank;
use assay_cosim::pcie_drive::{LinkOptions, unlimited_profile};
use assay_integrity::pattern::Pattern;
use assay_ssd::Profile;
use assay_stream::record::RecordOptions;
use assay_stream::registers::map::drive;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::SizedSource;
use assay_stream::streamer::Streamer;
use measure::{Surroundings, chunk_cycles, ideal_cycles};

fn profile(largest_bytes: u64) -> Profile {
    let mut profile = unlimited_profile();
    profile.identity.max_transfer_bytes.value = largest_bytes;
    profile
}

#[test]
fn chunks_above_the_largest_transfer_are_split() {
    for (name, largest) in
        [("w128c16", 8 << 10), ("w128", 8 << 10), ("w128", 64 << 10), ("w128c16d3", 8 << 10)]
    {
        let rough = Rough { percent: 10, ..Rough::default() };
        let Some(mut core) = common::core_in(name, profile(largest), &rough, None) else {
            continue;
        };
        let range = common::range(&core, 5);
        let drives = core.world().drives.len() as u64;
        let chunk = u64::from(core.configuration().chunk_bytes());
        let pattern = Pattern::new(7);
        for bytes in [5 * chunk, 2 * chunk + largest + 1, largest, 1] {
            let what = format!("{name}, {largest} bytes per command, {bytes} bytes");
            let commands = |core: &mut assay_cosim::streamer::CoreStreamer<_>| {
                let mut count = 0;
                for number in 0..drives as usize {
                    let at = drive_bank(number) + drive::COMMANDS.offset();
                    count += u64::from(core.world().read32(at).expect("a register"));
                }
                count
            };
            core.bring_up().expect("the drives are ready");
            let before = commands(&mut core);
            let mut source = SizedSource::pattern(pattern, bytes);
            let registers = Registers::default();
            let recorded = core
                .record(&range, &mut source, &RecordOptions::default(), &registers)
                .expect("the simulation runs");
            assert!(recorded.status.status.has(StatusBits::FINISHED), "{what}");
            assert_eq!(recorded.status.bytes, bytes, "{what}");
            let whole = bytes / chunk * (chunk / largest);
            let rest = (bytes % chunk).div_ceil(largest);
            assert_eq!(commands(&mut core) - before, whole + rest, "{what}");

            let mut sink = Vec::new();
            let registers = Registers::default();
            let replayed = core
                .replay(&range, Some(bytes), &mut sink, ReplayOptions::default(), &registers)
                .expect("the simulation runs");
            assert!(replayed.status.status.has(StatusBits::FINISHED), "{what}");
            let mut expected = vec![0; bytes as usize];
            pattern.at(0).fill(&mut expected);
            assert!(sink == expected, "{what}: the bytes replayed differ");
            core.world().check_idle().expect("all is answered");
        }
    }
}

/// Splitting costs no rate: neither at the bus nor at a link.
#[test]
fn split_chunks_stream_at_the_same_rate() {
    const CHUNKS: u64 = 32;
    for (link, largest, least) in [
        (LinkOptions::unlimited(), 64 << 10, 0.99),
        (LinkOptions::unlimited(), 16 << 10, 0.99),
        (LinkOptions::unlimited(), 8 << 10, 0.99),
        (LinkOptions::new(3, 4), 32 << 10, 0.99),
    ] {
        let surroundings =
            Surroundings { profile: profile(largest), ..Surroundings::unlimited(link) };
        let Ok(mut core) = measure::core("w128", &surroundings) else {
            return;
        };
        let ideal = ideal_cycles(&core, &link);
        for (ideal, cycles) in ideal.into_iter().zip(chunk_cycles(&mut core, CHUNKS)) {
            let efficiency = ideal / cycles.steady();
            println!("{largest} bytes per command: {cycles:?}, efficiency {efficiency:.4}");
            assert!(efficiency >= least, "{largest}: {cycles:?}");
        }
    }
}
