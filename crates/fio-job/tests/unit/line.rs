use std::path::Path;

use super::*;
use crate::ini::JobFile;
use crate::ini::tests::SUBSTITUTION;

fn parse(line: &str) -> Result<CommandLine, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    CommandLine::parse(&words).map_err(|error| error.to_string())
}

/// Sections and their options, of a line and of files of it.
fn sections(line: &str, files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
    let mut read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(std::io::ErrorKind::NotFound.into())
    };
    let file = JobFile::of_line(&parse(line).unwrap(), &SUBSTITUTION, &mut read).unwrap();
    let shown = |option: FileOption| match option.value {
        Some(value) => format!("{}={value}", option.name),
        None => option.name,
    };
    let sections = file.sections.into_iter();
    sections
        .map(|section| (section.name, section.options.into_iter().map(shown).collect()))
        .collect()
}

#[test]
fn words_are_read_as_getopt_long_only_reads_them() {
    let expected = [(
        "a".to_owned(),
        vec!["rw=randread".to_owned(), "bs=4k".to_owned(), "time_based".to_owned()],
    )];
    for line in [
        "--name=a --rw=randread --bs=4k --time_based",
        "-name=a -rw=randread -bs 4k -time_based",
        "--name a --rw randread --bs 4k --time_based",
        "--rw=randread --bs=4k --time_based --name=a",
        "--rw=randread --bs=4k --name=a --time_b",
        "--name=a --rw=randread --bs=4k --time-based",
    ] {
        assert_eq!(sections(line, &[]), expected, "{line}");
    }
    assert_eq!(parse("--time_based 1").unwrap().files, ["1"]);
    assert_eq!(sections("--rw=read", &[]), [("fio".to_owned(), vec!["rw=read".to_owned()])]);
}

#[test]
fn jobs_of_a_line_precede_those_of_its_files() {
    let files = [("a.fio", "[global]\nbs=8k\n[x]\n[y]\n"), ("b.fio", "[z]\n")];
    let found = sections("--direct=1 a.fio --name=own --rw=read b.fio", &files);
    let shown: Vec<String> =
        found.iter().map(|(name, options)| format!("{name}: {}", options.join(" "))).collect();
    assert_eq!(
        shown,
        [
            "own: direct=1 rw=read",
            "x: direct=1 bs=8k",
            "y: direct=1 bs=8k",
            "z: direct=1 bs=8k stonewall"
        ]
    );
    let one = sections("--section=y a.fio b.fio", &files);
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].0, "y");
}

#[test]
fn options_of_the_command_are_taken_or_refused_by_name() {
    let line =
        parse("--name=a --output-format=normal,json+ --output o.json --readonly --eta=never")
            .unwrap();
    assert_eq!(line.formats, [Format::Normal, Format::Json]);
    assert_eq!(line.output, Some("o.json".into()));
    assert!(line.read_only && line.no_progress && !line.dry_run);
    assert_eq!(parse("--minimal").unwrap().formats, [Format::Terse]);
    let line = parse("--append-terse --terse-version=5").unwrap();
    assert_eq!(line.formats, [Format::Normal, Format::Terse]);
    assert_eq!(line.terse_version, Some(5));
    for (line, expected) in [
        ("--client=host a.fio", "--client=host is not supported: assay fleet"),
        ("--terse-version=1", "versions are 2 to 5"),
        ("--output-format=yaml", "the formats are normal, terse, json and json+"),
        ("--name=a --blokcsize=4k", "did you mean \"blocksize\""),
        ("--log_h=1", "is ambiguous: log_hist_"),
        ("--name=a --bs --rw=read", "--bs needs a value"),
        ("--name", "--name needs a value"),
    ] {
        let error = parse(line).unwrap_err();
        assert!(
            error.starts_with("command line: ") && error.contains(expected),
            "{error} for {line}"
        );
    }
}
