//! The drive as a PCI function, over a real socket and shared memory: what a host finds there and gets from it.
#![allow(
    clippy::unwrap_used,
    reason = "a test whose world cannot be set up stops right there"
)]

mod lab;

use std::os::unix::fs::FileExt;

use assay_serve::Pace;
use assay_serve::vfio::{MAX_QUEUE_PAIRS, floor};
use assay_units::Nanos;
use lab::host::{BAR, BASE, DATA, Host, MEMORY_BYTES, function};
use lab::small_profile;
use vfio_bindings::bindings::vfio::{VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX};

#[test]
fn a_host_finds_and_uses_an_nvme_drive() {
    let function = function("seed=5", Pace::Real);
    let mut host = Host::new(&function);
    let mut config = [0; 64];
    let region = VFIO_PCI_CONFIG_REGION_INDEX;
    host.client.region_read(region, 0, &mut config).unwrap();
    assert_eq!(config[9..12], [0x02, 0x08, 0x01], "an NVMe controller");
    let table = host.client.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX).unwrap();
    assert!(table.count > 1 && table.count <= u32::from(MAX_QUEUE_PAIRS) + 1);
    for _ in 0..2 {
        let mut admin = host.enable();
        // Identify Controller: the serial number.
        assert_eq!(host.ask(&mut admin, 0x06, 0, BASE + DATA, 0, [1, 0, 0]), 0);
        let mut serial = [0; 20];
        host.memory.read_exact_at(&mut serial, DATA + 4).unwrap();
        assert_eq!(&serial, b"SIM-SAMSUNG-951-5   ");
        let mut queue = host.io_queue(&mut admin);
        for (n, len) in [(0_u8, 4096), (1, 8192), (2, 65536), (3, 512)] {
            let bytes = vec![n + 1; len as usize];
            host.memory.write_all_at(&bytes, DATA).unwrap();
            assert_eq!(host.transfer(&mut queue, 0x01, u64::from(n) << 20, len), 0);
            host.memory
                .write_all_at(&vec![0; len as usize], DATA)
                .unwrap();
            assert_eq!(host.transfer(&mut queue, 0x02, u64::from(n) << 20, len), 0);
            let mut seen = vec![0; len as usize];
            host.memory.read_exact_at(&mut seen, DATA).unwrap();
            assert_eq!(seen, bytes);
        }
        // Beyond the end; memory that is not there; no such command.
        assert_eq!(host.transfer(&mut queue, 0x02, 1 << 40, 4096), 0x80);
        let missing = BASE + MEMORY_BYTES;
        assert_ne!(host.ask(&mut queue, 0x02, 1, missing, 0, [0, 0, 0]), 0);
        assert_eq!(host.ask(&mut queue, 0x7f, 1, 0, 0, [0, 0, 0]), 0x01);
        // A function that was reset can be switched on again.
        host.client.reset().unwrap();
        assert_eq!(host.read32(0x14) & 1, 0);
    }
    // Nonsense in the registers, and places where there are none.
    for offset in (0..0x4000).step_by(52) {
        host.write32(offset, 0xffff_ffff);
        host.read32(offset);
    }
    host.client.region_write(BAR, 0x3fff, &[1]).unwrap();
    host.client
        .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0xf0, &[7; 32])
        .unwrap();
    for offset in [0x4000, u64::MAX - 3, u64::MAX] {
        for region in [BAR, VFIO_PCI_CONFIG_REGION_INDEX, 3] {
            host.client.region_write(region, offset, &[7; 16]).unwrap();
            let mut bytes = [9; 16];
            host.client.region_read(region, offset, &mut bytes).unwrap();
            assert_eq!(bytes, [0; 16]);
        }
    }
    host.client.reset().unwrap();
    let mut admin = host.enable();
    assert_eq!(host.ask(&mut admin, 0x06, 0, BASE + DATA, 0, [1, 0, 0]), 0);
    function.stop();
}

#[test]
fn the_floor_is_measured() {
    for pace in [Pace::Real, Pace::Free] {
        let floor =
            floor::measure(&small_profile(), pace).expect("a second drive, a socket, threads");
        assert!(
            floor.p50_ns > 0 && floor.p99_ns >= floor.p50_ns,
            "{pace:?}: {floor:?}"
        );
    }
}

#[test]
fn completions_are_never_ahead_of_the_model() {
    let function = function("fault=latency-spike@2=40ms", Pace::Real);
    let mut host = Host::new(&function);
    let mut admin = host.enable();
    let mut queue = host.io_queue(&mut admin);
    let clock = assay_io::clock::Clock::monotonic();
    for n in 1..=3 {
        let before = clock.now();
        assert_eq!(host.transfer(&mut queue, 0x02, n << 16, 4096), 0);
        let took = clock.now() - before;
        // A sense of this flash takes tens of microseconds.
        let least = if n == 2 {
            Nanos::from_millis(40)
        } else {
            Nanos::from_micros(20)
        };
        assert!(took >= least, "read {n}: {took:?}");
    }
    // Three reads at the least, and the clock has nanoseconds.
    let late = function.lateness();
    assert!(late.count >= 3 && late.mean_ns() > 0, "{late:?}");
    assert!(late.max_ns >= late.mean_ns(), "{late:?}");
    function.stop();
}

#[test]
fn nothing_is_late_where_time_runs_free() {
    let function = function("seed=5", Pace::Free);
    let mut host = Host::new(&function);
    let mut admin = host.enable();
    let mut queue = host.io_queue(&mut admin);
    assert_eq!(host.transfer(&mut queue, 0x02, 0, 4096), 0);
    assert_eq!(function.lateness().count, 0);
    function.stop();
}
