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
    assert_eq!(
        lines,
        [
            "--rw randread --bs 8k --runtime 1s",
            "--rw write --bs 1m --runtime 1s"
        ]
    );
}

#[test]
fn one_name_changes_nothing() {
    assert_eq!(jobs_of("assay job null: --rw read"), []);
    assert_eq!(jobs_of("assay job --name=x --filename=null: --rw=read"), []);
}

#[test]
fn options_of_the_command_stand_anywhere() {
    let line = "assay job null: --name a --rw read --out x --name b --rw write --destroy d --json";
    let parsed = parse(line.split(' ')).unwrap();
    assert!(parsed.output.json);
    let Command::Job(job) = parsed.command else {
        panic!("not a job");
    };
    assert_eq!(
        (job.jobs.len(), job.destroy.as_slice()),
        (2, &["d".to_owned()][..])
    );
    assert_eq!(job.out, Some("x".into()));
}

#[test]
fn names_are_checked() {
    for (line, expected) in [
        (
            "assay job null: --name a --rw read --name a",
            "is given twice",
        ),
        (
            "assay job null: --name a/b --rw read --name c",
            "letters, digits",
        ),
        ("assay job null: --name --rw read --name c", "NAME"),
        ("assay job --name a --rw read --name b", "DRIVE"),
    ] {
        let message = message_of(line);
        assert!(message.contains(expected), "{line}: {message}");
    }
}
