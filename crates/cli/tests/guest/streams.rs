//! Streams on an NVMe drive.

use serde_json::Value;

use crate::fixture::{MIB, noise, number};
use crate::guest::Setup;

#[test]
fn a_stream_is_replayed_and_the_testbench_passes() {
    let Some(setup) = Setup::new() else { return };
    let mut guest = setup.drive("first", "GUEST-0001", "one", 64 * MIB).boot();
    let device = &guest.device("GUEST-0001");

    // A stream that does not end with a chunk.
    guest.ok("head -c 5000001 /dev/urandom >stream");
    let sum = guest.ok("sha256sum <stream");
    guest.sh(&format!("assay record {device} --index <stream")).refuses(3, &["GUEST-0001"]);
    let recorded: Value = serde_json::from_str(&guest.ok(&format!(
        "assay record {device} --index --label lab --destroy GUEST-0001 --json <stream"
    )))
    .unwrap();
    assert_eq!(number(&recorded, "/status/bytes"), 5_000_001.0);
    assert_eq!(number(&recorded, "/status/durable_bytes"), 5_000_001.0);
    let verified = guest.json(&format!("verify {device}"));
    assert_eq!(verified["recording"]["whole"], Value::Bool(true), "{verified:#}");
    assert_eq!(guest.ok(&format!("assay replay {device} | sha256sum")), sum);
    // A new recording needs a new confirmation.
    guest.sh(&format!("assay record {device} <stream")).refuses(3, &["GUEST-0001"]);

    // Damage of the image is detected.
    let mut content = guest.content("one");
    let at = content.windows(8).position(|w| w != [0; 8]).unwrap();
    assert!(at < MIB, "the recording begins at the drive's beginning");
    let damaged = at + 3 * MIB;
    content[damaged..damaged + 4096].copy_from_slice(&noise(1, 4096));
    guest.fixture.write("one", &content);
    let verified = guest.json_status(&format!("verify {device}"), 1);
    assert_eq!(number(&verified, "/recording/bad_chunks"), 1.0, "{verified:#}");

    let bench = guest.json(&format!(
        "testbench {device} --chunk 16k --iodepth 8 --span 1m --last 4080k --destroy GUEST-0001 \
         --destroy assay-recording"
    ));
    assert_eq!(number(&bench, "/failed"), 0.0, "{bench:#}");
    assert!(number(&bench, "/passed") >= 10.0, "{bench:#}");
    guest.end();
}
