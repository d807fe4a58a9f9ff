//! A guest whose kernel connects to a simulated drive over NVMe/TCP, through QEMU's user-mode
//! network, as in docs/plug-a-simulated-drive-into-linux.md.

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Fixture, number, send};
use crate::guest::{Guest, Setup};
use crate::serving::ServeProcess;

/// The host as seen from the guest, and the guest (QEMU, "-netdev user").
const HOST: &str = "10.0.2.2";
const GUEST: &str = "10.0.2.15/24";
const NQN: &str = "nqn.2014-08.org.example:drive";

fn serve(fixture: &Fixture, port: u16, words: &str) -> ServeProcess {
    let words = format!("{words} --nvme-tcp tcp:127.0.0.1:{port} --nqn {NQN}");
    ServeProcess::start(fixture, &words)
}

fn port_of(serving: &ServeProcess) -> u16 {
    let address = serving.document["nvme_tcp"]["address"].as_str().unwrap();
    address.rsplit(':').next().unwrap().parse().unwrap()
}

/// A guest with a network, and no drive yet.
fn boot(setup: Setup) -> Guest {
    let mut guest = setup
        .tools(&["nvme-tcp", "nvme", "fio", "mkfs.ext4", "fsck.ext4"])
        .option("-netdev user,id=net -device virtio-net-pci,netdev=net,romfile=")
        .kernel("nvme_core.io_timeout=5")
        .boot();
    guest.ok(&format!(
        "ip link set lo up && ip link set eth0 up && ip addr add {GUEST} dev eth0 && mkdir -p \
         /etc/nvme && echo nqn.2014-08.org.nvmexpress:uuid:6ef1b3a7-4a52-4e04-8b44-5a5a5a5a5a5a \
         >/etc/nvme/hostnqn && echo 6ef1b3a7-4a52-4e04-8b44-5a5a5a5a5a5a >/etc/nvme/hostid"
    ));
    guest
}

/// Connects, and returns the drive.
#[track_caller]
fn connect(guest: &mut Guest, port: u16, serial: &str, options: &str) -> String {
    guest.ok(&format!("nvme connect -t tcp -a {HOST} -s {port} -n {NQN} {options}"));
    guest
        .ok(&format!("until grep -qs {serial} /sys/block/nvme*/device/serial; do sleep 0.1; done"));
    let device = guest.device(serial);
    // A missing device file would become a regular one.
    guest.ok(&format!("until [ -b {device} ]; do sleep 0.1; done"));
    device
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn a_linux_host_uses_a_simulated_drive_over_tcp() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let serving = serve(&fixture, 0, "sim:samsung-951 --pace free");
    let (port, reported) = (port_of(&serving), &serving.document);
    let serial = reported["serial"].as_str().unwrap();
    // An I/O queue, which is a connection, per processor.
    let mut guest = boot(setup.option("-smp 4"));
    let found = guest.ok(&format!("nvme discover -t tcp -a {HOST} -s {port}"));
    assert!(found.contains(NQN), "{found}");
    let unknown = guest.sh(&format!("nvme connect -t tcp -a {HOST} -s {port} -n {NQN}-other"));
    assert_ne!(unknown.status, 0, "{unknown}");
    let device = connect(&mut guest, port, serial, "--nr-io-queues=4");
    let controller = format!("/dev/{}", guest.controller(serial));
    let name = device.trim_start_matches("/dev/");
    let queues = guest.ok(&format!("ls -d /sys/block/{name}/mq/* | wc -l"));
    assert_eq!(queues.trim(), "4");

    let identify = json(&guest.ok(&format!("nvme id-ctrl {controller} -o json")));
    assert_eq!(identify["mn"].as_str().unwrap().trim_end(), reported["model"]);
    assert_eq!(identify["subnqn"], NQN);
    let smart = json(&guest.ok(&format!("nvme smart-log {controller} -o json")));
    assert!(number(&smart, "/temperature") > 273.0, "{smart:#}");
    guest.ok(&format!("nvme error-log {controller}"));
    guest.ok(&format!("nvme set-feature {controller} -f 2 -V 2"));
    let state = guest.ok(&format!("nvme get-feature {controller} -f 2"));
    assert!(state.trim_end().ends_with('2'), "{state}");
    let probe = guest.assay(&format!("probe {device}")).expect(0);
    assert!(probe.stdout.contains("no PCI device: NVMe over TCP"), "{probe}");
    // Another host is refused, and this one is undisturbed.
    let other = guest.sh(&format!(
        "nvme connect -t tcp -a {HOST} -s {port} -n {NQN} -q nqn.2014-08.org.example:other -I \
         00000000-4a52-4e04-8b44-5a5a5a5a5a5a"
    ));
    assert_ne!(other.status, 0, "{other}");
    assert!(guest.ok("dmesg").contains("controller is busy"));

    let made = guest.ok(&format!(
        "mkfs.ext4 -q -F {device} 1g && mount {device} /mnt && dd if=/dev/urandom of=/mnt/f bs=1M \
         count=8 2>/dev/null && md5sum </mnt/f && umount /mnt && fsck.ext4 -fn {device} >&2"
    ));
    let again = guest.ok(&format!("mount {device} /mnt && md5sum </mnt/f && umount /mnt"));
    assert_eq!(made, again.as_str());
    let verify = format!(
        "fio --name=v --filename={device} --rw=randrw --bsrange=512-256k --size=32m --iodepth=32 \
         --ioengine=libaio --direct=1 --verify=crc32c --minimal"
    );
    guest.ok(&verify);

    // A reset while programs write, and other formats.
    guest.ok(&format!(
        "({verify} >fio.out 2>&1; echo $? >fio.status) & sleep 1; nvme reset {controller}; until [ \
         -s fio.status ]; do sleep 0.1; done; cat fio.out >&2; grep -qx 0 fio.status"
    ));
    guest.ok(&format!(
        "nvme format {controller} -n 1 -l 1 -f && until [ $(cat \
         /sys/block/{name}/queue/logical_block_size) = 4096 ]; do sleep 0.1; done"
    ));
    guest.ok(&format!("nvme sanitize {controller} -a 2"));
    guest.ok(&format!(
        "until nvme sanitize-log {controller} | grep -q '0x[0-9a-f]*1$'; do sleep 0.2; done; true"
    ));
    let left = guest.ok(&format!(
        "dd if={device} bs=1M count=8 iflag=direct 2>/dev/null | tr -d '\\000' | wc -c"
    ));
    assert_eq!(left.trim(), "0");

    guest.ok(&format!("nvme disconnect -n {NQN}"));
    // With digests, and all options of flow control.
    let device = connect(
        &mut guest,
        port,
        serial,
        "--hdr-digest --data-digest --disable-sqflow --queue-size=64",
    );
    guest.ok(&format!(
        "fio --name=v --filename={device} --rw=randrw --bsrange=4k-256k --size=16m --iodepth=32 \
         --ioengine=libaio --direct=1 --verify=crc32c --minimal"
    ));
    guest.ok(&format!("nvme disconnect -n {NQN}"));
    guest.end();
    serving.end(Signal::INT);
}

/// The next server on the port has an empty drive: the host must not take it for the mounted one.
#[test]
fn a_restarted_server_is_another_drive() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let serving = serve(&fixture, 0, "sim:samsung-951,state=fresh --pace free");
    let port = port_of(&serving);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = boot(setup);
    let device = connect(&mut guest, port, &serial, "--reconnect-delay=1");
    guest.ok(&format!(
        "mkfs.ext4 -q -F {device} 1g && mount {device} /mnt && dd if=/dev/urandom of=/mnt/f bs=1M \
         count=8 2>/dev/null && sync"
    ));
    serving.end(Signal::TERM);
    let next = serve(&fixture, port, "sim:samsung-951,state=fresh --pace free");
    guest.ok("until dmesg | grep -q 'identifiers changed'; do sleep 0.1; done");
    // What is not cached cannot be read, instead of being read as something else.
    let block = device.trim_start_matches("/dev/");
    guest.ok(&format!(
        "until ! [ -e /sys/block/{block} ] || [ $(cat /sys/block/{block}/size) = 0 ]; do sleep \
         0.1; done"
    ));
    guest.ok("echo 3 >/proc/sys/vm/drop_caches");
    let read = guest.sh("cat /mnt/f | md5sum");
    assert!(read.stderr.contains("error"), "{read}");
    guest.sh("umount -l /mnt");
    guest.ok(&format!("nvme disconnect -n {NQN}"));
    let device = connect(&mut guest, port, &serial, "");
    let left = guest.ok(&format!(
        "dd if={device} bs=1M count=8 iflag=direct 2>/dev/null | tr -d '\\000' | wc -c"
    ));
    assert_eq!(left.trim(), "0", "the new drive is empty");
    guest.ok(&format!("nvme disconnect -n {NQN}"));
    drop(next);
}

/// A stopped server delays I/O, and loses none: the host reconnects when it goes on. What the
/// health log raises is delivered as an event.
#[test]
fn a_stopped_server_is_found_again_and_reports_events() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let serving = serve(&fixture, 0, "sim:samsung-951");
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = boot(setup);
    let options = "--reconnect-delay=1 --keep-alive-tmo=2";
    let device = connect(&mut guest, port_of(&serving), &serial, options);
    let controller = guest.controller(&serial);
    guest.ok(&format!(
        "(fio --name=v --filename={device} --rw=randwrite --bs=4k --size=16m --iodepth=8 \
         --ioengine=libaio --direct=1 --rate=1m --verify=crc32c --minimal >fio.out 2>&1; echo $? \
         >fio.status) & sleep 2"
    ));
    send(serving.child.as_ref().unwrap(), Signal::STOP);
    guest.ok("until dmesg | grep -q 'starting error recovery'; do sleep 0.1; done");
    send(serving.child.as_ref().unwrap(), Signal::CONT);
    guest.ok("until dmesg | grep -q 'Successfully reconnected'; do sleep 0.1; done");
    guest.ok("until [ -s fio.status ]; do sleep 0.1; done; cat fio.out >&2; grep -qx 0 fio.status");

    guest.has_events(&format!("/dev/{controller}"));
    guest.ok(&format!("nvme disconnect -n {NQN}"));
    guest.end();
}

/// Another host is refused while the first one is connected. A host that no longer answers is
/// replaced by the same host on another machine, which finds what was written.
#[test]
fn a_second_guest_is_refused_and_the_same_host_takes_over() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let serving = serve(&fixture, 0, "sim:samsung-951 --pace free");
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let port = port_of(&serving);
    let mut first = boot(setup);
    let mut second = boot(Setup::beside(&first));
    let device = connect(&mut first, port, &serial, "");
    let written = first.ok(&format!(
        "dd if=/dev/urandom of=f bs=1M count=4 2>/dev/null && dd if=f of={device} bs=1M \
         oflag=direct 2>/dev/null && md5sum <f"
    ));
    let other = second.sh(&format!(
        "nvme connect -t tcp -a {HOST} -s {port} -n {NQN} -q nqn.2014-08.org.example:other -I \
         00000000-4a52-4e04-8b44-5a5a5a5a5a5a"
    ));
    assert_ne!(other.status, 0, "{other}");
    assert!(second.ok("dmesg").contains("controller is busy"));
    let read =
        |device: &str| format!("dd if={device} bs=1M count=4 iflag=direct 2>/dev/null | md5sum");
    assert_eq!(first.ok(&read(&device)), written);

    first.qmp.execute("stop", serde_json::json!({}));
    let device = connect(&mut second, port, &serial, "");
    assert_eq!(second.ok(&read(&device)), written);
    drop(first);
    assert_eq!(second.ok(&read(&device)), written);
    second.ok(&format!("nvme disconnect -n {NQN}"));
    second.end();
    serving.end(Signal::INT);
}

/// Flexible Data Placement: the host sees the handles and what was written.
#[test]
fn a_drive_with_data_placement_reports_its_statistics() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let serving = serve(&fixture, 0, "sim:samsung-pm9d3a,fdp=8 --pace free");
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = boot(setup);
    let device = connect(&mut guest, port_of(&serving), &serial, "");
    let controller = format!("/dev/{}", guest.controller(&serial));
    let written = |guest: &mut Guest| {
        let stats = guest.ok(&format!("nvme fdp stats {controller} -e 1 -o json"));
        number(&json(&stats), "/hbmw")
    };
    let before = written(&mut guest);
    guest.ok(&format!("dd if=/dev/urandom of={device} bs=1M count=8 oflag=direct 2>/dev/null"));
    assert_eq!(written(&mut guest) - before, f64::from(8 << 20));
    let handles = guest.ok(&format!("nvme fdp status {device} -o json"));
    assert!(handles.contains("\"pid\""), "{handles}");
    guest.ok(&format!("nvme disconnect -n {NQN}"));
    guest.end();
}

/// Surprise removal fails all I/O, refuses to come back, and hangs nothing.
#[test]
fn surprise_removal_fails_all_io() {
    let Some(setup) = Setup::new() else { return };
    let fixture = Fixture::in_memory();
    let words = "sim:samsung-951 --pace free --fault surprise-removal@5000";
    let serving = serve(&fixture, 0, words);
    let serial = serving.document["serial"].as_str().unwrap().to_owned();
    let mut guest = boot(setup);
    let options = "--reconnect-delay=1 --ctrl-loss-tmo=5";
    let device = connect(&mut guest, port_of(&serving), &serial, options);
    let fio = guest.sh(&format!(
        "fio --name=v --filename={device} --rw=randread --bs=4k --size=64m --iodepth=8 \
         --ioengine=libaio --direct=1 --minimal"
    ));
    assert_ne!(fio.status, 0, "{fio}");
    guest.ok(&format!("until ! grep -qs {serial} /sys/class/nvme/*/serial; do sleep 0.1; done"));
    guest.end();
}
