use super::*;
use proptest::prelude::*;

fn kind(text: &str) -> SpecKind {
    DriveSpec::parse(text).unwrap().kind().clone()
}

#[test]
fn null_forms() {
    assert_eq!(kind("null:"), SpecKind::Null { size_bytes: NULL_DEFAULT_BYTES });
    assert_eq!(kind("null:size=1m"), SpecKind::Null { size_bytes: 1 << 20 });
    for bad in [
        "null:size=0",
        "null:size=513",
        "null:size=x",
        "null:depth=3",
        "null:size",
        "null:size=1m,size=2m",
        "null:,",
    ] {
        assert!(DriveSpec::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn sim_forms_keep_pairs_in_order() {
    let expected = SpecKind::Sim {
        profile: "plextor-m8pe-y".into(),
        options: vec![("op".into(), "25%".into()), ("seed".into(), "7".into())],
    };
    assert_eq!(kind("sim:plextor-m8pe-y,op=25%,seed=7"), expected);
    assert_eq!(kind("sim:x"), SpecKind::Sim { profile: "x".into(), options: vec![] });
    assert_eq!(
        kind("sim:x,fault=drop-write@1,fault=latency-spike@3=5ms"),
        SpecKind::Sim {
            profile: "x".into(),
            options: vec![
                ("fault".into(), "drop-write@1".into()),
                ("fault".into(), "latency-spike@3=5ms".into()),
            ],
        }
    );
    for bad in [
        "sim:",
        "sim:,seed=1",
        "sim:seed=1",
        "sim:x,",
        "sim:x,seed",
        "sim:x,seed=",
        "sim:x,=1",
        "sim:x,a=1,a=2",
    ] {
        assert!(DriveSpec::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn paths_and_nvme_generic() {
    assert_eq!(kind("/dev/nvme0n1"), SpecKind::Path("/dev/nvme0n1".into()));
    assert_eq!(kind("/dev/ng0n1"), SpecKind::NvmeGeneric("/dev/ng0n1".into()));
    assert_eq!(kind("./null:"), SpecKind::Path("./null:".into()));
    for ordinary in ["/tmp/ng0n1", "/dev/ng0", "/dev/ngn1", "/dev/ng0n", "/dev/ng0n1p1"] {
        assert_eq!(kind(ordinary), SpecKind::Path(ordinary.into()));
    }
    assert_eq!(nvme_generic_block_name("ng12n3").as_deref(), Some("nvme12n3"));
    assert_eq!(DriveSpec::parse(" "), Err(SpecError::Empty));
}

proptest! {
    #[test]
    fn display_round_trips(text in "\\PC{0,40}", prefix in prop::sample::select(vec!["", "sim:", "null:", "/dev/"])) {
        let text = format!("{prefix}{text}");
        if let Ok(spec) = DriveSpec::parse(&text) {
            prop_assert_eq!(spec.text(), text);
        }
    }
}
