//! One command trace on equal drives: the model itself, behind an NVMe controller, over NBD,
//! over vfio-user and over NVMe/TCP. All must end in the same state: map, counters and data.

use crate::support;

use assay_serve::Pace;
use assay_units::Nanos;
use support::tcp_host::{TcpAccess, TcpServer};
use support::trace::{ControllerAccess, DirectAccess, content, replay, trace};
use support::vfio_driver::{VfioUserAccess, function};
use support::{TestServer, small_flash};

const CAPACITY_BYTES: u64 = 28 << 20;

#[test]
fn a_trace_leaves_the_same_drive_over_every_access_path() {
    for (seed, structured) in [(1, true), (2, false)] {
        let options = format!("seed={seed}");
        let ops = trace(seed, CAPACITY_BYTES / 512, 4000);
        let mut direct = DirectAccess::new(small_flash(&options));
        let fresh = direct.drive.digest();
        let reads = replay(&mut direct, &ops);
        let bytes = content(&mut direct, CAPACITY_BYTES);
        let expected = direct.drive.digest();
        assert_ne!(expected.flash, fresh.flash);
        assert_ne!(expected.data, fresh.data);
        assert_ne!(expected.host, fresh.host);
        let reported = direct.drive.telemetry(Nanos::ZERO);
        assert!(reported.relocated_bytes > 0, "garbage was collected");

        let mut inside = ControllerAccess::new(small_flash(&options));
        assert!(replay(&mut inside, &ops) == reads, "controller, seed {seed}: reads");
        let seen = content(&mut inside, CAPACITY_BYTES);
        assert!(seen == bytes, "controller, seed {seed}: content");
        let digest = inside.0.transport.controller.drive_mut().digest();
        assert_eq!(digest, expected, "controller, seed {seed}");

        let served = TestServer::new(small_flash(&options), Pace::Free);
        let mut client = served.client(structured);
        assert!(replay(&mut client, &ops) == reads, "NBD, seed {seed}: reads");
        let seen = content(&mut client, CAPACITY_BYTES);
        assert!(seen == bytes, "NBD, seed {seed}: content");
        assert_eq!(served.end().0.digest(), expected, "NBD, seed {seed}");

        let function = function(&options, Pace::Free);
        let mut driver = VfioUserAccess::new(&function);
        assert!(replay(&mut driver, &ops) == reads, "vfio-user, seed {seed}: reads");
        let seen = content(&mut driver, CAPACITY_BYTES);
        assert!(seen == bytes, "vfio-user, seed {seed}: content");
        assert_eq!(function.digest(), expected, "vfio-user, seed {seed}");
        function.stop();

        let served = TcpServer::new(small_flash(&options), Pace::Free);
        let mut host = TcpAccess::new(served.host(served.identity(1), 3));
        assert!(replay(&mut host, &ops) == reads, "NVMe/TCP, seed {seed}: reads");
        let seen = content(&mut host, CAPACITY_BYTES);
        assert!(seen == bytes, "NVMe/TCP, seed {seed}: content");
        drop(host);
        assert_eq!(served.end().0, expected, "NVMe/TCP, seed {seed}");

        // The digest does change with the drive.
        replay(&mut direct, &ops[..1]);
        assert_ne!(direct.drive.digest(), expected);
    }
}
