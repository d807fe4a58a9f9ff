//! I/O commands: data integrity, statuses of invalid commands, faults.

use crate::support;

use assay_nvme_ctrl::HostMemory;
use assay_nvme_spec::data_pointer::{SglDescriptor, SglType};
use assay_nvme_spec::feature::FeatureId;
use assay_nvme_spec::log::{LogId, error_entries};
use assay_nvme_spec::nvm::{
    Compare, DatasetManagement, DatasetRange, Flush, Read, Verify, Write, WriteZeroes,
};
use assay_nvme_spec::opcode::NvmOpcode;
use assay_nvme_spec::register;
use assay_nvme_spec::{StatusCode, SubmissionEntry};
use assay_units::Nanos;
use support::{BASE, PAGE, TestDriver};

fn with_data() -> TestDriver {
    TestDriver::new("samsung-951", &[("data", "keep"), ("state", "fresh")])
}

/// Bytes that depend on their position.
fn pattern(len: usize, seed: u64) -> Vec<u8> {
    (0..len as u64).map(|n| ((n * 31 + seed * 97) >> 3) as u8 ^ n as u8).collect()
}

fn ranges(driver: &mut TestDriver, list: &[(u64, u32)]) -> u64 {
    let at = driver.pages(PAGE);
    for (n, &(slba, blocks)) in (0..).zip(list) {
        let mut range = DatasetRange::default();
        range.set_slba(slba).set_blocks(blocks);
        driver.memory.write(at + n * 16, range.as_bytes()).expect("mapped memory");
    }
    at
}

#[test]
fn reads_return_written_data_of_all_lengths() {
    let mut driver = with_data();
    for (n, blocks) in [1, 3, 8, 9, 16, 17, 64, 255, 256].into_iter().enumerate() {
        let bytes = pattern(blocks * 512, n as u64);
        let slba = 1000 * n as u64 + n as u64;
        assert_eq!(driver.write(slba, &bytes).status(), StatusCode::SUCCESS, "{blocks} blocks");
        assert_eq!(
            driver.read(slba, blocks as u32),
            (StatusCode::SUCCESS, bytes),
            "{blocks} blocks"
        );
    }
    let (status, bytes) = driver.read(500, 8);
    assert_eq!((status, bytes), (StatusCode::SUCCESS, vec![0; 4096]), "fresh media");
}

#[test]
fn prps_and_sgls_transfer_the_same_data() {
    let mut driver = with_data();
    let bytes = pattern(5 * 4096, 3);
    let at = driver.pages(8 * PAGE) + 0x204;
    driver.memory.write(at, &bytes).expect("mapped memory");
    // Offset in the first page; the PRP list begins in the last but one entry of its page.
    let lists = driver.pages(2 * PAGE);
    let mut slot = lists + PAGE - 16;
    let pages: Vec<u64> = (1..6).map(|n| (at & !0xfff) + n * PAGE).collect();
    driver.memory.write(slot, &pages[0].to_le_bytes()).expect("mapped memory");
    slot += 8;
    driver.memory.write(slot, &(lists + PAGE).to_le_bytes()).expect("mapped memory");
    for (n, page) in (0..).zip(&pages[1..]) {
        driver.memory.write(lists + PAGE + n * 8, &page.to_le_bytes()).expect("mapped memory");
    }
    let mut write = Write::for_blocks(1, 40, 40).entry();
    write.set_prps(at, lists + PAGE - 16);
    assert_eq!(driver.run(1, write).status(), StatusCode::SUCCESS);
    assert_eq!(driver.read(40, 40).1, bytes);
    // Read by an SGL with a Bit Bucket in the middle.
    let out = driver.pages(8 * PAGE);
    let segment = driver.pages(PAGE);
    let list = [
        SglDescriptor::new(SglType::DATA_BLOCK, out + 1, 5000),
        SglDescriptor::new(SglType::BIT_BUCKET, 0, 1000),
        SglDescriptor::new(SglType::DATA_BLOCK, out + 6001, 14_480),
    ];
    for (n, descriptor) in (0..).zip(list) {
        driver.memory.write(segment + n * 16, descriptor.as_bytes()).expect("mapped memory");
    }
    let mut read = Read::for_blocks(1, 40, 40).entry();
    read.set_sgl1(SglDescriptor::new(SglType::LAST_SEGMENT, segment, 48));
    assert_eq!(driver.run(1, read).status(), StatusCode::SUCCESS);
    let back = driver.bytes(out + 1, 20_480);
    assert_eq!(back[..5000], bytes[..5000]);
    assert_eq!(back[5000..6000], [0; 1000]);
    assert_eq!(back[6000..], bytes[6000..]);
    read.set_sgl1(SglDescriptor::new(SglType::KEYED_DATA_BLOCK, out, 20_480));
    assert_eq!(driver.run(1, read).status(), StatusCode::INVALID_SGL_TYPE);
}

#[test]
fn invalid_commands_have_their_status_and_are_logged() {
    let mut driver = with_data();
    let at = driver.pages(64 * PAGE);
    let blocks = driver.namespace_data().size_blocks();
    let good = |slba, count| {
        let mut entry = Read::for_blocks(1, slba, count).entry();
        entry.set_prps(at, at + PAGE);
        entry
    };
    let with = |change: &dyn Fn(&mut SubmissionEntry)| {
        let mut entry = good(0, 8);
        change(&mut entry);
        entry
    };
    let cases = [
        (with(&|entry| _ = entry.set_nsid(0)), StatusCode::INVALID_NAMESPACE),
        (with(&|entry| _ = entry.set_nsid(2)), StatusCode::INVALID_NAMESPACE),
        (with(&|entry| _ = entry.set_nsid(0xffff_ffff)), StatusCode::INVALID_NAMESPACE),
        (with(&|entry| _ = entry.set_fused(1)), StatusCode::INVALID_FIELD),
        (with(&|entry| _ = entry.set_psdt(3)), StatusCode::INVALID_FIELD),
        (with(&|entry| _ = entry.set_opcode(0x7f)), StatusCode::INVALID_OPCODE),
        (with(&|entry| _ = entry.set_opcode(NvmOpcode::COPY.0)), StatusCode::INVALID_OPCODE),
        (with(&|entry| _ = entry.set_prps(at + 1, 0)), StatusCode::INVALID_PRP_OFFSET),
        (with(&|entry| _ = entry.set_prps(0, 0)), StatusCode::DATA_TRANSFER_ERROR),
        (with(&|entry| _ = entry.set_prps(at + 512, 8)), StatusCode::INVALID_PRP_OFFSET),
        (good(blocks - 7, 8), StatusCode::LBA_OUT_OF_RANGE),
        (good(u64::MAX - 3, 8), StatusCode::LBA_OUT_OF_RANGE),
        (good(0, 257), StatusCode::INVALID_FIELD),
        (good(blocks - 8, 8), StatusCode::SUCCESS),
    ];
    let mut failed = 0;
    for (entry, status) in cases {
        let done = driver.run(1, entry);
        assert_eq!(done.status(), status, "{entry:?}");
        if status.is_success() {
            continue;
        }
        failed += 1;
        assert_eq!(done.do_not_retry(), status != StatusCode::DATA_TRANSFER_ERROR);
        let log = driver.log(LogId::ERROR, 4096);
        let errors: Vec<_> = error_entries(&log).collect();
        assert_eq!(errors.len(), failed);
        let latest = errors[0];
        assert_eq!((latest.status(), latest.sqid(), latest.cid()), (status, 1, done.cid()));
        assert_eq!(latest.error_count(), failed as u64);
        assert_eq!(latest.opcode(), entry.opcode());
    }
}

#[test]
fn compare_and_verify() {
    let mut driver = with_data();
    let bytes = pattern(8192, 9);
    driver.write(64, &bytes);
    let at = driver.pages(2 * PAGE);
    driver.memory.write(at, &bytes).expect("mapped memory");
    let mut compare = Compare::for_blocks(1, 64, 16).entry();
    compare.set_prps(at, at + PAGE);
    assert_eq!(driver.run(1, compare).status(), StatusCode::SUCCESS);
    driver.memory.write(at + 8191, &[bytes[8191] ^ 1]).expect("mapped memory");
    assert_eq!(driver.run(1, compare).status(), StatusCode::COMPARE_FAILURE);
    assert_eq!(driver.run(1, Verify::for_blocks(1, 64, 16).entry()).status(), StatusCode::SUCCESS);
    assert_eq!(
        driver.run(1, Verify::for_blocks(1, 64, 257).entry()).status(),
        StatusCode::INVALID_FIELD
    );
    let telemetry = driver.controller.drive_mut().telemetry(Nanos::ZERO);
    assert_eq!(
        (telemetry.host_reads, telemetry.host_bytes_read),
        (2, 3 * 8192),
        "both compares count as read commands, the verify only as data read"
    );
    let mut driver = TestDriver::new("samsung-951", &[]);
    assert_eq!(
        driver.run(1, compare).status(),
        StatusCode::INVALID_OPCODE,
        "no stored data to compare with"
    );
    assert_eq!(driver.controller_data().oncs() & 1, 0);
}

/// Concurrent verifies are not limited by the link, and report the same errors as reads.
#[test]
fn verify_does_not_use_the_link() {
    const BLOCKS: u32 = 256;
    let spans = [false, true].map(|verify| {
        // One lane of the oldest generation.
        let mut profile = assay_ssd::Profile::builtin("samsung-951").expect("a profile");
        (profile.link.lanes.value, profile.link.generation.value) = (1, 1);
        let drive = assay_ssd::Drive::new(profile, Default::default()).expect("a drive");
        let mut driver = TestDriver::powered_on(drive);
        driver.enable();
        driver.set_queues(1);
        driver.create_pair(1, 64);
        let len = u64::from(BLOCKS) * 512;
        let at = driver.pages(len);
        let prps = driver.prps(at, len);
        let from = driver.now;
        let cids: Vec<u16> = (0..32)
            .map(|n| {
                let slba = n * 4096 * u64::from(BLOCKS);
                let mut entry = Read::for_blocks(1, slba, BLOCKS).entry();
                entry.set_prps(prps.0, prps.1);
                if verify {
                    entry = Verify::for_blocks(1, slba, BLOCKS).entry();
                }
                driver.put(1, entry)
            })
            .collect();
        driver.ring(1);
        let mut done = 0;
        while done < cids.len() {
            assert!(driver.next_event());
            done += driver.poll(1).len();
        }
        driver.now - from
    });
    let [read, verified] = spans;
    // 4 MiB over 250 MB/s less packets' heads are some 18 ms.
    assert!(read > Nanos::from_millis(17), "{read}");
    assert!(verified < Nanos(read.0 / 2), "{verified} of {read}");
    let mut driver = TestDriver::new("samsung-951", &[("fault", "media-error@1m+4k")]);
    let found = driver.run(1, Verify::for_blocks(1, 2048, 8).entry()).status();
    assert_eq!(found, StatusCode::UNRECOVERED_READ_ERROR);
    let fine = driver.run(1, Verify::for_blocks(1, 4096, 8).entry()).status();
    assert_eq!(fine, StatusCode::SUCCESS);
}

#[test]
fn write_zeroes_and_deallocate_clear_data() {
    let mut driver = with_data();
    let bytes = pattern(128 * 512, 5);
    driver.write(0, &bytes);
    let mut expected = bytes.clone();
    assert_eq!(
        driver.run(1, WriteZeroes::for_blocks(1, 3, 20).entry()).status(),
        StatusCode::SUCCESS
    );
    expected[3 * 512..23 * 512].fill(0);
    assert_eq!(driver.read(0, 128).1, expected);
    let mut dataset = DatasetManagement::new();
    dataset.set_nsid(1).set_ranges(2).set_deallocate(true);
    let list = ranges(&mut driver, &[(40, 8), (0, 0), (64, 32)]);
    let mut entry = dataset.entry();
    entry.set_prps(list, 0);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
    expected[40 * 512..48 * 512].fill(0);
    expected[64 * 512..96 * 512].fill(0);
    assert_eq!(driver.read(0, 128).1, expected);
    // Other attributes have no effect; a command with a range beyond the end has none at all.
    let blocks = driver.namespace_data().size_blocks();
    let list = ranges(&mut driver, &[(0, 8), (blocks, 1)]);
    entry.set_prps(list, 0).set_cdw10(1);
    assert_eq!(driver.run(1, entry).status(), StatusCode::LBA_OUT_OF_RANGE);
    entry.set_cdw10(0).set_cdw11(1);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
    assert_eq!(driver.read(0, 128).1, expected);
    // The whole drive, in ranges longer than one deallocation of the model.
    let list =
        ranges(&mut driver, &[(0, blocks as u32 / 2), (blocks / 2, (blocks - blocks / 2) as u32)]);
    entry.set_prps(list, 0).set_cdw10(1).set_cdw11(4);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
    assert_eq!(driver.read(0, 128).1, vec![0; 128 * 512]);
    let mut empty = dataset;
    empty.set_ranges(0);
    let list = ranges(&mut driver, &[(0, 0)]);
    let mut entry = empty.entry();
    entry.set_prps(list, 0);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
}

/// Writes with FUA or without a write cache survive a loss of power at once.
#[test]
fn fua_and_a_disabled_cache_survive_a_loss_of_power() {
    for (fua, cache, flush, survives) in [
        (false, true, false, false),
        (true, true, false, true),
        (false, false, false, true),
        (false, true, true, true),
    ] {
        let mut driver = with_data();
        driver.set_feature(FeatureId::VOLATILE_WRITE_CACHE, u32::from(cache));
        assert_eq!(
            driver.get_feature(FeatureId::VOLATILE_WRITE_CACHE, 0, 0).dw0(),
            u32::from(cache)
        );
        let at = driver.pages(PAGE);
        driver.memory.write(at, &[9; 4096]).expect("mapped memory");
        let mut write = Write::for_blocks(1, 0, 8);
        write.set_fua(fua);
        let mut entry = write.entry();
        entry.set_prps(at, 0);
        assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
        if flush {
            let mut flush = Flush::new();
            flush.set_nsid(0xffff_ffff);
            assert_eq!(driver.run(1, flush.entry()).status(), StatusCode::SUCCESS);
        }
        let now = driver.now;
        driver.controller.drive_mut().power_loss(now);
        let kept = driver.read(0, 8).1 == [9; 4096];
        assert_eq!(kept, survives, "fua {fua}, cache {cache}, flush {flush}");
    }
}

#[test]
fn injected_faults_have_their_statuses() {
    let mut driver = TestDriver::new(
        "samsung-951",
        &[
            ("data", "keep"),
            ("fault", "read-error@2"),
            ("fault", "write-error@1"),
            ("fault", "media-error@1m+4k"),
            ("fault", "corrupt-write@3"),
        ],
    );
    assert_eq!(driver.write(0, &[1; 4096]).status(), StatusCode::WRITE_FAULT);
    assert_eq!(driver.write(0, &[2; 4096]).status(), StatusCode::SUCCESS);
    assert_eq!(driver.read(0, 8), (StatusCode::SUCCESS, vec![2; 4096]));
    let (status, bytes) = driver.read(0, 8);
    assert_eq!(
        (status, bytes),
        (StatusCode::UNRECOVERED_READ_ERROR, vec![0; 4096]),
        "no data with an error"
    );
    assert_eq!(
        driver.run(1, Verify::for_blocks(1, 2048, 8).entry()).status(),
        StatusCode::UNRECOVERED_READ_ERROR
    );
    assert_eq!(driver.write(16, &[4; 4096]).status(), StatusCode::SUCCESS);
    assert_ne!(driver.read(16, 8).1, vec![4; 4096], "one bit is corrupted");
    let smart = assay_nvme_spec::log::SmartLog::read_from(&driver.log(LogId::SMART, 512)).unwrap();
    assert_eq!((smart.media_errors(), smart.error_entries()), (3, 3));
    let lbas: Vec<_> =
        error_entries(&driver.log(LogId::ERROR, 512)).map(|error| error.lba()).collect();
    assert_eq!(lbas, [2048, 0, 0]);
}

#[test]
fn a_loss_of_power_aborts_commands_and_a_removed_drive_completes_none() {
    let mut driver = TestDriver::new(
        "samsung-951",
        &[("data", "keep"), ("fault", "power-loss@3"), ("fault", "surprise-removal@5")],
    );
    let at = driver.pages(PAGE);
    let mut entry = Read::for_blocks(1, 0, 8).entry();
    entry.set_prps(at, 0);
    let first = driver.put(1, entry);
    let second = driver.put(1, entry);
    let third = driver.put(1, entry);
    driver.ring(1);
    let statuses = [first, second, third].map(|cid| {
        let other = driver.others.iter().position(|other| other.cid() == cid);
        match other {
            Some(at) => driver.others.remove(at).status(),
            None => driver.wait(1, cid).status(),
        }
    });
    assert_eq!(statuses, [StatusCode::POWER_LOSS, StatusCode::POWER_LOSS, StatusCode::SUCCESS]);
    assert_eq!(driver.run(1, entry).status(), StatusCode::SUCCESS);
    driver.put(1, entry);
    driver.ring(1);
    driver.advance_to(driver.now + Nanos::from_secs(10));
    assert_eq!(driver.poll(1).len(), 0);
    assert_eq!(driver.read32(register::CSTS), 0xffff_ffff);
    assert_eq!(driver.controller.read_register(register::CAP, 8), u64::MAX);
    assert_eq!(driver.controller.next_event(), None);
    driver.write32(register::CC, 0);
    assert_eq!(driver.controller.read_register(register::CC, 1), 0xff);
}

#[test]
fn completions_are_at_the_model_times() {
    let mut driver = TestDriver::new("samsung-951", &[]);
    let mut model = support::drive("samsung-951", &[]);
    let at = driver.pages(PAGE);
    for n in 0..50_u64 {
        let mut entry = Read::for_blocks(1, n * 77_777, 8).entry();
        entry.set_prps(at, 0);
        let start = driver.now;
        driver.run(1, entry);
        let mut out = Vec::new();
        model.submit(
            start,
            assay_ssd::Command {
                tag: 0,
                queue: 0,
                op: assay_units::Op::Read,
                offset_bytes: n * 77_777 * 512,
                len_bytes: 4096,
                data: assay_units::DataClass::Incompressible,
                fua: false,
            },
        );
        model.advance(Nanos(u64::MAX - 1), &mut out);
        assert_eq!(driver.now, out[0].at);
    }
    assert!(driver.raised.contains(1) && at > BASE);
}
