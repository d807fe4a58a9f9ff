use super::history::changes;
use super::*;

fn series(values: &[f64], firmware: impl Fn(usize) -> &'static str) -> Series {
    let point = |(n, value): (usize, &f64)| Point {
        began: format!("2026-11-{:02}T10:00:00Z", n + 1),
        firmware: firmware(n).to_owned(),
        value: *value,
    };
    Series {
        unit: "IOPS".to_owned(),
        better: Some(Better::More),
        points: values.iter().enumerate().map(point).collect(),
    }
}

fn drive(serial: &str, figures: usize) -> LibraryDrive {
    let one = |n: usize| {
        let values = [1000.0 + n as f64; 3];
        let name = format!("quick/random-read-threads/bs=4k,numjobs={n}.iops");
        (name, series(&values, |_| "1.0"))
    };
    LibraryDrive {
        label: "nvme0n1".to_owned(),
        model: "MODEL <b>".to_owned(),
        serial: serial.to_owned(),
        capacity_bytes: 1_000_204_886_016,
        series: (0..figures).map(one).collect(),
        ..LibraryDrive::default()
    }
}

fn pages(drives: Vec<LibraryDrive>) -> Vec<SitePage> {
    let keyed = drives.into_iter().map(|drive| {
        let key = Key {
            model: drive.model.clone(),
            serial: drive.serial.clone(),
            simulated: drive.simulated,
        };
        (key, drive)
    });
    Library { drives: keyed.collect() }.finish().collect()
}

/// A change is found with its firmware; a single odd run is none.
#[test]
fn a_change_of_level_is_found_with_the_firmware_that_came_with_it() {
    let fallen = series(&[100.0, 101.0, 99.0, 100.0, 80.0, 81.0, 80.5, 80.0], |n| {
        if n < 4 { "1.0" } else { "2.0" }
    });
    let found = changes(&fallen);
    let [change] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(change.at, 4);
    assert!((change.ratio - 0.8025).abs() < 0.005, "{change:?}");
    assert_eq!(change.firmware, Some(["1.0", "2.0"].map(str::to_owned)));
    assert_eq!(change.began, "2026-11-05T10:00:00Z");
    let odd = series(&[100.0, 101.0, 99.0, 60.0, 100.0, 101.0, 99.0], |_| "1.0");
    assert_eq!(changes(&odd), []);
    for few in [0, 1, 2, 3] {
        assert_eq!(changes(&series(&vec![1.0; few], |_| "1.0")), []);
    }
}

/// The links of the table lead to files of the site, names of a drive's cannot break the page, and
/// drives of one name have a file each.
#[test]
fn the_pages_are_linked_and_safe() {
    let mut unnamed = drive("", 0);
    unnamed.model.clear();
    let all = pages(vec![drive("A/1", 2), drive("A 1", 2), unnamed]);
    let paths: Vec<&str> = all.iter().map(|page| page.path.as_str()).collect();
    assert_eq!(paths[..2], ["index.html", "pair.html"]);
    assert_eq!(paths.len(), 5);
    for path in &paths[2..] {
        assert!(all[0].html.contains(&format!("href=\"{path}\"")), "{path}");
        assert_eq!(paths.iter().filter(|other| other == &path).count(), 1);
    }
    for page in &all {
        assert!(page.html.starts_with(HEAD));
        assert!(!page.html.contains("MODEL <b>"), "{}", page.path);
    }
}

/// 500 drives of 40 figures with three runs each are at most 40 MB.
#[test]
fn five_hundred_drives_fit_in_forty_megabytes() {
    let drives = (0..500).map(|n| drive(&format!("S{n}"), 40)).collect();
    let bytes: usize = pages(drives).iter().map(|page| page.html.len()).sum();
    assert!(bytes < 40_000_000, "{bytes}");
    assert!(bytes > 1_000_000);
}

/// Shown names of figures.
#[test]
fn figures_are_named_by_suite_workload_and_metric() {
    let shown = [
        ("quick/random-read/bs=4k,numjobs=16.iops", "IOPS"),
        ("quick/random-read/bs=4k.p99_us", "\u{b5}s"),
        ("consistency.score", ""),
        ("import.random-read-mibpers", "MiB/s"),
    ]
    .map(|(name, unit)| index::with_unit(name, unit));
    assert_eq!(
        shown,
        [
            "quick \u{b7} random-read \u{b7} bs=4k,numjobs=16, IOPS",
            "quick \u{b7} random-read \u{b7} bs=4k, p99, \u{b5}s",
            "consistency \u{b7} score",
            "import \u{b7} random-read, MiB/s",
        ]
    );
}
