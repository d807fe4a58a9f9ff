use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use super::*;

fn plan() -> PlanId {
    PlanId::parse("x-0123456789ab").unwrap()
}

fn job(host: &str, serial: Option<&str>) -> JobSpec {
    JobSpec {
        plan: plan(),
        host: HostName::parse(host).unwrap(),
        serial: serial.map(|serial| Serial::parse(serial).unwrap()),
        rack: None,
    }
}

/// Writes a script by another process: a file that this one has open for writing cannot be
/// executed, and a test that starts a process at the same time keeps it open.
pub(crate) fn install(path: &Path, script: &str) {
    let text = path.with_extension("text");
    std::fs::write(&text, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&text, mode).unwrap();
    let copy = Command::new("cp").arg(&text).arg(path).status().unwrap();
    assert!(copy.success());
}

/// A queue that forgets jobs and refuses some.
#[derive(Default)]
pub(crate) struct FakeQueue {
    jobs: Vec<Job>,
    refused: u32,
    pub(crate) submitted: u32,
}

impl Queue for FakeQueue {
    fn submit(&mut self, job: &JobSpec) -> Result<String, QueueError> {
        if self.refused > 0 {
            self.refused -= 1;
            return Err(QueueError::Unsupported("full".to_owned()));
        }
        self.submitted += 1;
        let id = self.submitted.to_string();
        self.jobs.push(Job {
            id: id.clone(),
            name: job.name(),
            state: JobState::Waiting,
            host: None,
            reason: None,
        });
        Ok(id)
    }
    fn list(&mut self, _: &PlanId) -> Result<Vec<Job>, QueueError> {
        Ok(self.jobs.clone())
    }
    fn cancel(&mut self, id: &str) -> Result<(), QueueError> {
        self.jobs.retain(|job| job.id != id);
        Ok(())
    }
    fn reboot(&mut self, _: &HostName) -> Result<(), QueueError> {
        Ok(())
    }
}

#[test]
fn names_follow_from_plan_host_and_drive() {
    assert_eq!(job("h1", None).name(), "assay:x-0123456789ab:h1");
    let drive = job("h1", Some("a b")).name();
    assert_eq!(drive, "assay:x-0123456789ab::a%20b");
    // The drive has moved: the same job.
    assert_eq!(job("h2", Some("a b")).name(), drive);
}

proptest! {
    #[test]
    fn submit_again_completes(
        hosts in prop::collection::btree_set("[a-c][0-9]", 1..6),
        steps in prop::collection::vec((0u32..3, prop::option::of(0usize..6)), 1..8),
    ) {
        let jobs: Vec<JobSpec> = hosts.iter().map(|host| job(host, None)).collect();
        let mut queue = FakeQueue::default();
        for (refused, forgotten) in steps {
            queue.refused = refused;
            let _ = complete(&mut queue, &plan(), &jobs);
            if let Some(at) = forgotten.filter(|at| *at < queue.jobs.len()) {
                queue.jobs.remove(at);
            }
        }
        queue.refused = 0;
        complete(&mut queue, &plan(), &jobs).unwrap();
        // Each job once; a repetition changes nothing.
        let mut names: Vec<String> = queue.jobs.iter().map(|job| job.name.clone()).collect();
        names.sort();
        let mut wanted: Vec<String> = jobs.iter().map(JobSpec::name).collect();
        wanted.sort();
        prop_assert_eq!(names, wanted);
        let submitted = queue.submitted;
        prop_assert_eq!(complete(&mut queue, &plan(), &jobs).unwrap().made, vec![]);
        prop_assert_eq!(queue.submitted, submitted);
    }
}

#[test]
fn tasks_are_children_of_this_process() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let program = folder.path().join("program");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\nexit 75\n", log.display());
    install(&program, &script);
    let mut queue = HereQueue::new(program, "/store".to_owned());
    let completed = complete(&mut queue, &plan(), &[job("h1", None)]).unwrap();
    assert_eq!(completed.made.len(), 1);
    let ended = queue.wait().unwrap();
    assert_eq!(ended[0].status.code(), Some(75));
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log, "fleet task --store /store --plan x-0123456789ab --host h1\n");
    assert_eq!(queue.list(&plan()).unwrap(), []);
    assert!(queue.reboot(&HostName::parse("h1").unwrap()).is_err());
    // A task that does not end by itself, cancelled.
    let mut queue = HereQueue::new(PathBuf::from("/bin/sh"), "/store".to_owned());
    assert!(queue.cancel("1").is_ok());
    let missing =
        HereQueue::new(folder.path().join("none"), String::new()).submit(&job("h1", None));
    assert!(missing.unwrap_err().to_string().starts_with("cannot start assay: "));
}
