use super::*;

#[test]
fn families_have_help_type_and_unit_before_their_samples() {
    let mut encoder = Encoder::default();
    encoder.family("a_reads", FamilyKind::Counter, "", "drive", "Reads \\ \"all\"\nof them.");
    encoder.sample("_total", &[("drive", "a\"b\\c\nd\x07")], 12.0);
    encoder.family("a_seconds", FamilyKind::Gauge, "seconds", "", "Time.");
    encoder.sample("", &[], 0.000_000_5);
    encoder.sample("", &[], f64::NAN);
    let text = encoder.finish();
    let expected = concat!(
        "# HELP a_reads Reads \\\\ \\\"all\\\"\\nof them.\n",
        "# TYPE a_reads counter\n",
        "a_reads_total{drive=\"a\\\"b\\\\c\\nd \"} 12\n",
        "# HELP a_seconds Time.\n",
        "# TYPE a_seconds gauge\n",
        "# UNIT a_seconds seconds\n",
        "a_seconds 0.0000005\n",
        "# EOF\n"
    );
    assert_eq!(text, expected);
}

#[test]
#[should_panic(expected = "colour")]
fn a_label_that_the_family_does_not_name_is_a_defect() {
    let mut encoder = Encoder::default();
    encoder.family("a", FamilyKind::Gauge, "", "drive", "x");
    encoder.sample("", &[("colour", "x")], 1.0);
}
