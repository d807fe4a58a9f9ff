//! One notation of figures in everything that a person reads: scans the string literals of all
//! crates.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose "us" is a unit in the columns of a file, not text; and the checks of those files.
const DATA_FILES: [&str; 2] = ["calibrate", "nvme-spec"];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The lines with code of every crate's sources that have a string literal: file, number, text.
fn lines_with_text() -> Vec<(String, usize, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let is_data = DATA_FILES.iter().any(|name| folder.ends_with(name));
        if !is_data && folder.join("src").is_dir() {
            sources(&folder.join("src"), &mut files);
        }
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && code.contains('"') {
                lines.push((file.display().to_string(), number + 1, code.to_owned()));
            }
        }
    }
    lines
}

#[test]
fn microseconds_have_one_sign() {
    for (file, number, line) in lines_with_text() {
        // Parsing accepts both, and data formats in ASCII have a unit code.
        let codes = ["\"us\" | ", "UCUM_MICROSECOND: &str", "TABLE_MICROSECOND: &str"];
        let parses = codes.iter().any(|code| line.contains(code));
        let ascii = ["} us", "\" us", ", us\"", "\"us\""];
        let ascii = ascii.iter().any(|text| line.contains(text));
        assert!(!ascii || parses, "{file}:{number}: write \\u{{b5}}s: {line}");
        assert!(
            !line.contains('\u{3bc}') && !line.contains("u{3bc}"),
            "{file}:{number}: the Greek letter; write the micro sign U+00B5: {line}"
        );
    }
}

#[test]
fn rates_have_their_thousands_separated() {
    for (file, number, line) in lines_with_text() {
        for unit in ["IOPS", "MiB/s", "I/Os per second"] {
            let bare = format!(":.0}} {unit}");
            assert!(
                !line.contains(&bare),
                "{file}:{number}: use assay_units::text::whole or the figures of reports: {line}"
            );
        }
    }
}
