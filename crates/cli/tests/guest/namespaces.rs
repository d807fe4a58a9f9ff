//! Several namespaces, several controllers: what is done to one is done to no other.

use serde_json::json;

use crate::guest::Setup;
use crate::lab::{MIB, noise, number};

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
        setup.lab.write(image, noise(seed as u64, mib * MIB));
    }
    let mut guest = setup.boot();
    let pair = format!("/dev/{}", guest.controller("PAIR"));
    let (a, b, c) = (
        &format!("{pair}n1"),
        &format!("{pair}n2"),
        &guest.device("OTHER"),
    );

    let list = guest.json("list");
    let drives = list["drives"].as_array().unwrap();
    let count = |serial: &str| drives.iter().filter(|d| d["serial"] == serial).count();
    assert_eq!((count("PAIR"), count("OTHER")), (2, 1), "{list:#}");
    assert_eq!(count("BOTH"), 1, "one drive, two paths: {list:#}");
    let both = drives.iter().find(|d| d["serial"] == "BOTH").unwrap();
    let d = both["spec"].as_str().unwrap().to_owned();
    assert_eq!(number(both, "/capacity_bytes"), (16 * MIB) as f64);
    assert_eq!(
        number(&guest.json(&format!("probe {b}")), "/drive/capacity_bytes"),
        (16 * MIB) as f64
    );

    let before: Vec<Vec<u8>> = images
        .iter()
        .map(|(image, _)| guest.content(image))
        .collect();
    let whole = "--rw write --bs 128k --iodepth 8 --verify";
    for (turn, (drive, serial)) in [(b, "PAIR"), (a, "PAIR"), (c, "OTHER"), (&d, "BOTH")]
        .into_iter()
        .enumerate()
    {
        let job = guest.json(&format!("job {drive} {whole} --destroy {serial}"));
        let written = number(&job, "/jobs/0/write/bytes") as usize;
        // In the order of the images, which of them have been written by now.
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

    // A mounted namespace does not keep its neighbour from being written.
    guest.ok(&format!("mkswap {a} && swapon {a}"));
    let job = guest.json(&format!("job {b} {whole} --destroy PAIR"));
    assert_eq!(job["jobs"][0]["verify"]["found"], json!({}), "{job:#}");
    guest
        .assay(&format!("job {a} {whole} --destroy PAIR --destroy swap"))
        .refuses(3, &["nothing was written", "swap"]);
    guest.ok(&format!("swapoff {a}"));
    guest.end();
}
