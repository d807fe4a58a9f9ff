//! The address stream compared with fio's I/O log. Without fio, prints the reason and passes.

use std::process::Command;

use assay_device::session::{TargetKind, TargetProperties};
use assay_workload::access::AddressGenerator;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

const AREA_BYTES: u64 = 100 << 20;
const IOS: usize = 40_000;

/// Offsets and lengths of fio's job with these options.
fn by_fio(options: &[&str]) -> Option<Vec<(u64, u32)>> {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("fio")
        .args(["--name=peer", "--ioengine=null", "--filename=x", "--size=100m"])
        .args(["--norandommap", "--randseed=7", "--io_size=100g", "--rw=randread"])
        .args([&format!("--number_ios={IOS}"), "--write_iolog=log"])
        .args(options)
        .current_dir(dir.path())
        .output();
    let Ok(output) = output else {
        println!("skipped: no fio here");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    let ios = log.lines().filter_map(|line| {
        // Time, file, action, offset, length.
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, "read", offset, len] = words[..] else {
            return None;
        };
        Some((offset.parse().unwrap(), len.parse().unwrap()))
    });
    Some(ios.collect())
}

fn by_assay(options: JobOptions) -> Vec<(u64, u32)> {
    let facts = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "peer".to_owned(),
        capacity_bytes: AREA_BYTES,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::File,
    };
    let options = JobOptions { rw: Some("randread".into()), ..options };
    let workload = Workload::plan(&options, &facts).unwrap();
    let region = workload.region(0);
    let mut stream = AddressGenerator::new(&workload.access, region, 7, 0).unwrap();
    (0..IOS).map(|_| stream.next(false)).collect()
}

/// Two samples of one distribution: chi-squared of the difference is at most its mean and five
/// standard deviations.
#[track_caller]
fn alike(ours: &[u64], theirs: &[u64]) {
    let (mut chi, mut cells) = (0.0, 0.0);
    for (&a, &b) in ours.iter().zip(theirs) {
        if a + b > 0 {
            chi += (a as f64 - b as f64).powi(2) / (a + b) as f64;
            cells += 1.0;
        }
    }
    assert!(
        chi < cells + 5.0 * (2.0_f64 * cells).sqrt(),
        "{chi} over {cells}: {ours:?} {theirs:?}"
    );
}

fn histogram(ios: &[(u64, u32)], bins: usize, bin: impl Fn(u64, u32) -> usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    for &(offset, len) in ios {
        counts[bin(offset, len)] += 1;
    }
    counts
}

/// 200 parts of the area; the zone bounds are part bounds.
fn by_place(ios: &[(u64, u32)]) -> Vec<u64> {
    histogram(ios, 200, |offset, _| (offset * 200 / AREA_BYTES) as usize)
}

#[test]
fn zones_are_visited_as_by_fio() {
    let law = "zoned:50/5:30/15:20/80";
    let argument = format!("--random_distribution={law}");
    let Some(theirs) = by_fio(&["--bs=4k", &argument]) else {
        return;
    };
    assert_eq!(theirs.len(), IOS);
    let ours = by_assay(JobOptions {
        bs: Some("4k".into()),
        random_distribution: Some(law.into()),
        ..JobOptions::default()
    });
    alike(&by_place(&ours), &by_place(&theirs));
}

/// The hottest blocks of Pareto's law are as hot as fio's. (Colder ones are not compared: fio's
/// hash puts several ranks on one block.)
#[test]
fn hot_blocks_are_as_hot_as_fios() {
    fn hottest(ios: &[(u64, u32)]) -> Vec<u64> {
        let blocks = (AREA_BYTES / 4096) as usize;
        let mut counts = histogram(ios, blocks, |offset, _| (offset / 4096) as usize);
        counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        counts.truncate(5);
        counts
    }
    for law in ["pareto:0.2", "pareto:0.3"] {
        let argument = format!("--random_distribution={law}");
        let Some(theirs) = by_fio(&["--bs=4k", &argument]) else {
            return;
        };
        let ours = by_assay(JobOptions {
            bs: Some("4k".into()),
            random_distribution: Some(law.into()),
            ..JobOptions::default()
        });
        let (ours, theirs) = (hottest(&ours), hottest(&theirs));
        assert!(ours[0] > 3 * ours[1], "{law}: {ours:?}");
        alike(&ours, &theirs);
    }
}

/// JESD219's sizes, with and without its alignment of sizes of 4 KiB or more.
#[test]
fn a_mix_of_odd_sizes_has_the_offsets_of_fio() {
    let sizes = "512/4:1k/1:1536/1:2k/1:2560/1:3k/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3";
    let mix = format!("--bssplit={sizes}");
    for (align, argument) in [(512, "--blockalign=512"), (4096, "--blockalign=4k")] {
        let Some(theirs) = by_fio(&[&mix, argument]) else {
            return;
        };
        let ours = by_assay(JobOptions {
            bs: Some(sizes.into()),
            blockalign: (align > 512).then(|| "4k".to_owned()),
            ..JobOptions::default()
        });
        for ios in [&ours, &theirs] {
            assert!(ios.iter().all(|(offset, _)| offset % align == 0));
            assert!(ios.iter().any(|(offset, _)| offset % (2 * align) > 0));
        }
        alike(&by_place(&ours), &by_place(&theirs));
        let by_size = |ios: &[(u64, u32)]| histogram(ios, 129, |_, len| len as usize / 512);
        alike(&by_size(&ours), &by_size(&theirs));
    }
}
