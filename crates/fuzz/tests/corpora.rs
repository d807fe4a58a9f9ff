//! Every target, on its corpus and on seeded mutations of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use assay_fuzz::{MAX_INPUT_BYTES, TARGETS, Target};
use assay_units::Rng;

/// Mutated inputs of each target.
const MUTATIONS: u64 = 300;
/// Most bytes of all corpora.
const MAX_CORPORA_BYTES: usize = 1 << 20;

fn corpora() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = corpora().join(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(&path).unwrap());
    paths.into_iter().map(read).collect()
}

/// An input with a few changes: bytes flipped, removed, repeated, or exchanged with a part of
/// another input.
fn mutated(rng: &mut Rng, inputs: &[(String, Vec<u8>)]) -> Vec<u8> {
    let any = |rng: &mut Rng| inputs[rng.below(inputs.len() as u64) as usize].1.clone();
    let mut bytes = any(rng);
    for _ in 0..=rng.below(6) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        let end = (at + 1 + rng.below(16) as usize).min(bytes.len());
        match rng.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => {
                bytes[at] = [0, 1, 0x7f, 0xff, b'9', b'-', b'\n'][rng.below(7) as usize]
            }
            2 => drop(bytes.drain(at..end.max(at))),
            3 => {
                let part = bytes[at..end.max(at)].to_vec();
                let part = part.repeat(1 + rng.below(40) as usize);
                bytes.splice(at..at, part);
            }
            4 => {
                let other = any(rng);
                let from = rng.below(other.len() as u64 + 1) as usize;
                bytes.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let digits = rng.next_u64().to_string();
                bytes.splice(at..at, digits.into_bytes());
            }
        }
    }
    bytes.truncate(MAX_INPUT_BYTES);
    bytes
}

fn replay(target: &Target) {
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "{} has a corpus", target.name);
    for (name, bytes) in &inputs {
        // The test's output names the input that fails.
        println!("{name}");
        (target.run)(bytes);
    }
    let mut rng = Rng::stream(1, target.name);
    for n in 0..MUTATIONS {
        let bytes = mutated(&mut rng, &inputs);
        let failed = std::panic::catch_unwind(|| (target.run)(&bytes)).is_err();
        if failed {
            let path = std::env::temp_dir().join(format!("{}-{n}", target.name));
            fs::write(&path, &bytes).unwrap();
            panic!("{}: mutation {n} fails: {}", target.name, path.display());
        }
    }
}

macro_rules! replays {
    ($($name:ident: $target:literal,)+) => {
        $(#[test]
        fn $name() {
            replay(assay_fuzz::find($target).unwrap());
        })+

        #[test]
        fn every_target_is_replayed() {
            let tested = BTreeSet::from([$($target),+]);
            let targets: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(tested, targets);
        }
    };
}

replays! {
    controller: "controller",
    csv_table: "csv-table",
    fio_job: "fio-job",
    fleet_plan: "fleet-plan",
    fleet_sweep: "fleet-sweep",
    histogram: "histogram",
    import: "import",
    journal: "journal",
    manifest: "manifest",
    nbd: "nbd",
    nvme_tcp: "nvme-tcp",
    pattern: "pattern",
    policy: "policy",
    probe: "probe",
    profile: "profile",
    recording_index: "recording-index",
    saved_drive: "saved-drive",
    signature: "signature",
    suite: "suite",
    trace: "trace",
    verify_blocks: "verify-blocks",
    vfio_user: "vfio-user",
    words: "words",
}

#[test]
fn corpora_are_small_and_belong_to_targets() {
    let mut total = 0;
    for entry in fs::read_dir(corpora()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let target = assay_fuzz::find(&name);
        let target = target.unwrap_or_else(|| panic!("corpus/{name} has no target"));
        for (path, bytes) in inputs(target) {
            assert!(bytes.len() <= MAX_INPUT_BYTES, "{path} has {} bytes", bytes.len());
            total += bytes.len();
        }
    }
    assert!(total <= MAX_CORPORA_BYTES, "the corpora have {total} bytes");
}
