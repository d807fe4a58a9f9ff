use super::*;

#[test]
fn a_depth_is_divided_evenly_among_the_most_threads() {
    let threads: Vec<u32> = [1, 2, 4, 6, 7, 8, 64].map(|d| threads_for_depth(d, 4)).to_vec();
    assert_eq!(threads, [1, 2, 4, 3, 1, 4, 4]);
}

#[test]
fn values_are_compared_after_parsing() {
    assert!(same_value("4k", "4096") && same_value("zipf:1", "zipf:1"));
    assert!(!same_value("4k", "4000") && !same_value("as-it-is", "0"));
}

/// `iodepth_batch_complete_min` was missing from the list of numbers.
#[test]
fn every_option_takes_a_parameter_as_its_type() {
    use assay_workload::options::{JOB_OPTIONS, JobOptions, OptionKind};
    for option in JOB_OPTIONS {
        let text = match option.kind {
            OptionKind::Text | OptionKind::Number => "8",
            OptionKind::Bool | OptionKind::Flag => "true",
        };
        let value = typed_option(option.name, &toml::Value::String(text.to_owned())).unwrap();
        let table = toml::Table::from_iter([(option.name.to_owned(), value)]);
        let options: JobOptions = table.try_into().unwrap();
        assert!(options.command_line().contains(option.name));
    }
}

#[test]
fn a_size_is_in_bytes_or_a_share_of_the_drive() {
    let parse = SizeParameter::parse;
    assert_eq!(parse("16k"), Ok(SizeParameter::Bytes(16384)));
    assert_eq!(parse(" 25 %"), Ok(SizeParameter::Share(0.25)));
    for wrong in ["0%", "101%", "-5%", "%", "x%", "inf%", "nan%", "", "4q"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}
