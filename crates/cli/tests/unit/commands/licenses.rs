use std::collections::BTreeSet;

use super::*;

/// (name, version) of the registry's crates in Cargo.lock.
fn locked() -> BTreeSet<String> {
    let lock = include_str!("../../../../../Cargo.lock");
    let packages = lock.split("[[package]]").filter(|text| text.contains("\nsource = "));
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_matches('"').to_owned()
    };
    packages
        .map(|text| format!("{} {}", value(text, "name = "), value(text, "version = ")))
        .collect()
}

#[test]
fn every_listed_crate_is_the_locked_one() {
    let locked = locked();
    let listed: Vec<_> = components().collect();
    let crates = listed.iter().filter(|(name, _)| locked.contains(*name)).count();
    // The rest is no crate: the standard library, zstd, plotly.js, the C libraries.
    let others =
        ["Rust standard library", "Zstandard (C library) ", "plotly.js", "musl", "GNU C Library"];
    for (name, licence) in &listed {
        let known = locked.contains(*name) || others.iter().any(|other| name.starts_with(other));
        assert!(known, "{name} is not in Cargo.lock: run `make licences`");
        assert!(!licence.is_empty());
    }
    assert!(crates > 50, "{crates} crates");
    assert_eq!(listed.len(), crates + others.len());
}

#[test]
fn every_component_has_its_text() {
    for (name, licence) in components() {
        let (_, texts) = LICENCES.split_once("----------").unwrap();
        let text = texts.replace('\n', " ");
        for one in licence.split(" (").next().unwrap().split(" AND ") {
            assert!(text.contains(&format!("{one}, for:")), "no text of {one}");
        }
        assert!(text.contains(name), "no text for {name}");
    }
}
