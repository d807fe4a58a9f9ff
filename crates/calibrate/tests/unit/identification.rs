//! Numbers that reads determine, one that they do not, and the next figure.

use super::*;
use assay_ssd::Profile;

#[test]
fn short_reads_do_not_determine_the_rate_of_the_data_path() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    let free = ["nand.read_ns", "firmware.read_command_ns", "data_path.staged_bytes_per_second"];
    let free = free.map(FreeParameter::whole);
    let targets: Vec<Measurement> = crate::published::published("samsung-951")
        .unwrap()
        .into_iter()
        .filter(|m| m.key().starts_with("randread bs=4k"))
        .collect();
    assert_eq!(targets.len(), 2);
    let found = identify(text, &free, &targets, 2).unwrap();
    let of = |path: &str| found.numbers.iter().find(|n| n.path == path).unwrap();
    assert!(!of("nand.read_ns").is_undetermined, "{found:?}");
    assert!(of("data_path.staged_bytes_per_second").is_undetermined, "{found:?}");
    assert!(found.directions < 3, "{found:?}");
    // Long reads would.
    let first = &found.next[0];
    assert!(first.title.contains("128 KiB") || first.title.contains("64 KiB"), "{found:?}");
    assert!(first.options.starts_with("--rw randread --bs "), "{found:?}");
    assert!(first.removed > 0.2, "{found:?}");
    assert!(found.next.windows(2).all(|n| n[0].removed <= n[1].removed));
    assert_eq!(identify(text, &free, &targets, 1).unwrap(), found);
    assert_eq!(identify(text, &[], &targets, 1).unwrap(), Identification::default());
}
