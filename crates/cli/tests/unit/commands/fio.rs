use super::*;

fn jobs(text: &str) -> Vec<FioJob> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fio");
    std::fs::write(&path, text).unwrap();
    super::read(&CommandLine::of_file(&path), None).unwrap().jobs
}

#[test]
fn a_dry_run_shows_stages_and_lines_of_assay_job() {
    let jobs = jobs("[global]\nfilename=/dev/x\n[a]\n[b]\nrw=write\n[c]\nstonewall\n");
    let text = dry_run(&jobs);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "# stage 1, at the same time");
    assert_eq!(lines[1], "# [a]");
    assert!(lines[2].starts_with("assay job /dev/x --rw read "), "{text}");
    assert_eq!(lines[5], "# stage 2");
    assert_eq!(dry_run_json(&jobs)["jobs"][2]["stage"], 2);
}

/// A drive is needed once, and written if any of its jobs writes.
#[test]
fn drives_are_needed_once() {
    let jobs =
        jobs("[a]\nfilename=/dev/x\n[b]\nfilename=/dev/y\n[c]\nfilename=/dev/x\nrw=randrw\n");
    let needed = needed(&jobs);
    let names: Vec<(&str, bool)> =
        needed.iter().map(|drive| (drive.name.as_str(), drive.writes)).collect();
    assert_eq!(names, [("/dev/x", true), ("/dev/y", false)]);
}

#[test]
fn a_scheduler_is_checked_and_not_set() {
    let jobs = jobs("[a]\nfilename=/dev/x\nioscheduler=none\n");
    let mut info = DriveInfo::new(DriveKind::Block, "/dev/x", "x", 1 << 30);
    info.scheduler = Some("none".to_owned());
    check_scheduler(&jobs[0], &info).unwrap();
    info.scheduler = Some("mq-deadline".to_owned());
    let error = check_scheduler(&jobs[0], &info).unwrap_err().to_string();
    let advice = "/dev/x has mq-deadline; before the run: echo none > /sys/block/x/queue/scheduler";
    assert!(error.contains(advice), "{error}");
}
