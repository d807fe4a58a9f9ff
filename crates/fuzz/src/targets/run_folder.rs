use std::fs;
use std::path::Path;

use assay_report::terminal::{self, Style};
use assay_store::Run;

/// Files of a short run, with which the other file of a folder is read.
const MANIFEST: &[u8] = include_bytes!("../../corpus/manifest/run.json");
const JOURNAL: &[u8] = include_bytes!("../../corpus/journal/run.log");
const WIDTH: usize = 100;

pub fn manifest(data: &[u8]) {
    read(data, &with_checksums(JOURNAL));
}

/// Lines of `journal.log` without their checksums, which are added, so that inputs get beyond them.
/// A line that begins with `!` has none.
pub fn journal(data: &[u8]) {
    read(MANIFEST, &with_checksums(data));
}

fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut journal = Vec::new();
    for line in data.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if line[0] != b'!' {
            journal.extend_from_slice(format!("{:08x} ", crc32c::crc32c(line)).as_bytes());
        }
        journal.extend_from_slice(line);
        journal.push(b'\n');
    }
    journal
}

fn read(manifest: &[u8], journal: &[u8]) {
    let parent = Path::new("/dev/shm");
    let parent = if parent.is_dir() { parent } else { Path::new("/tmp") };
    let folder = tempfile::tempdir_in(parent).expect("a temporary folder");
    fs::write(folder.path().join("manifest.json"), manifest).expect("a temporary file");
    fs::write(folder.path().join("journal.log"), journal).expect("a temporary file");
    if let Ok(run) = Run::open(folder.path()) {
        let text = terminal::render(&run, WIDTH, Style::Plain);
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_control), "control characters reach the terminal");
    }
}
