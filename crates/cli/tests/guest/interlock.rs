//! The interlock on namespaces with signatures or in use.

use crate::fixture::{Done, MIB, number};
use crate::guest::Setup;

#[test]
fn a_namespace_in_use_is_always_refused() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup
        .tools(&["mkfs.ext4", "fsck.ext4"])
        .drive("first", "GUEST-0001", "one", 64 * MIB)
        .boot();
    let device = &guest.device("GUEST-0001");
    let generic = &device.replace("nvme", "ng");
    let words = "--destroy GUEST-0001 --destroy ext4 --destroy swap --destroy dos";
    let writers = [
        format!("job {device} --rw write --size 1m"),
        format!("run bandwidth {device} --scale 0.001 --out refused"),
        format!("testbench {device} --span 1m"),
        format!("job {generic} --rw write --size 1m"),
        format!("purge {device}"),
        format!("purge {device} --how format"),
    ];

    guest.ok(&format!("mkfs.ext4 -q {device}"));
    guest.ok(&format!("mount {device} /mnt && head -c 1m /dev/urandom >/mnt/precious && sync"));
    let sum = guest.ok("sha256sum </mnt/precious");
    for writer in &writers {
        let done = guest.assay(&format!("{writer} {words}"));
        done.refuses(3, &["nothing was written", "mounted", "/mnt"]);
        assert!(!done.stderr.contains("add: --destroy"), "{done}");
    }
    // Reading is allowed, and a probe lists the reasons of the refusal.
    guest.json(&format!("job {device} --rw randread --io_size 1m"));
    let probe = guest.assay(&format!("probe {device}")).expect(0);
    assert!(probe.stdout.contains("mounted"), "{probe}");
    guest.ok(&format!("umount /mnt && fsck.ext4 -fn {device}"));
    guest.ok(&format!("mount {device} /mnt"));
    assert_eq!(guest.ok("sha256sum </mnt/precious"), sum);
    guest.ok("umount /mnt");

    // Not in use, but with a file system, which must be named.
    let before = guest.content("one");
    let tried = |done: &Done| done.refuses(3, &["nothing was written", "ext4", "--destroy ext4"]);
    for writer in &writers {
        tried(&guest.assay(&format!("{writer} --destroy GUEST-0001")));
    }
    assert!(guest.content("one") == before, "a refused command wrote");
    let job = guest.json(&format!("{} {words}", writers[0]));
    assert_eq!(number(&job, "/jobs/0/write/bytes"), MIB as f64);

    // Swap, while it is active.
    guest.ok(&format!("mkswap {device} && swapon {device}"));
    for writer in &writers {
        guest.assay(&format!("{writer} {words}")).refuses(3, &["nothing was written", "swap"]);
    }
    guest.ok(&format!("swapoff {device}"));

    // One partition is mounted: the whole drive and the partition are in use.
    guest.ok(&format!("dd if=/dev/zero of={device} bs=1M count=64 2>/dev/null"));
    guest.sh(&format!("printf 'n\\np\\n1\\n\\n\\nw\\n' | fdisk {device} && sleep 1"));
    guest.ok(&format!("mkfs.ext4 -q {device}p1 && mount {device}p1 /mnt"));
    for writer in &writers {
        guest
            .assay(&format!("{writer} {words}"))
            .refuses(3, &["nothing was written", "mounted", "/mnt"]);
        // A partition has no generic device.
        if writer.contains(device.as_str()) {
            let on_partition = writer.replace(device.as_str(), &format!("{device}p1"));
            guest
                .assay(&format!("{on_partition} {words}"))
                .refuses(3, &["nothing was written", "mounted"]);
        }
    }
    guest.ok(&format!("umount /mnt && fsck.ext4 -fn {device}p1"));
    guest.ok("! test -e refused");
    guest.end();
}
