//! Loss of a drive served over vfio-user: surprise removal, or a killed server. I/O in the guest
//! fails, and nothing hangs.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, number, send};
use crate::guest::{Guest, Setup};
use crate::serving::ServeProcess;

/// A guest on this drive with an I/O timeout of 5 s instead of 30 s.
fn guest_with_short_timeout(setup: Setup, socket: &Path) -> Guest {
    setup.plugged(socket).kernel("nvme_core.io_timeout=5").boot()
}

/// Starts reads with a runtime of an hour, by assay and by dd. Some are complete when this returns.
fn start_reads(guest: &mut Guest, device: &str) {
    guest.ok(&format!(
        "(assay job {device} --rw randread --bs 4k --iodepth 4 --runtime 1h --out cut --json >job \
         2>errors; echo $? >status) & true"
    ));
    guest.ok(&format!(
        "while dd if={device} of=/dev/null bs=64k count=16 iflag=direct 2>dd; do :; done & true"
    ));
    let block = device.trim_start_matches("/dev/");
    guest.ok(&format!(
        "until grep -qs interval cut/journal.log && [ $(cut -c-9 /sys/block/{block}/stat) -gt \
         1000 ]; do sleep 0.1; done"
    ));
}

#[test]
fn surprise_removal_fails_all_io() {
    let Some(setup) = Setup::new() else { return };
    // Socket paths are limited to 107 bytes.
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let socket_words = socket.display();
    let words =
        format!("sim:samsung-951 --vfio-user {socket_words} --fault surprise-removal@20000");
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(&fixture, &words);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = guest_with_short_timeout(setup, &socket);
    let device = &guest.device(&serial);
    start_reads(&mut guest, device);
    assert_drive_lost(&mut guest, device).unwrap();
    guest.end();
}

#[test]
fn a_killed_server_removes_its_drive() {
    let Some(setup) = Setup::new() else { return };
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nvme");
    let words = format!("sim:samsung-951 --vfio-user {}", socket.display());
    let fixture = Fixture::in_memory();
    let mut serving = ServeProcess::start(&fixture, &words);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = guest_with_short_timeout(setup, &socket);
    let device = &guest.device(&serial);
    start_reads(&mut guest, device);
    let child = serving.child.take().unwrap();
    send(&child, Signal::KILL);
    assert_eq!(Done::new(&words, child).status, 1009);
    // vfio-user-pci of QEMU 11 behaves in one of two ways, at random: the function stays and
    // completes nothing, or QEMU ends with an assertion. Neither may hang.
    match assert_drive_lost(&mut guest, device) {
        Ok(()) => guest.end(),
        Err(end) => {
            println!("QEMU ended with the server");
            assert!(end.contains("Assertion") || end.contains("vfio"), "{end}");
        }
    }

    // The next server replaces the stale socket.
    assert!(socket.exists());
    let next = ServeProcess::start(&fixture, &words);
    assert_eq!(next.document["serial"], serial.as_str());
}

/// I/O in flight and new I/O fail.
///
/// # Errors
/// Output of QEMU if it ended.
fn assert_drive_lost(guest: &mut Guest, device: &str) -> Result<(), String> {
    let mut ok =
        |line: &str| -> Result<String, String> { Ok(guest.sh_or_end(line)?.expect(0).stdout) };
    ok("until [ -s status ] && grep -q error dd; do sleep 0.1; done")?;
    // The job ended before its runtime, with its results and a warning about errors.
    assert_eq!(ok("cat status")?.trim(), "1", "{}", ok("cat errors")?);
    let job: Value = serde_json::from_str(&ok("cat job")?).unwrap();
    assert!(number(&job, "/jobs/0/read/ios") > 100.0, "{job:#}");
    assert!(number(&job, "/jobs/0/read/errors") > 0.0, "{job:#}");
    let warnings = job["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w["code"] == "io-errors"), "{job:#}");
    // The driver has disabled the controller: no program can read, and assay reports it.
    ok("until dmesg | grep -q 'Disabling device'; do sleep 0.1; done")?;
    ok(&format!(
        "until [ $(dd if={device} bs=4k count=1 iflag=direct 2>/dev/null | wc -c) = 0 ]; do sleep \
         0.1; done"
    ))?;
    let refused = guest.sh_or_end(&format!("assay job {device} --rw read --io_size 4k"))?;
    refused.refuses(2, &[device, "no longer responds"]);
    Ok(())
}
