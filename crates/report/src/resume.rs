//! The command that continues an interrupted run.

use std::path::Path;

use assay_store::read::Run;

/// Options of `assay run` that a resumed run needs again, because a run folder grants no permission
/// and starts no program.
const NEEDED_AGAIN: [&str; 2] = ["--destroy", "--power-meter"];

/// The command for a run of a suite; a single job cannot be continued.
pub(crate) fn of_run(run: &Run) -> Option<String> {
    let is_suite = !run.manifest.suite.text.is_empty();
    is_suite.then(|| resume_command(&run.path, &run.manifest.command_line))
}

/// `assay run --resume FOLDER` with the options that must be given again, quoted for a shell.
/// `command_line` is that of the first attempt.
pub fn resume_command(folder: &Path, command_line: &[String]) -> String {
    let mut command = format!("assay run --resume {}", quoted(&folder.to_string_lossy()));
    let mut words = command_line.iter().skip(1);
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        if !NEEDED_AGAIN.contains(&name) {
            continue;
        }
        if let Some(value) = value.or_else(|| words.next().map(String::as_str)) {
            command.push_str(&format!(" {name} {}", quoted(value)));
        }
    }
    command
}

/// A word as a POSIX shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "../tests/unit/resume.rs"]
mod tests;
