//! The PCIe function over a vfio-user socket with shared memory.

use crate::support;

use std::os::unix::fs::FileExt;

use assay_serve::Pace;
use assay_serve::vfio::{MAX_QUEUE_PAIRS, round_trip};
use assay_units::Nanos;
use support::small_profile;
use support::vfio_driver::{BAR, BASE, DATA, MEMORY_BYTES, VfioDriver, function};
use vfio_bindings::bindings::vfio::{VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX};

#[test]
fn a_driver_finds_and_uses_an_nvme_drive() {
    let function = function("seed=5", Pace::Real);
    let mut driver = VfioDriver::new(&function);
    let mut config = [0; 64];
    let region = VFIO_PCI_CONFIG_REGION_INDEX;
    driver.client.region_read(region, 0, &mut config).unwrap();
    assert_eq!(config[9..12], [0x02, 0x08, 0x01], "an NVMe controller");
    let table = driver.client.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX).unwrap();
    assert!(table.count > 1 && table.count <= u32::from(MAX_QUEUE_PAIRS) + 1);
    for _ in 0..2 {
        let mut admin = driver.enable();
        // Identify Controller: the serial number.
        assert_eq!(driver.command(&mut admin, 0x06, 0, BASE + DATA, 0, [1, 0, 0]), 0);
        let mut serial = [0; 20];
        driver.memory.read_exact_at(&mut serial, DATA + 4).unwrap();
        assert_eq!(&serial, b"SIM-SAMSUNG-951-5   ");
        let mut queue = driver.io_queue(&mut admin);
        for (n, len) in [(0_u8, 4096), (1, 8192), (2, 65536), (3, 512)] {
            let bytes = vec![n + 1; len as usize];
            driver.memory.write_all_at(&bytes, DATA).unwrap();
            assert_eq!(driver.transfer(&mut queue, 0x01, u64::from(n) << 20, len), 0);
            driver.memory.write_all_at(&vec![0; len as usize], DATA).unwrap();
            assert_eq!(driver.transfer(&mut queue, 0x02, u64::from(n) << 20, len), 0);
            let mut seen = vec![0; len as usize];
            driver.memory.read_exact_at(&mut seen, DATA).unwrap();
            assert_eq!(seen, bytes);
        }
        // Beyond the end; unmapped memory; unknown opcode.
        assert_eq!(driver.transfer(&mut queue, 0x02, 1 << 40, 4096), 0x80);
        let missing = BASE + MEMORY_BYTES;
        assert_ne!(driver.command(&mut queue, 0x02, 1, missing, 0, [0, 0, 0]), 0);
        assert_eq!(driver.command(&mut queue, 0x7f, 1, 0, 0, [0, 0, 0]), 0x01);
        // A function can be enabled again after a reset.
        driver.client.reset().unwrap();
        assert_eq!(driver.read32(0x14) & 1, 0);
    }
    // Arbitrary register values, and offsets without a register.
    for offset in (0..0x4000).step_by(52) {
        driver.write32(offset, 0xffff_ffff);
        driver.read32(offset);
    }
    driver.client.region_write(BAR, 0x3fff, &[1]).unwrap();
    driver.client.region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0xf0, &[7; 32]).unwrap();
    for offset in [0x4000, u64::MAX - 3, u64::MAX] {
        for region in [BAR, VFIO_PCI_CONFIG_REGION_INDEX, 3] {
            driver.client.region_write(region, offset, &[7; 16]).unwrap();
            let mut bytes = [9; 16];
            driver.client.region_read(region, offset, &mut bytes).unwrap();
            assert_eq!(bytes, [0; 16]);
        }
    }
    driver.client.reset().unwrap();
    let mut admin = driver.enable();
    assert_eq!(driver.command(&mut admin, 0x06, 0, BASE + DATA, 0, [1, 0, 0]), 0);
    function.stop();
}

#[test]
fn round_trip_overhead_is_measured() {
    for pace in [Pace::Real, Pace::Free] {
        let overhead =
            round_trip::measure(&small_profile(), pace).expect("a second drive, a socket, threads");
        assert!(
            overhead.p50_ns > 0 && overhead.p99_ns >= overhead.p50_ns,
            "{pace:?}: {overhead:?}"
        );
    }
}

#[test]
fn completions_are_never_ahead_of_the_model() {
    let function = function("fault=latency-spike@2=40ms", Pace::Real);
    let mut driver = VfioDriver::new(&function);
    let mut admin = driver.enable();
    let mut queue = driver.io_queue(&mut admin);
    let clock = assay_io::clock::Clock::monotonic();
    for n in 1..=3 {
        let before = clock.now();
        assert_eq!(driver.transfer(&mut queue, 0x02, n << 16, 4096), 0);
        let took = clock.now() - before;
        // A sense of this flash takes tens of microseconds.
        let least = if n == 2 { Nanos::from_millis(40) } else { Nanos::from_micros(20) };
        assert!(took >= least, "read {n}: {took:?}");
    }
    // At least the three reads.
    let late = function.lateness();
    assert!(late.count >= 3 && late.mean_ns() > 0, "{late:?}");
    assert!(late.max_ns >= late.mean_ns(), "{late:?}");
    function.stop();
}

#[test]
fn no_lateness_at_free_pace() {
    let function = function("seed=5", Pace::Free);
    let mut driver = VfioDriver::new(&function);
    let mut admin = driver.enable();
    let mut queue = driver.io_queue(&mut admin);
    assert_eq!(driver.transfer(&mut queue, 0x02, 0, 4096), 0);
    assert_eq!(function.lateness().count, 0);
    function.stop();
}
