//! The verilated core with a simulated drive: bring-up, recordings, replays.

use crate::common;

use assay_cosim::pcie_drive::unlimited_profile;
use assay_integrity::pattern::Pattern;
use assay_stream::record::RecordOptions;
use assay_stream::registers::{Registers, StatusBits};
use assay_stream::replay::ReplayOptions;
use assay_stream::source::SizedSource;
use assay_stream::streamer::Streamer;
use common::{core, range};

#[test]
fn drives_are_brought_up() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let extents = core.extents().expect("bring-up ends");
    let profile = unlimited_profile();
    assert_eq!(extents[0].capacity_bytes, profile.identity.capacity_bytes.value);
    core.world().check_idle().expect("all is answered");
}

#[test]
fn what_was_recorded_is_replayed() {
    let Some(mut core) = core("w128c16", unlimited_profile()) else {
        return;
    };
    let chunk = 16 << 10;
    let range = range(&core, 10);
    let pattern = Pattern::new(7);
    for bytes in [10 * chunk, 3 * chunk, 3 * chunk + 1000, 16, 1] {
        let mut source = SizedSource::pattern(pattern, bytes);
        let registers = Registers::default();
        let recorded = core
            .record(&range, &mut source, &RecordOptions::default(), &registers)
            .expect("the simulation runs");
        let status = &recorded.status;
        println!("{status:?}");
        assert!(status.status.has(StatusBits::FINISHED), "{status:?}");
        assert_eq!(status.bytes, bytes);
        let early = !bytes.is_multiple_of(chunk);
        assert_eq!(status.status.has(StatusBits::EARLY_LAST), early);
        let last = range.first + (bytes.div_ceil(chunk) - 1) * chunk;
        assert_eq!(status.last_address_written, Some(last));
        assert_eq!(registers.bytes(), bytes);

        let mut sink = Vec::new();
        let registers = Registers::default();
        let replayed = core
            .replay(&range, Some(bytes), &mut sink, ReplayOptions::default(), &registers)
            .expect("the simulation runs");
        let status = &replayed.status;
        println!("{status:?}");
        assert!(status.status.has(StatusBits::FINISHED), "{status:?}");
        assert_eq!(sink.len() as u64, bytes);
        let mut expected = vec![0; bytes as usize];
        pattern.at(0).fill(&mut expected);
        assert!(sink == expected, "the bytes replayed differ");
        core.world().check_idle().expect("all is answered");
    }
}
