use super::*;
use crate::assignment::tests::inventory;
use crate::control::{self, ControlState};
use crate::plan::DestroyError;
use crate::queue::tests::FakeQueue;
use crate::shared_store::open;

fn plan(run: &str) -> Plan {
    let text = format!(
        "name = \"x\"\nsuites = [{{ suite = \"quick\" }}]\n[drives]\nserials = \
         \"l\"\n[run]\n{run}\n[store]\nat = \"/s\"\n"
    );
    Plan::parse("plan.toml", &text, &|_| Ok("A1\nA2\nB1\n".to_owned())).unwrap()
}

fn options() -> SubmitOptions {
    SubmitOptions { queue: "fake".to_owned(), by: "me@here".to_owned(), ..SubmitOptions::default() }
}

#[test]
fn submit_twice_makes_jobs_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let inventories = [inventory("h1", &["A1", "A2"]), inventory("h2", &["B1"])];
    for (run, jobs) in [("", 2), ("place = \"drive\"\nseed = 2", 3)] {
        let plan = plan(run);
        let id = plan.id().unwrap();
        let mut queue = FakeQueue::default();
        let mut submit =
            || submit(&plan, &id, store.as_ref(), &inventories, &mut queue, &options()).unwrap();
        assert_eq!(submit().jobs.made.len(), jobs);
        let again = submit();
        assert_eq!((again.jobs.made.len(), again.jobs.present.len()), (0, jobs));
        let records = store.list(&format!("plans/{id}/submissions/")).unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(crate::stored_plan::read(store.as_ref(), &id).unwrap().serials.len(), 3);
    }
}

#[test]
fn a_cancelled_plan_stays_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let plan = plan("");
    let id = plan.id().unwrap();
    let mut queue = FakeQueue::default();
    let inventories = [inventory("h1", &["A1"])];
    control::write(store.as_ref(), &id, ControlState::Cancelled, "you@there").unwrap();
    let refused = submit(&plan, &id, store.as_ref(), &inventories, &mut queue, &options());
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("was cancelled by you@there at ") && refused.contains("--resume"),
        "{refused}"
    );
    assert_eq!(queue.submitted, 0);
    let resume = SubmitOptions { resume: true, ..options() };
    submit(&plan, &id, store.as_ref(), &inventories, &mut queue, &resume).unwrap();
    assert_eq!(queue.submitted, 1);
    let control = control::read(store.as_ref(), &id).unwrap().unwrap();
    assert_eq!(control.state, ControlState::Running);
}

#[test]
fn nothing_is_written_without_the_confirmation_to_destroy() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path().to_str().unwrap()).unwrap();
    let plan = plan("destroy = true");
    let id = plan.id().unwrap();
    let mut queue = FakeQueue::default();
    let inventories = [inventory("h1", &["A1"])];
    let mut with = |destroy_count| {
        let options = SubmitOptions { destroy_count, ..options() };
        submit(&plan, &id, store.as_ref(), &inventories, &mut queue, &options)
    };
    for (count, error) in [
        (None, DestroyError::NoCount(3)),
        (Some(1), DestroyError::OtherCount { given: 1, listed: 3 }),
    ] {
        let refused = with(count).unwrap_err();
        assert!(matches!(&refused, FleetError::Destroy(is) if *is == error), "{refused}");
    }
    assert_eq!(store.list("plans/").unwrap().len(), 0);
    with(Some(3)).unwrap();
    assert_eq!(queue.submitted, 1);
}
