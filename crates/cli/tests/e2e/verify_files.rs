//! Verification of a file that was damaged after the writing job.

use serde_json::Value;

use crate::fixture::{Fixture, MIB, noise, number};

const BLOCK: usize = 4096;

/// A file full of verified blocks, and its content.
#[track_caller]
fn written(fixture: &Fixture, options: &str) -> Vec<u8> {
    let job = fixture.json(&format!(
        "job disk --rw write --bs 64k --verify {options} --destroy disk"
    ));
    assert_eq!(job["jobs"][0]["verify"]["found"], serde_json::json!({}));
    fixture.read("disk")
}

/// Verifies by reading; returns the findings and the first example.
#[track_caller]
fn checked(fixture: &Fixture, options: &str, status: i32) -> (Value, String) {
    let job = fixture.json_status(
        &format!("job disk --rw read --bs 64k --verify {options}"),
        status,
    );
    let verify = &job["jobs"][0]["verify"];
    (
        verify["found"].clone(),
        verify["examples"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    )
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
    let expected: Value = expected
        .iter()
        .map(|(name, count)| ((*name).to_owned(), Value::from(*count)))
        .collect();
    assert_eq!(found, expected, "{what}: {example}");
    for part in message {
        assert!(
            example.contains(part),
            "{what}: {part:?} is not in {example:?}"
        );
    }
    // Verification changes nothing.
    assert!(fixture.read("disk") == content);
}

#[test]
fn one_flipped_bit() {
    damage(
        "flipped bit",
        &[("corrupt", 1)],
        &[
            "block of 4096 bytes at byte 28672",
            "byte 30000 of the drive",
            "1 bit flipped",
        ],
        |c, _| {
            c[30000] ^= 0x10;
        },
    );
    damage(
        "bit in a header",
        &[("corrupt", 1)],
        &["at byte 28672"],
        |c, _| c[28672 + 9] ^= 1,
    );
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

#[test]
fn a_zeroed_block_and_foreign_bytes() {
    damage(
        "zeroed block",
        &[("lost", 1)],
        &["at byte 28672", "zeroes"],
        |c, _| c[7 * BLOCK..8 * BLOCK].fill(0),
    );
    damage(
        "foreign bytes",
        &[("lost", 2)],
        &["at byte 28672", "bytes that assay did not write"],
        |c, _| {
            c[7 * BLOCK..9 * BLOCK].copy_from_slice(&noise(5, 2 * BLOCK));
        },
    );
}

#[test]
fn an_older_version_of_a_block() {
    damage(
        "older block",
        &[("stale", 1)],
        &["at byte 36864", "of an earlier job"],
        |c, fixture| {
            let older = c.clone();
            fixture.write("disk", &older);
            *c = written(fixture, "");
            c[9 * BLOCK..10 * BLOCK].copy_from_slice(&older[9 * BLOCK..10 * BLOCK]);
        },
    );
}

#[test]
fn a_mixed_block_is_torn_or_corrupt() {
    let fixture = Fixture::in_memory();
    fixture.write("disk", noise(9, MIB));
    let older = written(&fixture, "");
    let mut content = written(&fixture, "");
    content[7 * BLOCK + 2048..8 * BLOCK].copy_from_slice(&older[7 * BLOCK + 2048..8 * BLOCK]);
    fixture.write("disk", &content);
    let (found, example) = checked(&fixture, "", 1);
    let total: u64 = found
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(total, 1, "{found} {example}");
    assert!(
        found.get("torn").or(found.get("corrupt")).is_some(),
        "{found} {example}"
    );
    assert!(example.contains("at byte 28672"), "{example}");
}

#[test]
fn overwriting_an_earlier_run_raises_no_false_alarm() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", 4 * MIB);
    for round in 0..3 {
        written(&fixture, "");
        assert_eq!(
            checked(&fixture, "", 0).0,
            serde_json::json!({}),
            "round {round}"
        );
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
        assert_eq!(
            checked(&fixture, "--verify_seed 77", 0).0,
            serde_json::json!({})
        );
    }
    let (found, _) = checked(&fixture, "--verify_seed 78", 1);
    let bad: u64 = found
        .as_object()
        .unwrap()
        .values()
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert_eq!(bad, 1024, "no block has seed 78: {found}");
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
        for read in [
            "--engine uring --iodepth 8",
            "--engine sync --numjobs 2 --split",
            "--direct false",
        ] {
            assert_eq!(
                checked(&fixture, read, 0).0,
                serde_json::json!({}),
                "{write}, {read}"
            );
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
    assert_eq!(
        checked(&fixture, &format!("--verify_seed {seed}"), 0).0,
        serde_json::json!({})
    );
}

#[test]
fn a_file_without_verified_blocks_is_all_lost() {
    let fixture = Fixture::on_disk();
    fixture.noise("disk", MIB);
    assert_eq!(
        checked(&fixture, "", 1).0,
        serde_json::json!({ "lost": 256 })
    );
}
