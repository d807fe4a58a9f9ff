//! One conformance suite for every adapter of the shared store: random interleavings of several
//! writers against a model, and writers in threads.

use std::collections::BTreeMap;

use assay_fleet::shared_store::{
    Condition, DirectoryStore, PutOutcome, SharedStore, SharedStoreError, Version,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[cfg(feature = "s3")]
mod s3;

/// What a writer does next.
#[derive(Clone, Debug)]
enum Step {
    Get,
    /// On condition of the version that it has seen last.
    PutSeen,
    PutAbsent,
    PutAny,
    Delete,
    List,
}

const KEYS: [&str; 4] = [
    "claims/plan/S-1.json",
    "claims/plan/S-10.json",
    "claims/plan-b/S%201.json",
    "runs/plan/S-1/00-quick/journal/1-0-512-00c0ffee",
];
const PREFIXES: [&str; 6] =
    ["", "claims/", "claims/plan/", "claims/plan", "runs/plan/S-1", "none/"];

fn steps() -> impl Strategy<Value = Vec<(usize, usize, Step)>> {
    let step = prop_oneof![
        2 => Just(Step::Get),
        4 => Just(Step::PutSeen),
        2 => Just(Step::PutAbsent),
        1 => Just(Step::PutAny),
        1 => Just(Step::Delete),
        1 => Just(Step::List),
    ];
    prop::collection::vec((0..3_usize, 0..KEYS.len(), step), 1..40)
}

/// Several writers, one step at a time in any order, against a map.
fn obeys_the_model(store: &dyn SharedStore, folder: &str, steps: &[(usize, usize, Step)]) {
    let mut model: BTreeMap<String, (Vec<u8>, Version)> = BTreeMap::new();
    let mut seen: BTreeMap<(usize, String), Version> = BTreeMap::new();
    for (number, (writer, key, step)) in steps.iter().enumerate() {
        let key = format!("{folder}/{}", KEYS[*key]);
        // Each content once: versions may follow from content.
        let bytes = format!("{number} by {writer}").into_bytes();
        let there = model.get(&key).cloned();
        let known = seen.get(&(*writer, key.clone())).cloned();
        let mut put = |condition: Condition, holds: bool| {
            let outcome = store.put(&key, &bytes, condition).unwrap();
            match outcome {
                PutOutcome::Stored(version) => {
                    assert!(holds, "step {number}: stored against its condition");
                    model.insert(key.clone(), (bytes.clone(), version.clone()));
                    seen.insert((*writer, key.clone()), version);
                }
                PutOutcome::Conflict => assert!(!holds, "step {number}: refused"),
            }
        };
        match step {
            Step::Get => {
                let found = store.get(&key).unwrap();
                assert_eq!(found, there, "step {number}");
                if let Some((_, version)) = found {
                    seen.insert((*writer, key), version);
                }
            }
            Step::PutSeen => {
                let Some(version) = known else {
                    continue;
                };
                let holds = there.is_some_and(|(_, now)| now == version);
                put(Condition::Is(version), holds);
            }
            Step::PutAbsent => {
                let holds = there.is_none();
                put(Condition::Absent, holds);
            }
            Step::PutAny => put(Condition::Any, true),
            Step::Delete => {
                store.delete(&key).unwrap();
                model.remove(&key);
            }
            Step::List => {
                for prefix in PREFIXES {
                    let prefix = format!("{folder}/{prefix}");
                    let keys = model.keys().filter(|key| key.starts_with(&prefix));
                    let keys: Vec<String> = keys.cloned().collect();
                    assert_eq!(store.list(&prefix).unwrap(), keys, "step {number}: {prefix}");
                }
            }
        }
    }
}

/// Threads count up in one document: no count is lost, none is given twice.
fn counts_exactly(stores: &[Box<dyn SharedStore>], key: &str, each: u64) {
    let count_up = |store: &dyn SharedStore| -> u64 {
        loop {
            let (value, condition) = match store.get(key).unwrap() {
                Some((bytes, version)) => {
                    let text = String::from_utf8(bytes).unwrap();
                    (text.parse().unwrap(), Condition::Is(version))
                }
                None => (0_u64, Condition::Absent),
            };
            let next = (value + 1).to_string();
            match store.put(key, next.as_bytes(), condition).unwrap() {
                PutOutcome::Stored(_) => return value + 1,
                PutOutcome::Conflict => {}
            }
        }
    };
    let mut given: Vec<u64> = std::thread::scope(|scope| {
        let writers = stores.iter().map(|store| {
            scope.spawn(move || (0..each).map(|_| count_up(store.as_ref())).collect::<Vec<_>>())
        });
        let writers: Vec<_> = writers.collect();
        let counts = writers.into_iter().flat_map(|writer| writer.join().unwrap());
        counts.collect()
    });
    given.sort_unstable();
    let all = each * stores.len() as u64;
    assert_eq!(given, (1..=all).collect::<Vec<_>>());
}

/// All of it.
fn conforms(open: &dyn Fn() -> Box<dyn SharedStore>, cases: u32) {
    let store = open();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let folders = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&steps(), |steps| {
            folders.set(folders.get() + 1);
            obeys_the_model(store.as_ref(), &format!("f{}", folders.get()), &steps);
            Ok(())
        })
        .unwrap();
    let stores: Vec<_> = (0..4).map(|_| open()).collect();
    counts_exactly(&stores, "counter", 10);
    for key in ["", "/a", "a/", "a//b", "../a", "a/.b", "a b", "a~2", "ä"] {
        assert!(matches!(store.get(key), Err(SharedStoreError::Key { .. })), "{key}");
    }
    assert!(matches!(store.put("a", b"", Condition::Any), Err(SharedStoreError::Empty(_))));
    let piece = vec![7; 3 << 20];
    store.put("large", &piece, Condition::Absent).unwrap();
    assert!(store.get("large").unwrap().unwrap().0 == piece);
}

#[test]
fn a_directory_conforms() {
    let folder = tempfile::TempDir::new().unwrap();
    let open =
        || -> Box<dyn SharedStore> { Box::new(DirectoryStore::open(folder.path()).unwrap()) };
    conforms(&open, 24);
}

#[test]
fn names_of_stores_are_checked() {
    let why = |at: &str| match assay_fleet::shared_store::open(at) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{at} was opened"),
    };
    assert!(why("shared/assay").contains("absolute"));
    assert!(why("gs://bucket/x").contains("s3://BUCKET/PREFIX"));
    assert!(why("/nonexistent/assay").contains("create it"));
    #[cfg(not(feature = "s3"))]
    assert!(why("s3://bucket/x").contains("this build has no object stores"));
}
