//! The drive behind a core's side in software: bring-up, data, rates.

use assay_cosim::pcie_drive::{LinkOptions, PcieDriveOptions};
use assay_nvme_spec::register;
use assay_ssd::{Command, Drive, DriveOptions, Profile};
use assay_units::{DataClass, Nanos, Op};

use crate::core_side;
use crate::host;
use crate::setup;

use core_side::BarState;
use host::{BAR, ECAM, ENDPOINT, Host};
use setup::{CHUNK, check, host, keep_data, options, unlimited, write_and_read};

#[test]
fn a_host_brings_the_drive_up_and_finds_its_data_again() {
    let links = [
        LinkOptions::new(3, 4),
        LinkOptions::new(1, 1),
        LinkOptions {
            combine_completions: true,
            error_responses: true,
            read_completion_bytes: 64,
            tags: 32,
            ..LinkOptions::new(5, 4)
        },
        LinkOptions::unlimited(),
    ];
    for (link, data_width) in links.into_iter().flat_map(|link| [128, 256, 512].map(|w| (link, w)))
    {
        let mut host = unlimited(options(link, data_width));
        host.bring_up();
        assert_eq!(host.block_bytes, 512);
        let bytes = if link.lanes == 1 { 16 << 10 } else { CHUNK };
        for (count, depth, bytes) in [(3, 2, bytes), (20, 8, 4096), (9, 4, 8192), (70, 32, 12288)] {
            write_and_read(&mut host, count, depth, bytes);
        }
        host.core.max_write_bytes = 256;
        let drive = host.far.counters().drive;
        assert_eq!((drive.io_completions, drive.commands), (204, 204 + 7));
        check(&host);
    }
}

#[test]
fn random_back_pressure_changes_nothing_but_the_time() {
    for (seed, percent, stall) in [(1, 10, 0), (2, 50, 30), (3, 90, 0), (4, 30, 70)] {
        for data_width in [128, 512] {
            let link = LinkOptions {
                combine_completions: true,
                outstanding_writes: 3,
                ..LinkOptions::unlimited()
            };
            let options = PcieDriveOptions {
                seed,
                back_pressure_percent: percent,
                ..options(link, data_width)
            };
            let mut host = unlimited(options);
            host.core.stall_percent = stall;
            host.bring_up();
            write_and_read(&mut host, 12, 8, 4096);
            write_and_read(&mut host, 4, 4, 64 << 10);
            check(&host);
        }
    }
}

#[test]
fn calibrated_drives_work_behind_the_link() {
    for name in ["mle-brief-960gb", "samsung-951"] {
        let profile = Profile::builtin(name).unwrap();
        let link = LinkOptions::from_profile(&profile.link);
        let mut host = host(profile, keep_data(), options(link, 128));
        host.skips = true;
        host.bring_up();
        write_and_read(&mut host, 12, 4, CHUNK);
        check(&host);
    }
}

/// Bytes per second of `count` commands of 128 KiB at depth 16, without the first ones.
fn rate(host: &mut Host, is_read: bool, count: u64) -> f64 {
    let (queue, mut begun, mut ended, mut start) = (1 + usize::from(is_read), 0, 0, 0);
    let warm_up = 16;
    while ended < count {
        let mut rings = false;
        while begun < count && begun - ended < 16 {
            host.put_io(is_read, (begun % 32) as u16, begun * 256, CHUNK);
            begun += 1;
            rings = true;
        }
        if rings {
            host.ring(queue);
        }
        host.next_completion(queue, 20_000_000).expect("a completion");
        ended += 1;
        if ended == warm_up {
            start = host.cycle;
        }
    }
    let seconds = (host.cycle - start) as f64 * 4e-9;
    ((count - warm_up) * CHUNK) as f64 / seconds
}

#[test]
fn rates_are_those_of_the_link() {
    for (link, data_width) in [
        (LinkOptions::new(3, 4), 128),
        (
            LinkOptions {
                endpoint_max_payload_bytes: 128,
                read_completion_bytes: 64,
                ..LinkOptions::new(3, 4)
            },
            128,
        ),
        (LinkOptions::new(2, 2), 128),
        (LinkOptions::new(4, 4), 256),
        (
            LinkOptions {
                root_max_payload_bytes: 512,
                endpoint_max_payload_bytes: 512,
                tags: 32,
                ..LinkOptions::new(5, 4)
            },
            512,
        ),
    ] {
        let payload = link.root_max_payload_bytes.min(link.endpoint_max_payload_bytes);
        let completion = payload.min(link.read_completion_bytes);
        for (is_read, packet) in [(false, completion), (true, payload)] {
            let mut host = unlimited(options(link, data_width));
            host.bring_up();
            let measured = rate(&mut host, is_read, 80);
            let expected = link.payload_bytes_per_second(packet) as f64;
            let ratio = measured / expected;
            println!(
                "{}.0 x{} {data_width} bits, read {is_read}: {:.1} MB/s, link {:.1} MB/s, \
                 {ratio:.4}",
                link.generation,
                link.lanes,
                measured / 1e6,
                expected / 1e6
            );
            assert!(
                (0.98..=1.002).contains(&ratio),
                "{link:?}, read {is_read}: {ratio:.4} of the link"
            );
            check(&host);
        }
    }
}

#[test]
fn an_unlimited_link_fills_the_bus() {
    for data_width in [128, 256, 512] {
        for is_read in [false, true] {
            let mut host = unlimited(options(LinkOptions::unlimited(), data_width));
            host.bring_up();
            let measured = rate(&mut host, is_read, 80);
            let bus = f64::from(data_width / 8) * 250e6;
            println!("{data_width} bits, read {is_read}: {:.4} of the bus", measured / bus);
            assert!(measured > 0.97 * bus, "{data_width}, read {is_read}: {:.4}", measured / bus);
        }
    }
}

#[test]
fn cycles_without_work_can_be_left_out() {
    let run = |skips| {
        let profile = Profile::builtin("mle-brief-960gb").unwrap();
        let link = LinkOptions::from_profile(&profile.link);
        let options = PcieDriveOptions { seed: 9, back_pressure_percent: 20, ..options(link, 128) };
        let mut host = host(profile, keep_data(), options);
        host.skips = skips;
        host.bring_up();
        write_and_read(&mut host, 6, 3, CHUNK);
        check(&host);
        (host.cycle, host.far.counters(), host.steps)
    };
    let (all, left_out) = (run(false), run(true));
    assert_eq!((all.0, all.1), (left_out.0, left_out.1));
    assert!(left_out.2 < all.2 / 2, "{} of {} cycles", left_out.2, all.2);
}

#[test]
fn the_endpoint_is_not_there_before_enumeration() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    assert_eq!(host.read(ENDPOINT), u32::MAX);
    assert_eq!(host.read(ECAM + 8) >> 8, 0x06_0400);
    host.write(ECAM + 0x18, 0x0001_0100);
    assert_eq!(host.read(ENDPOINT + 8) >> 8, 0x01_0802);
    assert_eq!(host.read(ENDPOINT + (1 << 15)), u32::MAX, "device 1");
    assert_eq!(host.read(ENDPOINT + (1 << 12)), u32::MAX, "function 1");
    // No window, no memory space.
    assert_eq!(host.read(BAR), u32::MAX);
    host.enumerate();
    assert_ne!(host.register(register::CAP), u32::MAX);
    host.write(ENDPOINT + 4, 4);
    assert_eq!(host.read(BAR), u32::MAX, "without memory space");
    let link_status = host.capability(ENDPOINT, 0x10).unwrap() + 0x10;
    assert_eq!(host.read(ENDPOINT + link_status) >> 16 & 0x3ff, 3 | 4 << 4);

    let link = LinkOptions { error_responses: true, ..LinkOptions::new(3, 4) };
    let mut host = unlimited(options(link, 128));
    assert_eq!(host.access(BarState::Read { address: ENDPOINT }), (u32::MAX, 3));
    assert_eq!(host.access(BarState::Read { address: BAR }), (u32::MAX, 3));
}

#[test]
fn the_drive_needs_bus_mastering_at_both_ends() {
    let mut host = unlimited(options(LinkOptions::new(3, 4), 128));
    host.bring_up();
    host.write(ENDPOINT + 4, 2);
    host.put_io(true, 0, 0, 4096);
    host.ring(2);
    host.wait(5000);
    assert!(
        host.core.read_bursts.iter().all(|burst| burst.address >> 12 != (1 << 27) + 4),
        "no fetch"
    );
    host.write(ENDPOINT + 4, 6);
    assert!(host.next_completion(2, 100_000).unwrap().status().is_success());
    check(&host);

    host.write(ECAM + 4, 2);
    host.put_io(true, 0, 0, 4096);
    host.ring(2);
    assert_eq!(host.next_completion(2, 20_000), None);
    assert!(host.far.counters().refused_requests > 0);
}

#[test]
fn payload_sizes_that_differ_break_the_link() {
    let link = LinkOptions::new(3, 4);
    let mut host = unlimited(options(link, 128));
    host.bring_up();
    // The root port sends completions of 256 bytes, the endpoint takes 128.
    let at = ENDPOINT + host.capability(ENDPOINT, 0x10).unwrap() + 8;
    host.write(at, 2 << 12);
    host.put_io(false, 0, 0, 4096);
    host.ring(1);
    assert_eq!(host.next_completion(1, 20_000), None);
    assert!(host.far.counters().malformed_packets > 0);
}

/// As [`rate`], of a drive with its own link.
fn rate_of_drive(profile: Profile, op: Op, count: u32) -> f64 {
    let mut drive = Drive::new(profile, DriveOptions::default()).expect("a drive");
    let (mut begun, mut ended, mut start, mut now) = (0, 0, 0, 2_000_000);
    let mut out = Vec::new();
    while ended < count {
        while begun < count && begun - ended < 16 {
            let command = Command {
                tag: begun,
                queue: 1,
                op,
                offset_bytes: u64::from(begun) * CHUNK,
                len_bytes: CHUNK as u32,
                data: DataClass::Incompressible,
                fua: false,
            };
            drive.submit(Nanos(now), command);
            begun += 1;
        }
        now = drive.next_event().expect("commands in flight").0;
        drive.advance(Nanos(now), &mut out);
        for completion in out.drain(..) {
            ended += 1;
            if ended == 16 {
                start = completion.at.0;
            }
        }
    }
    (u64::from(count - 16) * CHUNK) as f64 / (now - start) as f64 * 1e9
}

#[test]
fn a_calibrated_drive_is_as_fast_behind_the_link_as_with_its_own() {
    for name in ["mle-brief-960gb", "samsung-951", "intel-p4510"] {
        for is_read in [false, true] {
            let profile = Profile::builtin(name).unwrap();
            let op = if is_read { Op::Read } else { Op::Write };
            let alone = rate_of_drive(profile.clone(), op, 200);
            let link = LinkOptions::from_profile(&profile.link);
            let mut host = host(profile, DriveOptions::default(), options(link, 128));
            host.skips = true;
            host.bring_up();
            let behind = rate(&mut host, is_read, 200);
            let ratio = behind / alone;
            println!(
                "{name}, read {is_read}: {:.1} MB/s behind the link, {:.1} MB/s alone, {ratio:.4}",
                behind / 1e6,
                alone / 1e6
            );
            assert!((0.97..1.03).contains(&ratio), "{name}, read {is_read}: {ratio:.4}");
            check(&host);
        }
    }
}
