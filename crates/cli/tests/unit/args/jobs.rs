use super::*;

fn jobs_of(line: &str) -> Vec<NamedJob> {
    let parsed = parse(line.split(' ')).unwrap();
    let Command::Job(job) = parsed.command else {
        panic!("not a job");
    };
    job.jobs
}

fn message_of(line: &str) -> String {
    parse(line.split(' ')).unwrap_err().to_string()
}

#[test]
fn options_before_the_first_name_are_those_of_all_jobs() {
    let jobs = jobs_of(
        "assay --json job null: --runtime 1s --bs 8k --name reads --rw randread --name=writes \
         --rw write --bs 1m",
    );
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["reads", "writes"]);
    let lines: Vec<String> = jobs.iter().map(|job| job.options.command_line()).collect();
    assert_eq!(lines, ["--rw randread --bs 8k --runtime 1s", "--rw write --bs 1m --runtime 1s"]);
}

#[test]
fn one_name_changes_nothing() {
    assert_eq!(jobs_of("assay job null: --rw read"), []);
    assert_eq!(jobs_of("assay job null: --name=x --rw=read"), []);
}

#[test]
fn options_of_the_command_stand_anywhere() {
    let line = "assay job null: --name a --rw read --out x --name b --rw write --destroy d --json";
    let parsed = parse(line.split(' ')).unwrap();
    assert!(parsed.output.json);
    let Command::Job(job) = parsed.command else {
        panic!("not a job");
    };
    assert_eq!((job.jobs.len(), job.execution.destroy.as_slice()), (2, &["d".to_owned()][..]));
    assert_eq!(job.execution.out, Some("x".into()));
}

#[test]
fn names_are_checked() {
    for (line, expected) in [
        ("assay job null: --name a --rw read --name a", "is given twice"),
        ("assay job null: --name a/b --rw read --name c", "letters, digits"),
        ("assay job null: --name --rw read --name c", "NAME"),
        ("assay job --name a --rw read --name b", "DRIVE"),
    ] {
        let message = message_of(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

fn fio_of(line: &str) -> super::fio::FioArguments {
    let parsed = parse(line.split_whitespace()).unwrap();
    let Command::Fio(fio) = parsed.command else {
        panic!("{line}: not a line of fio");
    };
    *fio
}

/// One option that only fio has makes the line fio's.
#[test]
fn lines_of_fio_are_known_by_its_options() {
    for line in [
        "assay job null: --ioengine=libaio --rw randread",
        "assay job null: --rw=read -randrepeat 0",
        "assay job --name=x --filename=null: --rw=read",
        "assay job --rw=read --time_based null: --out x",
        "assay --json fio --rw=read null:",
        "assay fio null: --rw=read --json --destroy a --out x",
    ] {
        let fio = fio_of(line);
        assert!(fio.line.files.is_empty(), "{line}");
        let named = fio.line.filenames().chain(fio.drive.as_deref());
        assert_eq!(named.collect::<Vec<_>>(), ["null:"], "{line}");
        assert_eq!(fio.execution.out.is_some(), line.contains("--out"), "{line}");
    }
    let files = fio_of("assay fio a.fio sim:samsung-951 b.fio --section=x --showcmd");
    assert_eq!(files.line.files, ["a.fio", "b.fio"]);
    assert_eq!(files.drive.as_deref(), Some("sim:samsung-951"));
    assert!(files.dry_run);
    let job = fio_of("assay job --fio a.fio sim:samsung-951 --dry-run");
    assert_eq!(
        (job.line.files, job.drive),
        (vec!["a.fio".to_owned()], Some("sim:samsung-951".to_owned()))
    );
    assert!(message_of("assay job null: sim:a --ioengine=sync").contains("one is named already"));
    assert!(message_of("assay fio --bs").contains("needs a value"));
    assert!(message_of("assay fio -h").contains("assay fio jobs.fio"));
}
