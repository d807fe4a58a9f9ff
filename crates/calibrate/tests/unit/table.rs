//! Valid and invalid tables.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Vec<Measurement> {
    measurements("m.csv", text).expect("a good table")
}

#[test]
fn a_value_alone_is_a_random_read_of_4_kib() {
    let all = read("value\n35.5\n\n# a comment\n36\n");
    assert_eq!(all.len(), 2);
    let one = &all[0];
    assert_eq!(one.key(), "randread bs=4k threads=1 depth=1, mib_per_s");
    assert_eq!((one.value, one.role), (35.5, Role::Target));
    assert_eq!(one.tolerance, Tolerance::Relative(0.10));
    assert_eq!(one.source, "m.csv");
}

#[test]
fn every_column_is_read() {
    let all = read(
        "rw,block,threads,queue_depth,data,state,area,ios,metric,value,tolerance,role,source\n\
         write,128k,2,8,zero,fresh,1GiB,500,p99_us,120,30,held_out,\"a, \"\"quoted\"\" name\"\n",
    );
    let one = &all[0];
    assert_eq!(
        one.key(),
        "write bs=128k threads=2 depth=8 state=fresh data=zero area=1g ios=500, p99_us"
    );
    assert_eq!(one.tolerance, Tolerance::Relative(0.30));
    assert_eq!(one.role, Role::HeldOut);
    assert_eq!(one.source, "a, \"quoted\" name");
}

#[test]
fn other_procedures_have_their_own_metric() {
    let all = read("procedure,value,tolerance\nsettled_celsius,72,3\nwrite_steady,233,\n");
    assert_eq!(all[0].metric, ReferenceMetric::Celsius);
    assert_eq!(all[0].tolerance, Tolerance::Absolute(3.0));
    assert_eq!(all[1].metric, ReferenceMetric::MbPerS);
    for (name, ..) in FIGURES {
        assert!(figure_named(name).is_some(), "{name}");
    }
}

#[test]
fn errors_name_file_line_column_and_a_valid_value() {
    for (text, line, expected) in [
        ("", 1, "no heading"),
        ("value,value\n", 1, "is repeated"),
        ("value,colour\n1,red\n", 1, "no such column"),
        ("value\n1,2\n", 2, "2 fields"),
        ("value\n\"1\n", 2, "not closed"),
        ("value\n\"1\"x\n", 2, "not closed"),
        ("value,threads\n1,1\n\n,2\n", 4, "missing"),
        ("value\n0\n", 2, "above 0"),
        ("value\nNaN\n", 2, "above 0"),
        ("value\ninf\n", 2, "above 0"),
        ("value,threads\n1,0\n", 2, "1 to 1024"),
        ("value,threads\n1,two\n", 2, "whole number"),
        ("value,threads,queue_depth\n1,1024,1024\n", 2, "65536"),
        ("value,block\n1,513\n", 2, "multiple of 512"),
        ("value,block\n1,8g\n", 2, "64 MiB"),
        ("value,block\n1,big\n", 2, "a size looks like"),
        ("value,block,area\n1,1m,4k\n", 2, "smaller than a block"),
        ("value,rw\n1,trim\n", 2, "randread"),
        ("value,state\n1,old\n", 2, "overwritten"),
        ("value,data\n1,text\n", 2, "incompressible"),
        ("value,metric\n1,furlongs\n", 2, "p99_999_us"),
        ("value,metric\n1,celsius\n", 2, "name a procedure"),
        ("value,role\n1,secret\n", 2, "held_out"),
        ("value,procedure\n1,nap\n", 2, "write_steady"),
        ("value,procedure,metric\n1,write_steady,iops\n", 2, "mb_per_s"),
        ("value,tolerance\n1,-3\n", 2, "above 0"),
    ] {
        let error = measurements("m.csv", text).expect_err(text).to_string();
        assert!(
            error.contains(&format!("m.csv, line {line}")) && error.contains(expected),
            "{text:?}: {error}"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}", heading in prop::sample::select(vec!["value\n", "value,rw\n", "value,block,area\n", ""])) {
        let _ = measurements("m.csv", &format!("{heading}{text}"));
    }

    #[test]
    fn arbitrary_fields_never_panic(fields in prop::collection::vec("[-0-9a-z.,\"]{0,8}", 3), column in prop::sample::select(COLUMNS.split(", ").collect::<Vec<_>>())) {
        let _ = measurements("m.csv", &format!("value,{column},source\n{}\n", fields.join(",")));
    }
}
