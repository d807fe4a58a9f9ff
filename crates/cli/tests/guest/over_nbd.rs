//! QEMU's own NVMe controller on a simulated drive served over NBD, as in
//! docs/plug-a-simulated-drive-into-a-vm.md.

use rustix::process::Signal;

use crate::fixture::number;
use crate::guest::Setup;
use crate::serving::ServeProcess;

#[test]
fn a_simulated_drive_backs_qemus_controller() {
    let Some(setup) = Setup::new() else { return };
    // Socket paths are limited to 107 bytes.
    let sockets = tempfile::TempDir::new().unwrap();
    let socket = sockets.path().join("nbd");
    let words = format!("sim:samsung-951,state=fresh --nbd unix:{} --pace free", socket.display());
    let serving = ServeProcess::start(&setup.fixture, &words);
    let mut guest =
        setup.tools(&["mkfs.ext4", "fsck.ext4"]).over_nbd("disk", "SIM1", &socket).boot();
    let device = &guest.device("SIM1");

    // Size and data are the model's; identity and power states are QEMU's.
    let probe = guest.json(&format!("probe {device}"));
    assert_eq!(
        number(&probe, "/nvme/namespaces/0/size_bytes"),
        number(&serving.document, "/capacity_bytes")
    );
    assert_eq!(probe["nvme"]["model"], "QEMU NVMe Ctrl");
    assert_eq!(probe["nvme"]["power_states"].as_array().unwrap().len(), 1);
    for engine in ["uring", "passthru"] {
        let job = guest.json(&format!(
            "job {device} --engine {engine} --rw randwrite --random_distribution cover --bs 4k \
             --iodepth 16 --size 8m --verify --destroy SIM1"
        ));
        assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 2048.0);
        assert_eq!(number(&job, "/jobs/0/write/errors"), 0.0);
    }
    let made = guest.ok(&format!(
        "mkfs.ext4 -q -F {device} 1g && mount {device} /mnt && dd if=/dev/urandom of=/mnt/f bs=1M \
         count=8 2>/dev/null && md5sum </mnt/f && umount /mnt"
    ));
    guest.ok(&format!("fsck.ext4 -fn {device}"));
    guest.end();

    // The drive keeps its data for the next virtual machine.
    let mut guest = Setup::new().unwrap().over_nbd("disk", "SIM1", &socket).boot();
    let device = &guest.device("SIM1");
    let again =
        guest.ok(&format!("mount -t ext4 -o ro {device} /mnt && md5sum </mnt/f && umount /mnt"));
    assert_eq!(made, again);
    guest.end();
    let reported = serving.end(Signal::INT);
    assert_eq!(number(&reported, "/failed"), 0.0);
    assert!(number(&reported, "/requests") > 4096.0, "{reported:#}");
}
