//! Numbers that reads determine, one that they do not, and the next figure.

use super::*;
use assay_ssd::Profile;

#[test]
fn short_reads_do_not_determine_the_rate_of_the_data_path() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    let free = [
        "nand.read_ns",
        "firmware.read_command_ns",
        "data_path.staged_bytes_per_second",
    ];
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
    assert!(
        of("data_path.staged_bytes_per_second").is_undetermined,
        "{found:?}"
    );
    assert!(found.directions < 3, "{found:?}");
    // Long reads would.
    assert!(
        found.next[0].0.contains("128 KiB") || found.next[0].0.contains("64 KiB"),
        "{found:?}"
    );
    assert!(found.next[0].1 > 0.2, "{found:?}");
    assert_eq!(identify(text, &free, &targets, 1).unwrap(), found);
    assert_eq!(
        identify(text, &[], &targets, 1).unwrap(),
        Identification::default()
    );
}
