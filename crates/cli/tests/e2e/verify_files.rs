//! Verification of a file that was damaged after the writing job.

use serde_json::Value;

use crate::fault_fs::{Call, Fault, FaultFs, NAME};
use crate::fixture::{Fixture, MIB, noise, number};

const BLOCK: usize = 4096;

/// A file full of verified blocks, and its content.
#[track_caller]
fn written(fixture: &Fixture, options: &str) -> Vec<u8> {
    let job =
        fixture.json(&format!("job disk --rw write --bs 64k --verify {options} --destroy disk"));
    assert_eq!(job["jobs"][0]["verify"]["found"], serde_json::json!({}));
    fixture.read("disk")
}

/// Verifies by reading; returns the findings and the first example.
#[track_caller]
fn checked(fixture: &Fixture, options: &str, status: i32) -> (Value, String) {
    let job =
        fixture.json_status(&format!("job disk --rw read --bs 64k --verify {options}"), status);
    let verify = &job["jobs"][0]["verify"];
    (verify["found"].clone(), verify["examples"][0].as_str().unwrap_or_default().to_owned())
}

/// Damage the content and expect exactly this to be found.
#[track_caller]
fn damage(
    what: &str,
    expected: &[(&str, u64)],
    message: &[&str],
    hurt: impl FnOnce(&mut Vec<u8>, &Fixture),
) {
    let fixture = Fixture::in_memory();
    fixture.write("disk", noise(9, 4 * MIB));
    let mut content = written(&fixture, "");
    hurt(&mut content, &fixture);
    fixture.write("disk", &content);
    let (found, example) = checked(&fixture, "", 1);
    assert_eq!(found, counts(expected), "{what}: {example}");
    for part in message {
        assert!(example.contains(part), "{what}: {part:?} is not in {example:?}");
    }
    // Verification changes nothing.
    assert!(fixture.read("disk") == content);
}

fn counts(expected: &[(&str, u64)]) -> Value {
    let counts = expected.iter();
    counts.map(|(name, count)| ((*name).to_owned(), Value::from(*count))).collect()
}

/// Change the content as something else than a fault can: nothing is found, and this many blocks
/// are not judged.
#[track_caller]
fn change(what: &str, expected: &[(&str, u64)], make: impl FnOnce(&mut Vec<u8>, &Fixture)) {
    let fixture = Fixture::in_memory();
    fixture.write("disk", noise(9, 4 * MIB));
    let mut content = written(&fixture, "");
    make(&mut content, &fixture);
    fixture.write("disk", &content);
    let job = fixture.json("job disk --rw read --bs 64k --verify");
    let verify = &job["jobs"][0]["verify"];
    assert_eq!(verify["found"], counts(&[]), "{what}");
    let not_judged = match expected {
        [] => Value::Null,
        expected => counts(expected),
    };
    assert_eq!(verify["not_judged"], not_judged, "{what}");
    let unjudged: u64 = expected.iter().map(|(_, count)| count).sum();
    let checked = verify["blocks_checked"].as_u64().unwrap();
    assert!(checked + unjudged >= 1024, "{what}: {verify}");
    let warned = job["warnings"].to_string().contains("verify-not-judged");
    assert_eq!(warned, unjudged > 0, "{what}");
}

#[test]
fn one_flipped_bit() {
    damage(
        "flipped bit",
        &[("corrupt", 1)],
        &["block of 4096 bytes at byte 28672", "byte 30000 of the drive", "1 bit flipped"],
        |c, _| {
            c[30000] ^= 0x10;
        },
    );
    damage("bit in a header", &[("corrupt", 1)], &["at byte 28672"], |c, _| c[28672 + 9] ^= 1);
}

#[test]
fn a_block_copied_over_another() {
    damage(
        "copied block",
        &[("misplaced", 1)],
        &["at byte 28672", "of the block at byte 12288"],
        |c, _| {
            c.copy_within(3 * BLOCK..4 * BLOCK, 7 * BLOCK);
        },
    );
    damage(
        "swapped blocks",
        &[("misplaced", 2)],
        &["at byte 12288", "of the block at byte 28672"],
        |c, _| {
            let third = c[3 * BLOCK..4 * BLOCK].to_vec();
            c.copy_within(7 * BLOCK..8 * BLOCK, 3 * BLOCK);
            c[7 * BLOCK..8 * BLOCK].copy_from_slice(&third);
        },
    );
}

/// What another program, a deallocation, or another job did since is no fault of the drive.
#[test]
fn what_was_overwritten_since_is_not_judged() {
    change("nothing", &[], |_, _| {});
    change("zeroed block", &[("zeroes", 1)], |c, _| {
        c[7 * BLOCK..8 * BLOCK].fill(0);
    });
    change("foreign bytes", &[("other_data", 2)], |c, _| {
        c[7 * BLOCK..9 * BLOCK].copy_from_slice(&noise(5, 2 * BLOCK));
    });
    change("foreign sectors", &[("partly_overwritten", 1)], |c, _| {
        c[7 * BLOCK + 512..7 * BLOCK + 1536].copy_from_slice(&noise(5, 1024));
    });
    change("a block of an earlier job", &[], |c, fixture| {
        let older = c.clone();
        *c = written(fixture, "");
        c[9 * BLOCK..10 * BLOCK].copy_from_slice(&older[9 * BLOCK..10 * BLOCK]);
    });
    change("a part of an earlier job", &[("partly_overwritten", 1)], |c, fixture| {
        let older = c.clone();
        *c = written(fixture, "");
        let half = 7 * BLOCK + 2048..8 * BLOCK;
        c[half.clone()].copy_from_slice(&older[half]);
    });
}

/// A job of several, on a file of one MiB.
fn half(rw: &str, offset: &str, size: &str, more: &str) -> String {
    let verify = format!("--rw {rw} --offset {offset} --size {size} --verify {more}");
    match rw {
        "read" => format!("job disk {verify}"),
        _ => format!("job disk {verify} --destroy disk"),
    }
}

#[test]
fn areas_of_several_jobs_are_verified_in_one() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    fixture.json(&half("write", "0", "512k", "--bs 4k"));
    fixture.json(&half("write", "512k", "512k", "--bs 4k"));
    let check = |more: &str| {
        let job = fixture.json(&half("read", "0", "1m", more));
        let verify = &job["jobs"][0]["verify"];
        assert_eq!(verify["found"], counts(&[]), "{more}");
        (number(&job, "/jobs/0/verify/blocks_checked"), verify["not_judged"].clone())
    };
    assert_eq!(check("--bs 64k"), (256.0, Value::Null));
    // A rewrite of a part, with other blocks; and blocks longer than the reads.
    fixture.json(&half("write", "256k", "64k", "--bs 512"));
    assert_eq!(check("--bs 64k"), (240.0 + 128.0, Value::Null));
    assert_eq!(check("--bs 4k"), (240.0 + 128.0, Value::Null));
    let (checked, not_judged) = check("--bs 512");
    assert_eq!((checked, &not_judged["longer_than_read"]), (128.0, &240.into()));
}

/// Two jobs of one command on one area, of which one verifies: refused before any I/O.
#[test]
fn another_writer_in_a_verified_area_is_refused() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 2 * MIB);
    let before = fixture.read("disk");
    let jobs = |offset: &str| {
        format!(
            "job disk --size 1m --name a --rw write --bs 4k --verify --name b --rw randwrite \
             --bs 4k --offset {offset} --destroy disk"
        )
    };
    let refused = fixture.run(&jobs("512k"));
    refused.refuses(2, &["disk/a", "disk/b", "at the same time", "offset"]);
    assert!(fixture.read("disk") == before);
    let job = fixture.json(&jobs("1m"));
    assert_eq!(job["jobs"][0]["verify"]["found"], counts(&[]));
}

#[test]
fn overwriting_an_earlier_run_raises_no_false_alarm() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    for round in 0..3 {
        written(&fixture, "");
        assert_eq!(checked(&fixture, "", 0).0, serde_json::json!({}), "round {round}");
    }
    // Random overwrites, mixed with reads of blocks that this run has and has not written.
    for way in ["--engine uring --iodepth 16", "--engine sync"] {
        let words = "--rw randrw --bs 4k --io_size 8m --verify --destroy disk";
        let job = fixture.json(&format!("job disk {words} {way}"));
        assert_eq!(job["jobs"][0]["verify"]["found"], serde_json::json!({}));
    }
    // The same seed twice, on purpose.
    for _ in 0..2 {
        written(&fixture, "--verify_seed 77");
        assert_eq!(checked(&fixture, "--verify_seed 77", 0).0, serde_json::json!({}));
    }
    let job = fixture.json_status("job disk --rw read --bs 64k --verify --verify_seed 78", 1);
    let verify = &job["jobs"][0]["verify"];
    assert_eq!(verify["not_judged"], counts(&[("other_job", 1024)]));
    assert_eq!((&verify["found"], &verify["blocks_checked"]), (&counts(&[]), &0.into()));
}

#[test]
fn every_engine_verifies_the_writes_of_every_other() {
    let fixture = Fixture::in_memory();
    fixture.write("disk", noise(9, 4 * MIB));
    for write in [
        "--engine uring --iodepth 8",
        "--engine sync --numjobs 4",
        "--engine sync --direct false",
        "--data compress=2",
    ] {
        written(&fixture, write);
        for read in
            ["--engine uring --iodepth 8", "--engine sync --numjobs 2 --split", "--direct false"]
        {
            assert_eq!(checked(&fixture, read, 0).0, serde_json::json!({}), "{write}, {read}");
        }
        let job = fixture.json(
            "job disk --rw randread --random_distribution cover --bs 4k --iodepth 8 --verify",
        );
        assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 1024.0);
    }
}

#[test]
fn the_seed_reported_is_the_seed_to_verify_with() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let job = fixture.json("job disk --rw write --bs 64k --verify --destroy disk");
    let seed = job["jobs"][0]["verify"]["seed"].as_u64().unwrap();
    // Readers that keep numbers as floats (jq, JavaScript) must not change it.
    assert!(seed < 1 << 53, "{seed}");
    assert_eq!(checked(&fixture, &format!("--verify_seed {seed}"), 0).0, serde_json::json!({}));
}

#[test]
fn a_file_without_verified_blocks_is_not_judged() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    let job = fixture.json_status("job disk --rw read --bs 64k --verify", 1);
    let verify = &job["jobs"][0]["verify"];
    assert_eq!(verify["not_judged"], counts(&[("other_data", 256)]));
    assert_eq!((&verify["found"], &verify["blocks_checked"]), (&counts(&[]), &0.into()));
    let read = fixture.run("job disk --rw read --bs 64k --verify");
    let text = read.expect(1).stdout;
    assert!(text.contains("no block; not judged: 256 not written by a verifying job"), "{text}");
}

/// Storage that loses a write, and a page cache that has it.
#[test]
fn writes_through_the_page_cache_are_read_back_from_storage() {
    for (fault, found) in
        [(None, None), (Some(Fault::Lie), Some("lost")), (Some(Fault::Tear), Some("lost"))]
    {
        let Some(storage) = FaultFs::mount(noise(7, 4 * MIB)) else {
            return;
        };
        let fixture = Fixture::in_memory();
        if let Some(fault) = fault {
            storage.plan_times(Call::Write, fault, 3, 1);
        }
        let path = storage.path().display().to_string();
        let words = format!("job {path} --rw write --bs 64k --verify --direct 0 --destroy {NAME}");
        let status = i32::from(found.is_some());
        let job = fixture.json_status(&words, status);
        let verify = &job["jobs"][0]["verify"];
        assert_eq!(verify["not_judged"], Value::Null, "{fault:?}: {verify}");
        assert_eq!(number(&job, "/jobs/0/verify/blocks_checked"), 1024.0, "{fault:?}");
        let kinds: Vec<&str> =
            verify["found"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(kinds, found.into_iter().collect::<Vec<_>>(), "{verify}");
        if found.is_some() {
            let advice = advice_of_fault(&job);
            let layer = advice.contains("it is a file of a program (fuse");
            assert!(layer && !advice.contains("on this drive"), "{advice}");
        }
    }
}

/// What a job that found a fault advises.
fn advice_of_fault(job: &Value) -> &str {
    let warnings = job["warnings"].as_array().unwrap();
    let mut warnings = warnings.iter().filter(|w| w["code"] == "verify-failed");
    warnings.next().unwrap()["advice"].as_str().unwrap()
}

/// Nothing lies between it and the job.
#[test]
fn a_drive_with_a_fault_is_named_as_such() {
    let fixture = Fixture::in_memory();
    let words = "job sim:samsung-951,fault=corrupt-write@5 --rw write --bs 16k --size 1m --verify";
    let job = fixture.json_status(words, 1);
    let advice = advice_of_fault(&job);
    assert!(advice.contains("do not store data on this drive"), "{advice}");
}
