//! `assay serve` with NBD clients: fio, qemu-img, libnbd tools.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::fixture::{Done, Fixture, KIB, MIB, has, is_heard, send, wait_until};
use crate::serving::ServeProcess;

/// Runs a fio job on this server: JSON of the job and output. With `fails` it must fail.
#[track_caller]
fn fio(fixture: &Fixture, uri: &str, options: &str, fails: bool) -> (Value, String) {
    let result = Command::new("fio")
        .args(["--name=job", "--thread", "--ioengine=nbd", "--output-format=json"])
        .arg(format!("--uri={uri}"))
        .args(options.split_whitespace())
        .current_dir(fixture.path("."))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&result.stdout).into_owned();
    let output = format!("{text}{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(result.status.success(), !fails, "{options}: {output}");
    let document = text.find('{').map_or("null", |at| &text[at..]);
    let document: Value = serde_json::from_str(document).unwrap_or(Value::Null);
    (document["jobs"][0].clone(), output)
}

#[test]
fn serve_reports_its_uri_and_stops_cleanly() {
    let fixture = Fixture::in_memory();
    for (signal, address) in [
        (Signal::INT, "unix:drive.sock"),
        (Signal::TERM, "tcp:127.0.0.1:0"),
        (Signal::HUP, "unix:drive.sock"),
    ] {
        if !is_heard(signal) {
            continue;
        }
        let serving =
            ServeProcess::start(&fixture, &format!("sim:samsung-951,seed=4 --nbd {address}"));
        let document = &serving.document;
        assert_eq!(document["simulated"], true);
        assert_eq!(document["serial"], "SIM-SAMSUNG-951-4");
        assert_eq!(document["capacity_bytes"], 128_035_676_160_u64);
        assert!(document["floor_ns"]["p50"].as_u64().unwrap() > 0);
        assert!(document["model"].as_str().unwrap().contains("simulated"));
        let uri = serving.uri();
        if address.starts_with("unix") {
            assert!(uri.starts_with("nbd+unix:///?socket=/"), "{uri}");
            UnixStream::connect(fixture.path("drive.sock")).unwrap();
        } else {
            assert!(uri.starts_with("nbd://127.0.0.1:") && !uri.ends_with(":0"), "{uri}");
        }
        let document = serving.end(signal);
        assert_eq!(document["requests"], 0);
        assert!(!fixture.path("drive.sock").exists());
    }
    // Text output.
    let mut child = fixture
        .command("serve sim:intel-optane-memory-32gb --nbd unix:drive.sock --pace free")
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("(simulated)"), "{line}");
    send(&child, Signal::INT);
    let done = Done::new("serve", child).expect(0);
    assert!(done.stderr.contains("served 0 requests"), "{done}");
}

#[test]
fn invalid_arguments_are_rejected() {
    let fixture = Fixture::in_memory();
    fixture.noise("disk", MIB);
    fixture.write("precious", "not a socket");
    for (arguments, status, output) in [
        ("disk --nbd unix:s", 2, "is not a simulated drive"),
        ("null: --nbd unix:s", 2, "is not a simulated drive"),
        ("sim:nothing --nbd unix:s", 2, "nothing"),
        ("sim:samsung-951,sed=1 --nbd unix:s", 2, "sed"),
        ("sim:samsung-951 --nbd unix:s --fault explode@1", 2, "expected"),
        ("sim:samsung-951 --nbd s", 2, "unix:PATH"),
        ("sim:samsung-951 --nbd unix:s --pace fast", 2, "pace"),
        ("sim:samsung-951", 2, "--nbd"),
        ("sim:samsung-951 --nbd unix:s --vfio-user s", 2, "cannot be used with"),
        ("sim:samsung-951 --vfio-user precious", 2, "left alone"),
        ("disk --vfio-user s", 2, "is not a simulated drive"),
        ("sim:samsung-951 --nbd unix:precious", 2, "left alone"),
        ("sim:samsung-951 --nbd tcp:0.0.0.0:0", 3, "--allow-remote"),
        ("sim:samsung-951 --nbd unix:no/such/folder/s", 4, "cannot listen"),
    ] {
        fixture.run(&format!("serve {arguments}")).refuses(status, &[output]);
    }
    assert_eq!(fixture.text("precious"), "not a socket");
    let serving = ServeProcess::start(&fixture, "sim:intel-optane-memory-32gb --nbd unix:s");
    let taken = fixture.run("serve sim:intel-optane-memory-32gb --nbd unix:s");
    taken.refuses(4, &["another server listens"]);
    // A killed server leaves its socket file, which the next one replaces.
    drop(serving);
    assert!(fixture.path("s").exists());
    ServeProcess::start(&fixture, "sim:intel-optane-memory-32gb --nbd unix:s").end(Signal::INT);
}

#[test]
fn a_vfio_user_server_waits_for_a_client_and_stops_cleanly() {
    let fixture = Fixture::in_memory();
    for signal in [Signal::INT, Signal::TERM] {
        let serving = ServeProcess::start(&fixture, "sim:samsung-951 --vfio-user nvme.sock");
        assert_eq!(serving.document["vfio_user"], "nvme.sock");
        assert!(serving.document["uri"].is_null());
        assert!(serving.document["floor_ns"]["p50"].as_u64().unwrap() > 0);
        // A client that sends garbage.
        let mut garbage = UnixStream::connect(fixture.path("nvme.sock")).unwrap();
        garbage.write_all(b"GET / HTTP/1.1").unwrap();
        let done = serving.ended(signal);
        assert!(done.stderr.contains("\"lateness_ns\""), "{done}");
        assert!(!fixture.path("nvme.sock").exists());
    }
}

#[test]
fn an_nvme_tcp_server_says_how_to_connect_and_stops_cleanly() {
    let fixture = Fixture::in_memory();
    let drive = "sim:intel-optane-memory-32gb";
    for nqn in [None, Some("nqn.2014-08.org.example:disk")] {
        let named = nqn.map_or(String::new(), |nqn| format!(" --nqn {nqn}"));
        let words = format!("{drive} --nvme-tcp tcp:127.0.0.1:0{named}");
        let serving = ServeProcess::start(&fixture, &words);
        let served = &serving.document["nvme_tcp"];
        let text = |key: &str| served[key].as_str().unwrap().to_owned();
        let (address, name) = (text("address"), text("nqn"));
        let port = address.strip_prefix("tcp:127.0.0.1:").unwrap();
        assert_eq!(
            text("connect"),
            format!("nvme connect -t tcp -a 127.0.0.1 -s {port} -n {name}")
        );
        assert!(name.starts_with(nqn.unwrap_or("nqn.2014-08.org.nvmexpress:uuid:")));
        assert!(serving.document["uri"].is_null());
        assert!(serving.document["floor_ns"]["p50"].as_u64().unwrap() > 0);
        // A client that sends garbage.
        let mut garbage = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let done = serving.ended(Signal::TERM);
        assert!(done.stderr.contains("\"connections\""), "{done}");
    }
    for (words, status, why) in [
        ("--nvme-tcp unix:s", 2, "NVMe/TCP has no Unix sockets"),
        ("--nvme-tcp tcp:0.0.0.0:0", 3, "--allow-remote"),
        ("--nvme-tcp tcp:127.0.0.1:0 --nqn disk", 2, "is not the name"),
        ("--nbd unix:s --nqn nqn.2014-08.org.example:disk", 2, "--nvme-tcp"),
        ("--nbd unix:s --nvme-tcp tcp:127.0.0.1:0", 2, "cannot be used with"),
    ] {
        let refused = fixture.run(&format!("serve {drive} {words}"));
        refused.refuses(status, &[why]);
    }
}

#[test]
fn fio_verifies_what_it_wrote() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(&fixture, "sim:samsung-951 --nbd unix:s --pace free");
    for options in [
        "--rw=write --bs=128k --size=64m --iodepth=16 --verify=crc32c",
        "--rw=randwrite --bs=4k --size=16m --iodepth=32 --verify=crc32c --verify_backlog=512",
        "--rw=randwrite --bs=512 --size=1m --iodepth=8 --verify=md5",
        "--rw=randwrite --bs=4k --size=8m --numjobs=3 --offset_increment=8m --iodepth=8 \
         --fsync=100 --verify=crc32c --group_reporting",
        "--rw=trimwrite --bs=16k --size=8m --iodepth=4",
    ] {
        let (job, output) = fio(&fixture, serving.uri(), options, false);
        assert_eq!(job["error"], 0, "{options}: {output}");
    }
    let document = serving.end(Signal::INT);
    assert_eq!(document["failed"], 0);
    assert!(document["connections"].as_u64().unwrap() >= 6);
}

#[test]
fn paced_latencies_are_the_models() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let serving =
        ServeProcess::start(&fixture, "sim:intel-600p --nbd unix:s --fault latency-spike@5=80ms");
    let (job, output) =
        fio(&fixture, serving.uri(), "--rw=randread --bs=4k --size=4m --io_size=200k", false);
    let least = job["read"]["lat_ns"]["min"].as_f64().unwrap();
    let most = job["read"]["lat_ns"]["max"].as_f64().unwrap();
    // A sense of this flash takes tens of microseconds; a loaded machine can only add latency.
    assert!(least > 20_000.0 && most >= 80_000_000.0, "{output}");
    let document = serving.end(Signal::INT);
    assert!(document["lateness_ns"]["mean"].as_u64().unwrap() > 0);
}

#[test]
fn faults_reach_fio_as_errors_and_corrupt_data() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let faults = "--fault media-error@1m+4k --fault corrupt-write@20";
    let serving = ServeProcess::start(
        &fixture,
        &format!(
            "sim:intel-optane-memory-32gb,fault=write-error@300 --nbd unix:s --pace free {faults}"
        ),
    );
    let (_, output) = fio(&fixture, serving.uri(), "--rw=read --bs=4k --size=4m", true);
    assert!(output.contains("Input/output error"), "{output}");
    let verify = "--rw=write --bs=4k --offset=4m --size=1m --verify=crc32c";
    let (_, output) = fio(&fixture, serving.uri(), verify, true);
    assert!(output.contains("verify"), "{output}");
    let (_, output) = fio(&fixture, serving.uri(), "--rw=write --bs=4k --size=1m", true);
    assert!(output.contains("Input/output error"), "{output}");
    let document = serving.end(Signal::INT);
    assert_eq!(document["failed"], 2);
}

#[test]
fn nbd_tools_list_and_copy_the_drive() {
    if !has(&["nbdinfo", "nbdcopy"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(
        &fixture,
        "sim:intel-optane-memory-32gb,state=fresh --nbd tcp:127.0.0.1:0 --pace free",
    );
    let uri = serving.uri().to_owned();
    let info: Value = serde_json::from_str(&fixture.tool("nbdinfo", &["--json", &uri])).unwrap();
    assert_eq!(info["structured"], true);
    let export = &info["exports"][0];
    assert_eq!(export["export-size"], 29_260_513_280_u64);
    for can in [
        "can_cache",
        "can_df",
        "can_fast_zero",
        "can_flush",
        "can_fua",
        "can_multi_conn",
        "can_trim",
        "can_zero",
    ] {
        assert_eq!(export[can], true, "{can}: {info}");
    }
    assert_eq!(export["block_size_minimum"], 512);
    assert_eq!(export["contexts"][0], "base:allocation");
    let list = fixture.tool("nbdinfo", &["--list", &uri]);
    assert!(list.contains("intel-optane-memory-32gb"), "{list}");
    assert!(fixture.tool("nbdinfo", &["--map", &uri]).contains("hole,zero"));

    let noise = fixture.noise("image", 24 * MIB + 512);
    fixture.tool("nbdcopy", &["--connections=4", "--flush", "image", &uri]);
    // Only written data is allocated.
    let total = fixture.tool("nbdinfo", &["--map", "--totals", &uri]);
    let data = total.lines().find(|line| line.contains("data")).unwrap();
    let bytes: usize = data.split_whitespace().next().unwrap().parse().unwrap();
    assert!((noise.len()..=noise.len() + 4 * KIB).contains(&bytes), "{total}");
    // The tools skip holes, so that 29 GB take little time.
    fixture.tool("nbdcopy", &["--connections=4", &uri, "back"]);
    let back = std::fs::File::open(fixture.path("back")).unwrap();
    assert_eq!(back.metadata().unwrap().len(), 29_260_513_280);
    let mut begin = vec![0; noise.len()];
    std::io::Read::read_exact(&mut std::io::Read::take(back, noise.len() as u64), &mut begin)
        .unwrap();
    assert!(begin == noise);
    assert_eq!(serving.end(Signal::INT)["failed"], 0);
}

#[test]
fn qemu_img_converts_compares_and_maps() {
    if !has(&["qemu-img"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(
        &fixture,
        "sim:intel-optane-memory-32gb,state=fresh --nbd unix:s --pace free",
    );
    let uri = format!("nbd+unix:///?socket={}", fixture.path("s").display());
    let mut image = fixture.noise("image", 8 * MIB);
    image[2 * MIB..5 * MIB].fill(0);
    fixture.write("image", &image);
    fixture.tool(
        "qemu-img",
        &["convert", "-n", "-f", "raw", "-O", "raw", "-m", "8", "-W", "image", &uri],
    );
    fixture.tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", "image", &uri]);
    fixture.tool("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", &uri, "back.qcow2"]);
    fixture.tool("qemu-img", &["compare", "-f", "raw", "-F", "qcow2", &uri, "back.qcow2"]);
    let map: Value = serde_json::from_str(
        &fixture.tool("qemu-img", &["map", "--output=json", "-f", "raw", &uri]),
    )
    .unwrap();
    let written: u64 = map
        .as_array()
        .unwrap()
        .iter()
        .filter(|extent| extent["data"] == true)
        .map(|extent| extent["length"].as_u64().unwrap())
        .sum();
    assert_eq!(written, 5 * MIB as u64, "{map}");
    serving.end(Signal::INT);
}

/// A fio process with a runtime of an hour that has begun to write.
fn running_fio(serving: &ServeProcess) -> Child {
    // The server grows with written pages.
    let pid = serving.child.as_ref().unwrap().id();
    let resident = || -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
        text.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let before = resident();
    let client = Command::new("fio")
        .args(["--name=job", "--thread", "--ioengine=nbd", "--rw=randrw", "--iodepth=32"])
        .args(["--size=1g", "--time_based", "--runtime=3600"])
        .arg(format!("--uri={}", serving.uri()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("fio to write", || resident() > before + 100);
    client
}

#[test]
fn a_killed_server_is_an_error_for_its_client_and_can_be_replaced() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let arguments = "sim:samsung-951 --nbd unix:s --pace real";
    let serving = ServeProcess::start(&fixture, arguments);
    let client = running_fio(&serving);
    // SIGKILL.
    drop(serving);
    // It ends before its runtime, with an error.
    let output = client.wait_with_output().unwrap();
    assert!(!output.status.success());
    let output = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(output.contains("error"), "{output}");
    // The stale socket file refuses connections; a new server replaces it.
    assert!(UnixStream::connect(fixture.path("s")).is_err());
    let serving = ServeProcess::start(&fixture, arguments);
    let (job, _) =
        fio(&fixture, serving.uri(), "--rw=write --bs=64k --size=1m --verify=crc32c", false);
    assert_eq!(job["error"], 0);
    assert_eq!(serving.end(Signal::INT)["failed"], 0);
}

#[test]
fn killed_and_malformed_clients_do_not_affect_others() {
    if !has(&["fio"]) {
        return;
    }
    let fixture = Fixture::in_memory();
    let serving = ServeProcess::start(&fixture, "sim:samsung-951 --nbd unix:s --pace real");
    let mut garbage = UnixStream::connect(fixture.path("s")).unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut client = running_fio(&serving);
    client.kill().unwrap();
    client.wait().unwrap();
    let (job, _) =
        fio(&fixture, serving.uri(), "--rw=randread --bs=4k --size=4m --io_size=1m", false);
    assert_eq!(job["error"], 0);
    let document = serving.end(Signal::TERM);
    assert_eq!(document["failed"], 0);
}
