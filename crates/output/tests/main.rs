//! All tests of this crate as one program.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assay_output::{
    Replacement, UnsafeFile, create_new, open_log, open_to_append, open_to_read, open_to_rewrite,
    read, replace,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        fs::write(self.path(name), "precious").unwrap();
        self.path(name)
    }

    fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

type Opening = fn(&Path) -> std::io::Result<fs::File>;
const OPENINGS: [Opening; 3] = [open_to_append, open_log, open_to_rewrite];

fn is_unsafe<T>(result: std::io::Result<T>) -> bool {
    result.is_err_and(|error| UnsafeFile::is_cause_of(&error))
}

#[test]
fn links_fifos_and_folders_are_not_written() {
    let folder = Folder::new();
    let target = folder.file("target");
    let link = folder.path("link");
    symlink(&target, &link).unwrap();
    let twin = folder.path("twin");
    fs::hard_link(folder.file("other"), &twin).unwrap();
    let fifo = folder.fifo("fifo");
    let within = folder.path("folder");
    fs::create_dir(&within).unwrap();
    for open in OPENINGS {
        assert!(is_unsafe(open(&link)));
        assert!(is_unsafe(open(&twin)));
        assert!(is_unsafe(open(&fifo)));
        assert!(open(&within).is_err());
    }
    assert!(create_new(&link).is_err());
    assert!(is_unsafe(replace(&fifo, b"new")));
    assert!(is_unsafe(replace(&within, b"new")));
    assert!(is_unsafe(replace(Path::new("/dev/null"), b"new")));
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(fs::read(&twin).unwrap(), b"precious");
}

#[test]
fn a_link_is_replaced_and_a_link_to_a_special_file_is_refused() {
    let folder = Folder::new();
    let target = folder.file("target");
    let link = folder.path("link");
    symlink(&target, &link).unwrap();
    replace(&link, b"new").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(fs::read(&link).unwrap(), b"new");
    assert!(!link.is_symlink());
    let null = folder.path("null");
    symlink("/dev/null", &null).unwrap();
    assert!(is_unsafe(replace(&null, b"new")));
    assert!(null.is_symlink());
}

#[test]
fn hard_links_of_a_replaced_file_keep_its_content() {
    let folder = Folder::new();
    let file = folder.file("file");
    let twin = folder.path("twin");
    fs::hard_link(&file, &twin).unwrap();
    replace(&file, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::read(&twin).unwrap(), b"precious");
}

#[test]
fn a_replacement_that_is_not_committed_leaves_nothing() {
    let folder = Folder::new();
    let file = folder.file("file");
    let mut new = Replacement::begin(&file).unwrap();
    new.file.write_all(b"half").unwrap();
    assert_eq!(folder.names().len(), 2);
    drop(new);
    assert_eq!(folder.names(), ["file"]);
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}

#[test]
fn planted_names_of_temporary_files_are_not_used() {
    let folder = Folder::new();
    let target = folder.file("target");
    let file = folder.path("report.html");
    symlink(&target, folder.path(".report.html.tmp")).unwrap();
    replace(&file, b"new").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(fs::read(&file).unwrap(), b"new");
    replace(&folder.path(&"n".repeat(255)), b"long").unwrap();
}

#[test]
fn reading_waits_for_no_fifo_and_has_a_limit() {
    let folder = Folder::new();
    assert!(is_unsafe(open_to_read(&folder.fifo("fifo"))));
    let file = folder.file("file");
    assert_eq!(read(&file, 8).unwrap(), b"precious");
    let error = read(&file, 7).unwrap_err();
    assert!(error.to_string().contains("longer than 7 bytes"), "{error}");
}

#[test]
fn existing_files_are_continued_and_emptied() {
    let folder = Folder::new();
    let file = folder.file("file");
    open_to_append(&file).unwrap().write_all(b"!").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"precious!");
    open_to_rewrite(&file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"");
    assert!(open_to_append(&folder.path("none")).is_err());
    open_log(&folder.path("log")).unwrap().write_all(b"line").unwrap();
    assert_eq!(fs::read(folder.path("log")).unwrap(), b"line");
}
