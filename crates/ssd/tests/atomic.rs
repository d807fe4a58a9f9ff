//! Atomic writes: what the drive promises is whole or absent after power loss (AWUPF), and what is
//! longer may be torn.

use crate::common;

use assay_ssd::{Drive, DriveOptions, Profile};
use assay_units::{KIB, Nanos, Op, Rng};
use common::{command, one};

const SLOTS: u64 = 64;

fn drive(settings: &[(&str, &str)]) -> Drive {
    let mut options = DriveOptions::default();
    for (key, value) in [("data", "keep"), ("state", "fresh")].iter().chain(settings) {
        options.set(key, value).expect("a known option");
    }
    let profile = Profile::builtin("samsung-951").expect("a built-in profile");
    Drive::new(profile, options).expect("a drive")
}

/// Writes of `bytes` at multiples of themselves, in flight and acknowledged, until power fails;
/// how many places hold parts of several writes then. Without FUA the drive has them in a volatile
/// buffer.
fn torn(drive: &mut Drive, bytes: u32, seed: u64) -> usize {
    let mut rng = Rng::new(seed);
    let (mut now, mut out) = (Nanos::ZERO, Vec::new());
    for n in 0..20 + rng.below(200) {
        // Single units between them, so that programs end within a write.
        let (offset, len) = match rng.below(4) {
            0 => ((SLOTS + 1) * u64::from(bytes), 4096),
            _ => (rng.below(SLOTS) * u64::from(bytes), bytes),
        };
        let write = command(n as u32, Op::Write, offset, len);
        drive.submit_write(now, write, &vec![n as u8 + 1; len as usize]);
        now += Nanos(rng.below(60_000));
        drive.advance(now, &mut out);
    }
    drive.power_loss(now);
    drive.advance(now, &mut out);
    let mut found = 0;
    for slot in 0..SLOTS {
        let offset = slot * u64::from(bytes);
        let done = one(drive, now, command(0, Op::Read, offset, bytes));
        let mut content = vec![0; bytes as usize];
        assert!(drive.read_data(&done, offset, &mut content));
        now = done.at;
        found += usize::from(content.iter().any(|&byte| byte != content[0]));
    }
    found
}

fn torn_in_all(settings: &[(&str, &str)], bytes: u64) -> usize {
    let cuts = 0..60;
    cuts.map(|seed| torn(&mut drive(settings), bytes as u32, seed)).sum()
}

#[test]
fn writes_within_the_promise_are_whole_or_absent_and_longer_ones_may_be_torn() {
    let promised = [("awupf", "16k")];
    assert_eq!(drive(&promised).identity().atomic_bytes, 16 * KIB);
    let of = |settings: &[(&str, &str)], bytes| {
        let found = torn_in_all(settings, bytes);
        println!("{settings:?}, writes of {bytes}: {found} torn");
        found
    };
    for bytes in [4 * KIB, 8 * KIB, 16 * KIB] {
        assert_eq!(of(&promised, bytes), 0);
    }
    assert!(of(&promised, 32 * KIB) > 0);
    assert!(of(&[], 16 * KIB) > 0, "nothing is promised");
}

#[test]
fn a_drive_that_breaks_its_promise_tears_them() {
    let broken = [("awupf", "16k"), ("fault", "torn-writes")];
    assert!(torn_in_all(&broken, 16 * KIB) > 0);
    assert!(DriveOptions::default().set("awupf", "24k").is_err());
}
