//! Isolation of several namespaces and controllers.

use serde_json::json;

use crate::fixture::{MIB, noise, number};
use crate::guest::Setup;

#[test]
fn writing_one_namespace_touches_no_other() {
    let Some(mut setup) = Setup::new() else {
        return;
    };
    setup = setup
        // One controller with two namespaces, and one with one.
        .image("a", 32 * MIB)
        .image("b", 16 * MIB)
        .controller("pair", "PAIR", "")
        .option("-device nvme-ns,drive=a,bus=pair,nsid=1 -device nvme-ns,drive=b,bus=pair,nsid=2")
        .drive("other", "OTHER", "c", 16 * MIB)
        // One namespace behind two controllers of a subsystem: the kernel makes one drive of it.
        .option("-device nvme-subsys,id=sub,nqn=lab")
        .image("d", 16 * MIB)
        .controller("left", "BOTH", "subsys=sub")
        .controller("right", "BOTH", "subsys=sub")
        .option("-device nvme-ns,drive=d,bus=left,nsid=1,shared=on");
    let images = [("a", 32), ("b", 16), ("c", 16), ("d", 16)];
    for (seed, (image, mib)) in images.into_iter().enumerate() {
        setup.fixture.write(image, noise(seed as u64, mib * MIB));
    }
    let mut guest = setup.boot();
    let (a, b) = (&guest.namespace("PAIR", 1), &guest.namespace("PAIR", 2));
    let (c, d) = (&guest.device("OTHER"), &guest.device("BOTH"));

    let list = guest.json("list");
    let drives = list["drives"].as_array().unwrap();
    let count = |serial: &str| drives.iter().filter(|d| d["serial"] == serial).count();
    assert_eq!((count("PAIR"), count("OTHER")), (2, 1), "{list:#}");
    assert_eq!(count("BOTH"), 1, "one drive, two paths: {list:#}");
    let both = drives.iter().find(|d| d["serial"] == "BOTH").unwrap();
    assert_eq!(both["spec"], json!(d));
    assert_eq!(number(both, "/capacity_bytes"), (16 * MIB) as f64);
    let probe = guest.json(&format!("probe {b}"));
    assert_eq!(number(&probe, "/drive/capacity_bytes"), (16 * MIB) as f64);
    assert_eq!(number(&probe, "/drive/nvme/nsid"), 2.0, "{probe:#}");
    // Both have one serial: the message names the distinguishing option.
    let text = guest.assay(&format!("probe {b}")).expect(0);
    let controller = probe["drive"]["nvme"]["controller"].as_str().unwrap();
    let beside = a.replace("/dev/", "");
    let reported = format!("2 of {controller}, beside {beside}");
    assert!(text.stdout.contains(&reported), "{reported}: {text}");

    let before: Vec<Vec<u8>> = images.iter().map(|(image, _)| guest.content(image)).collect();
    let whole = "--rw write --bs 128k --iodepth 8 --verify";
    for (turn, (drive, serial)) in
        [(b, "PAIR"), (a, "PAIR"), (c, "OTHER"), (d, "BOTH")].into_iter().enumerate()
    {
        let job = guest.json(&format!("job {drive} {whole} --destroy {serial}"));
        let written = number(&job, "/jobs/0/write/bytes") as usize;
        // The images written so far, in order.
        let touched = [
            [false, true, false, false],
            [true, true, false, false],
            [true, true, true, false],
            [true, true, true, true],
        ][turn];
        for (index, (image, mib)) in images.into_iter().enumerate() {
            let content = guest.content(image);
            if touched[index] {
                let same = content
                    .chunks(4096)
                    .zip(before[index].chunks(4096))
                    .filter(|(now, then)| now == then)
                    .count();
                assert_eq!(same, 0, "{image} was to be written whole");
            } else {
                assert!(content == before[index], "writing {drive} changed {image}");
            }
            let this = [1, 0, 2, 3][turn] == index;
            assert!(!this || written == mib * MIB, "{drive}: {written} bytes");
        }
    }

    // By NVMe passthrough too, also with multipath.
    for drive in [b, d] {
        let generic = drive.replace("nvme", "ng");
        let check = guest.json(&format!("job {generic} --rw read --bs 128k --verify"));
        assert_eq!(check["jobs"][0]["verify"]["found"], json!({}), "{check:#}");
        assert_eq!(number(&check, "/jobs/0/verify/blocks_checked"), (16 * MIB / 4096) as f64);
    }

    // A mounted namespace does not block writes to another.
    guest.ok(&format!("mkswap {a} && swapon {a}"));
    let job = guest.json(&format!("job {b} {whole} --destroy PAIR"));
    assert_eq!(job["jobs"][0]["verify"]["found"], json!({}), "{job:#}");
    guest
        .assay(&format!("job {a} {whole} --destroy PAIR --destroy swap"))
        .refuses(3, &["nothing was written", "swap"]);
    guest.ok(&format!("swapoff {a}"));
    guest.end();
}

#[test]
fn purging_one_namespace_touches_no_other() {
    let Some(setup) = Setup::new() else { return };
    let setup =
        setup.image("a", 32 * MIB).image("b", 32 * MIB).controller("pair", "PAIR", "").option(
            "-device nvme-ns,drive=a,bus=pair,nsid=1 -device nvme-ns,drive=b,bus=pair,nsid=2",
        );
    let (a, b) = (noise(1, 32 * MIB), noise(2, 32 * MIB));
    setup.fixture.write("a", &a);
    setup.fixture.write("b", &b);
    let mut guest = setup.boot();
    let drive = &guest.namespace("PAIR", 2);
    let neighbour = guest.namespace("PAIR", 1).replace("/dev/", "");

    // Refused without a change: no serial, a wrong one, in use, or not supported by the controller.
    guest.assay(&format!("purge {drive}")).refuses(3, &["--destroy PAIR"]);
    guest.assay(&format!("purge {drive} --destroy {neighbour}")).refuses(3, &["--destroy PAIR"]);
    guest
        .assay(&format!("purge {drive} --how sanitize --destroy PAIR"))
        .refuses(2, &["does not support"]);
    assert!(guest.content("a") == a && guest.content("b") == b);

    for (how, stated, complete) in
        [("auto", "format", true), ("format", "format", true), ("discard", "discard", false)]
    {
        guest.fixture.write("b", &b);
        let purged = guest.json(&format!("purge {drive} --how {how} --destroy PAIR"));
        assert!(purged["how"].as_str().unwrap().contains(stated), "{purged:#}");
        assert_eq!(purged["scope"], "this namespace", "{purged:#}");
        assert_eq!(purged["complete"], complete, "{purged:#}");
        assert!(guest.content("b").iter().all(|byte| *byte == 0), "{how}");
        assert!(guest.content("a") == a, "purging {drive} ({how}) touched its neighbour");
    }
    // The drive is usable afterwards.
    let job = guest.json(&format!("job {drive} --rw write --bs 128k --verify --destroy PAIR"));
    assert_eq!(job["jobs"][0]["verify"]["found"], json!({}), "{job:#}");
    assert!(guest.content("a") == a);
    guest.end();
}
