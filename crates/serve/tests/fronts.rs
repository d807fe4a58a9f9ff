//! One trace of commands on drives that are alike: the model itself and behind an NVMe controller in this process, over NBD and over vfio-user. The
//! drives must end alike, to the last entry of their maps and the last byte.
#![allow(
    clippy::unwrap_used,
    reason = "a test whose world cannot be set up stops right there"
)]

mod lab;

use assay_serve::Pace;
use assay_units::Nanos;
use lab::host::{Plugged, function};
use lab::trace::{Direct, Inside, content, play, trace};
use lab::{Served, small_flash};

const CAPACITY_BYTES: u64 = 28 << 20;

#[test]
fn a_trace_leaves_the_same_drive_by_every_way_to_it() {
    for (seed, structured) in [(1, true), (2, false)] {
        let options = format!("seed={seed}");
        let acts = trace(seed, CAPACITY_BYTES / 512, 4000);
        let mut direct = Direct::new(small_flash(&options));
        let fresh = direct.drive.digest();
        let reads = play(&mut direct, &acts);
        let bytes = content(&mut direct, CAPACITY_BYTES);
        let expected = direct.drive.digest();
        assert_ne!(expected.flash, fresh.flash);
        assert_ne!(expected.data, fresh.data);
        assert_ne!(expected.host, fresh.host);
        let told = direct.drive.telemetry(Nanos::ZERO);
        assert!(told.relocated_bytes > 0, "garbage was collected");

        let mut inside = Inside::new(small_flash(&options));
        assert!(
            play(&mut inside, &acts) == reads,
            "controller, seed {seed}: reads"
        );
        let seen = content(&mut inside, CAPACITY_BYTES);
        assert!(seen == bytes, "controller, seed {seed}: content");
        let digest = inside.0.transport().controller_mut().drive_mut().digest();
        assert_eq!(digest, expected, "controller, seed {seed}");

        let served = Served::new(small_flash(&options), Pace::Free);
        let mut client = served.client(structured);
        assert!(play(&mut client, &acts) == reads, "NBD, seed {seed}: reads");
        let seen = content(&mut client, CAPACITY_BYTES);
        assert!(seen == bytes, "NBD, seed {seed}: content");
        assert_eq!(served.end().0.digest(), expected, "NBD, seed {seed}");

        let function = function(&options, Pace::Free);
        let mut host = Plugged::new(&function);
        assert!(
            play(&mut host, &acts) == reads,
            "vfio-user, seed {seed}: reads"
        );
        let seen = content(&mut host, CAPACITY_BYTES);
        assert!(seen == bytes, "vfio-user, seed {seed}: content");
        assert_eq!(function.digest(), expected, "vfio-user, seed {seed}");
        function.stop();

        // A digest that never changed would agree with anything.
        play(&mut direct, &acts[..1]);
        assert_ne!(direct.drive.digest(), expected);
    }
}
