//! A guest whose drive is served over vfio-user and goes away: the drive vanishes, or its server is killed. What is lost is lost with errors, and
//! nothing hangs.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::guest::{Guest, Setup};
use crate::lab::{Done, Lab, number, send};
use crate::serving::ServeProcess;

/// A guest on this drive whose kernel gives commands up that nobody answers for five seconds, instead of 30.
fn impatient(setup: Setup, socket: &Path) -> Guest {
    setup
        .plugged(socket)
        .kernel("nvme_core.io_timeout=5")
        .boot()
}

/// Reads that would go on for an hour: assay's, and those of a program that knows nothing. Some are done when this returns.
fn put_to_work(guest: &mut Guest, device: &str) {
    guest.ok(&format!(
        "(assay job {device} --rw randread --bs 4k --iodepth 4 --runtime 1h --out cut --json >job 2>errors; echo $? >status) & true"
    ));
    guest.ok(&format!(
        "while dd if={device} of=/dev/null bs=64k count=16 iflag=direct 2>dd; do :; done & true"
    ));
    let block = device.trim_start_matches("/dev/");
    guest.ok(&format!(
        "until grep -qs interval cut/journal.log && [ $(cut -c-9 /sys/block/{block}/stat) -gt 1000 ]; do sleep 0.1; done"
    ));
}

#[test]
fn a_drive_that_vanishes_is_pulled_out() {
    let Some(setup) = Setup::new() else { return };
    // Paths of sockets may have 107 bytes, and the lab's folder is deep.
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let socket_words = socket.display();
    let words = format!("sim:samsung-951 --vfio-user {socket_words} --fault vanish@20000");
    let lab = Lab::in_memory();
    let serving = ServeProcess::start(&lab, &words);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = impatient(setup, &socket);
    let device = &guest.device(&serial);
    put_to_work(&mut guest, device);
    nothing_answers(&mut guest, device).unwrap();
    guest.end();
}

#[test]
fn a_server_that_is_killed_takes_its_drive_along() {
    let Some(setup) = Setup::new() else { return };
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let words = format!("sim:samsung-951 --vfio-user {}", socket.display());
    let lab = Lab::in_memory();
    let mut serving = ServeProcess::start(&lab, &words);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = impatient(setup, &socket);
    let device = &guest.device(&serial);
    put_to_work(&mut guest, device);
    let child = serving.child.take().unwrap();
    send(&child, Signal::KILL);
    assert_eq!(Done::of(&words, child).status, 1009);
    // What vfio-user-pci of QEMU 11 makes of it is a matter of chance: either the function stays and nothing answers, or QEMU's own code trips
    // over the lost connection and QEMU ends. Neither may hang.
    match nothing_answers(&mut guest, device) {
        Ok(()) => guest.end(),
        Err(end) => {
            println!("QEMU ended with the server");
            assert!(end.contains("Assertion") || end.contains("vfio"), "{end}");
        }
    }

    // The next server takes the place of the dead one's socket.
    assert!(socket.exists());
    let next = ServeProcess::start(&lab, &words);
    assert_eq!(next.document["serial"], serial.as_str());
}

/// What is under way ends in errors, and so does everything that is begun.
///
/// # Errors
/// How QEMU ended, where it did.
fn nothing_answers(guest: &mut Guest, device: &str) -> Result<(), String> {
    let mut ok =
        |line: &str| -> Result<String, String> { Ok(guest.sh_or_end(line)?.expect(0).stdout) };
    ok("until [ -s status ] && grep -q error dd; do sleep 0.1; done")?;
    // The job ended by itself, long before its hour, with what it had measured, and says that only errors came.
    assert_eq!(ok("cat status")?.trim(), "1", "{}", ok("cat errors")?);
    let job: Value = serde_json::from_str(&ok("cat job")?).unwrap();
    assert!(number(&job, "/jobs/0/read/ios") > 100.0, "{job:#}");
    assert!(number(&job, "/jobs/0/read/errors") > 0.0, "{job:#}");
    let warnings = job["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w["code"] == "io-errors"), "{job:#}");
    // The driver has disabled the controller, and nothing is left of the drive: not a byte for programs, and words from assay.
    ok("until dmesg | grep -q 'Disabling device'; do sleep 0.1; done")?;
    ok(&format!(
        "until [ $(dd if={device} bs=4k count=1 iflag=direct 2>/dev/null | wc -c) = 0 ]; do sleep 0.1; done"
    ))?;
    let refused = guest.sh_or_end(&format!("assay job {device} --rw read --io_size 4k"))?;
    refused.refuses(2, &[device, "no longer answers"]);
    Ok(())
}
