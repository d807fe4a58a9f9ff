use super::*;

#[test]
fn the_command_line_repeats_the_job() {
    let options = JobOptions {
        rw: Some("randread".into()),
        bs: Some("4k".into()),
        iodepth: Some(32),
        direct: Some(false),
        verify: Some(true),
        split: Some(false),
        ..JobOptions::default()
    };
    assert_eq!(
        options.command_line(),
        "--rw randread --bs 4k --iodepth 32 --direct false --verify"
    );
    assert_eq!(JobOptions::default().command_line(), "");
}

/// Every option is set by name from text, is a TOML field of the same name and type, and is
/// printed.
#[test]
fn each_option_has_one_name_everywhere() {
    for option in JOB_OPTIONS {
        let (text, toml) = match option.kind {
            OptionKind::Text => ("8k", "'8k'"),
            OptionKind::Number => ("8", "8"),
            OptionKind::Bool | OptionKind::Flag => ("true", "true"),
        };
        let mut set = JobOptions::default();
        set.set(option.name, text).unwrap();
        let read: JobOptions = toml::from_str(&format!("{} = {toml}", option.name)).unwrap();
        assert_eq!(set, read, "{}", option.name);
        assert!(set.command_line().starts_with(&format!("--{}", option.name)));
        assert!(std::ptr::eq(JobOption::find(option.name).unwrap(), option));
        if option.kind != OptionKind::Text {
            assert!(set.set(option.name, "many").is_err());
        }
    }
    assert!(JobOptions::default().set("norandommap", "1").is_err());
}

/// As fio reads its numbers; seeds keep all 64 bits.
#[test]
fn numbers_take_suffixes_of_powers_of_1024() {
    let set = |name: &str, text: &str| {
        let mut options = JobOptions::default();
        options.set(name, text).map(|()| (options.number_ios, options.iodepth, options.seed))
    };
    assert_eq!(set("number_ios", "10M"), Ok((Some(10 << 20), None, None)));
    assert_eq!(set("iodepth", " 1k "), Ok((None, Some(1024), None)));
    let greatest = u64::MAX.to_string();
    assert_eq!(set("seed", &greatest), Ok((None, None, Some(u64::MAX))));
    for wrong in ["1.5k", "-1k", "k", "1kk", "4KiB", "0x10", "16777216t", ""] {
        assert!(set("number_ios", wrong).is_err(), "{wrong}");
    }
    assert!(set("iodepth", "4g").is_err());
}

#[test]
fn the_documentation_lists_each_option() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/suites.md");
    let documentation = std::fs::read_to_string(path).unwrap();
    for option in JOB_OPTIONS {
        let row = option.markdown_row();
        assert!(
            documentation.lines().any(|line| line == row),
            "docs/suites.md lacks this row:\n{row}"
        );
    }
}
