use super::*;

#[test]
fn there_is_a_page_for_each_command_with_its_options() {
    let pages = pages().unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[0], "assay");
    fn count(command: &Command) -> usize {
        let visible = command.get_subcommands().filter(|c| !c.is_hide_set());
        1 + visible.map(count).sum::<usize>()
    }
    assert_eq!(names.len(), count(&Arguments::command()));
    // A page that refers to another one: that one exists.
    assert!(names.contains(&"assay-fleet-submit"), "{names:?}");
    for (name, page) in &pages {
        for line in page.lines().filter(|line| line.ends_with("(1)")) {
            let other = line.trim_end_matches("(1)").replace("\\-", "-");
            assert!(names.contains(&other.as_str()), "{name} refers to {other}");
        }
    }
    let (_, job) = pages.iter().find(|(name, _)| name == "assay-job").unwrap();
    // Every option of `assay job --help`; roff escapes hyphens.
    for option in ["iodepth", "bs", "rw", "runtime"] {
        assert!(job.contains(&format!("\\-\\-{option}")), "--{option} is missing");
    }
    assert!(job.contains(".SH EXAMPLES\n.nf\nassay job"), "no examples");
}

#[test]
fn pages_are_written_into_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let pages = pages().unwrap();
    let files = write(&pages, &folder.path().join("man1")).unwrap();
    assert_eq!(files.len(), pages.len());
    for (file, (name, text)) in files.iter().zip(&pages) {
        assert_eq!(file.file_name().unwrap().to_str().unwrap(), format!("{name}.1"));
        assert_eq!(&std::fs::read_to_string(file).unwrap(), text);
    }
}

#[test]
fn notes_keep_the_lines_of_examples_and_fill_the_rest() {
    let roff =
        notes("Examples:\n  assay job X --rw read\n\nA note\nof two lines.\n  .hidden \\ 'x'");
    let expected = ".SH EXAMPLES\n.nf\nassay job X \\-\\-rw read\n.PP\n.fi\nA note\nof two \
                    lines.\n.nf\n\\&.hidden \\e 'x'\n.fi\n";
    assert_eq!(roff, expected);
}
