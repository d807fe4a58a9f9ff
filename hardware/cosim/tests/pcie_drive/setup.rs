//! Drives and loads of the tests.

use assay_cosim::pcie_drive::{LinkOptions, PcieDrive, PcieDriveOptions, unlimited_profile};
use assay_ssd::{DriveOptions, InitialState, Profile};
use assay_units::Rng;

use crate::host::{BUS_BASE, Host, slot_address};

pub const CHUNK: u64 = 128 << 10;

pub fn keep_data() -> DriveOptions {
    DriveOptions {
        state: InitialState::Fresh,
        keep_data: true,
        no_power_loss: true,
        ..DriveOptions::default()
    }
}

pub fn options(link: LinkOptions, data_width: u32) -> PcieDriveOptions {
    PcieDriveOptions { bus_base: BUS_BASE, ..PcieDriveOptions::new(link, data_width) }
}

pub fn host(profile: Profile, drive: DriveOptions, options: PcieDriveOptions) -> Host {
    Host::new(PcieDrive::from_profile(profile, drive, options).expect("a drive"))
}

pub fn unlimited(options: PcieDriveOptions) -> Host {
    host(unlimited_profile(), keep_data(), options)
}

/// After everything: the drive found nothing wrong, and asked for nothing wrong.
pub fn check(host: &Host) {
    assert_eq!(host.far.violations(), [] as [String; 0]);
    let counters = host.far.counters();
    assert_eq!((counters.refused_requests, counters.malformed_packets), (0, 0));
}

pub fn pattern(seed: u64, bytes: u64) -> Vec<u8> {
    let mut data = vec![0; bytes as usize];
    Rng::new(seed).fill(&mut data);
    data
}

/// Writes `count` chunks with `depth` in flight, reads them back, and compares.
pub fn write_and_read(host: &mut Host, count: u64, depth: u64, bytes: u64) {
    let blocks = bytes / host.block_bytes;
    for is_read in [false, true] {
        let queue = 1 + usize::from(is_read);
        let (mut begun, mut ended) = (0, 0);
        let mut in_slot = vec![None; depth as usize];
        while ended < count {
            while begun < count
                && let Some(slot) = in_slot.iter().position(Option::is_none)
            {
                in_slot[slot] = Some(begun);
                if !is_read {
                    let at = slot_address(false, slot as u16);
                    host.core.memory.write(at, &pattern(begun, bytes));
                }
                host.put_io(is_read, slot as u16, begun * blocks, bytes);
                begun += 1;
            }
            host.ring(queue);
            let mut entry = host.next_completion(queue, 3_000_000);
            assert!(entry.is_some(), "no completion of {ended} of {count}, read: {is_read}");
            while let Some(done) = entry {
                assert!(done.status().is_success(), "{:?}", done.status());
                let chunk = in_slot[usize::from(done.cid())].take().expect("a slot in use");
                if is_read {
                    let mut data = vec![0; bytes as usize];
                    host.core.memory.read(slot_address(true, done.cid()), &mut data);
                    assert!(data == pattern(chunk, bytes), "chunk {chunk}");
                }
                ended += 1;
                entry = host.poll(queue);
            }
            host.acknowledge(queue);
        }
    }
}
