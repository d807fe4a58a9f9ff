use super::*;
use crate::options::JobOptions;
use assay_device::session::{TargetKind, TargetProperties};

fn workload(scope: Option<&str>, group: Option<u32>) -> Workload {
    let options = JobOptions {
        exitall: scope.map(str::to_owned),
        exit_group: group,
        ..JobOptions::default()
    };
    let target = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "null:".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::Null,
    };
    Workload::plan(&options, &target).unwrap()
}

/// The end of a thread ends its group; one with the scope of the stage ends every group; a job
/// without the option is not ended.
#[test]
fn ends_reach_their_scope() {
    let workloads = [
        workload(Some("group"), None),
        workload(Some("group"), Some(1)),
        workload(Some("stage"), Some(2)),
        workload(None, None),
    ];
    let groups = ExitGroups::new(workloads.iter());
    let share = |n: usize| groups.share(&workloads[n]);
    assert!(share(3).is_none());
    let mut first = share(0).unwrap();
    let (beside, other) = (share(0).unwrap(), share(1).unwrap());
    first.leave();
    first.leave();
    assert_eq!(first.ends(), 1, "a thread ends once");
    assert!(beside.is_ended() && !other.is_ended());
    share(2).unwrap().leave();
    assert!(other.is_ended());
    assert_eq!(other.ends(), 2);
}
