use std::path::Path;

use proptest::prelude::*;

use super::super::tests::install;
use super::*;
use crate::Serial;

fn plan() -> PlanId {
    PlanId::parse("x-0123456789ab").unwrap()
}

fn job(serial: Option<&str>) -> JobSpec {
    JobSpec {
        plan: plan(),
        host: HostName::parse("h1").unwrap(),
        serial: serial.map(|serial| Serial::parse(serial).unwrap()),
        rack: Some("r7".to_owned()),
    }
}

/// Slurm's programs as scripts in `folder`: each logs its arguments and stdin, then runs `body`.
fn fake(folder: &Path, program: &str, body: &str) {
    let path = folder.join(program);
    let script = format!(
        "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done > {0}/{program}.log\ncat >> \
         {0}/{program}.log\n{body}\n",
        folder.display()
    );
    install(&path, &script);
}

fn queue(folder: &Path) -> SlurmQueue {
    let rules = SlurmRules {
        partition: Some("rack-{rack}".to_owned()),
        options: vec!["--account=qual; rm -rf /".to_owned()],
    };
    let queue = SlurmQueue::new(rules, "/store".to_owned(), "/opt/assay".into());
    queue.with_programs(folder.to_owned())
}

#[test]
fn sbatch_gets_options_a_fixed_script_and_arguments() {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "sbatch", "echo '17;cluster'");
    let mut queue = queue(folder.path());
    assert_eq!(queue.submit(&job(None)).unwrap(), "17");
    let log = |folder: &Path| std::fs::read_to_string(folder.join("sbatch.log")).unwrap();
    let host = log(folder.path());
    let lines: Vec<&str> = host.lines().collect();
    for option in [
        "--exclusive",
        "--nodelist=h1",
        "--requeue",
        "--open-mode=append",
        "--signal=B:USR1@120",
        "--partition=rack-r7",
        "--job-name=assay:x-0123456789ab:h1",
        "--account=qual; rm -rf /",
    ] {
        assert!(lines.contains(&option), "{option} in {host}");
    }
    let end = "/dev/stdin\n/opt/assay\nfleet\ntask\n--store\n/store\n--plan\nx-0123456789ab\n";
    assert!(host.ends_with(&format!("{end}{JOB_SCRIPT}")), "{host}");
    queue.submit(&job(Some("S 1"))).unwrap();
    let drive = log(folder.path());
    assert!(drive.contains("\n--gres=nvme:S_201:1\n") && !drive.contains("--nodelist"), "{drive}");
    assert!(drive.contains("\n--serial\nS 1\n"), "{drive}");
}

#[test]
fn the_script_passes_its_arguments_and_the_node_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, JOB_SCRIPT).unwrap();
    let output = Command::new("sh")
        .arg(&script)
        .args(["echo", "a b", "--plan", "p"])
        .env("SLURMD_NODENAME", "n1")
        .env("SLURM_JOB_ID", "17")
        .output();
    let printed = output.unwrap().stdout;
    assert_eq!(printed, b"a b --plan p --host n1 --job 17 --requeue\n");
}

#[test]
fn jobs_are_found_by_name() {
    let lines = "\
 12|PD||Priority|assay:x-0123456789ab:h1
13|R|h2|None|assay:x-0123456789ab:h2
14_[3-9]|CG|h3|None|assay:x-0123456789ab:h3
15|F|h4|NonZeroExitCode|assay:x-0123456789ab:h4
16|R|h4|None|assay:x-ffffffffffff:h4
17|R|h4|None|a | name with | separators
";
    let jobs = parse_squeue(lines, &plan()).unwrap();
    let found: Vec<_> = jobs.iter().map(|job| (job.id.as_str(), job.state)).collect();
    assert_eq!(
        found,
        [("12", JobState::Waiting), ("13", JobState::Running), ("14_[3-9]", JobState::Ending)]
    );
    assert_eq!(jobs[0].reason.as_deref(), Some("Priority"));
    assert_eq!((jobs[1].host.as_deref(), jobs[1].reason.as_deref()), (Some("h2"), None));
    assert!(parse_squeue("slurm_load_jobs error\n", &plan()).is_err());
}

#[test]
fn failures_say_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    let mut queue = queue(folder.path());
    let missing = queue.list(&plan()).unwrap_err().to_string();
    assert!(
        missing.starts_with("cannot start squeue: ") && missing.contains("--here"),
        "{missing}"
    );
    fake(folder.path(), "sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1");
    let refused = queue.submit(&job(None)).unwrap_err().to_string();
    assert_eq!(
        refused,
        "sbatch failed with exit status: 1 for assay:x-0123456789ab:h1: sbatch: error: invalid \
         partition"
    );
    fake(folder.path(), "sbatch", "echo Submitted");
    let other = queue.submit(&job(None)).unwrap_err().to_string();
    assert!(other.starts_with("sbatch printed \"Submitted\", which is not a job id"), "{other}");
    fake(folder.path(), "squeue", "kill -9 $$");
    assert!(queue.list(&plan()).unwrap_err().to_string().contains("signal: 9"));
    fake(
        folder.path(),
        "scancel",
        "echo 'scancel: error: Kill job error on job id 3: Invalid job id specified' >&2; exit 1",
    );
    queue.cancel("3").unwrap();
    fake(folder.path(), "scancel", "echo 'Access denied' >&2; exit 1");
    assert!(queue.cancel("3").is_err());
    fake(folder.path(), "scontrol", "");
    queue.reboot(&HostName::parse("h1").unwrap()).unwrap();
    let log = std::fs::read_to_string(folder.path().join("scontrol.log")).unwrap();
    assert_eq!(log, "reboot\nasap\nnextstate=resume\nh1\n");
    let without_rack = JobSpec { rack: None, ..job(None) };
    assert!(queue.submit(&without_rack).unwrap_err().to_string().contains("--rack NAME"));
}

proptest! {
    #[test]
    fn any_output_is_jobs_or_an_error(text in "(?s).{0,80}") {
        let _ = parse_squeue(&text, &plan());
        let _ = parse_squeue(&format!("1|R|h|None|assay:x-0123456789ab:h1\n{text}"), &plan());
    }
}
