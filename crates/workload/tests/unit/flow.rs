use super::*;
use crate::options::JobOptions;
use assay_device::session::{TargetKind, TargetProperties};

fn workload(weight: u32, numjobs: u32) -> Workload {
    let options =
        JobOptions { flow: Some(weight), numjobs: Some(numjobs), ..JobOptions::default() };
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

/// Two threads of weight 1 and one of weight 8: a fifth of the I/Os and four fifths.
#[test]
fn shares_follow_the_weights() {
    let workloads = [workload(1, 2), workload(8, 1)];
    let groups = FlowGroups::new(workloads.iter());
    let mut shares: Vec<FlowShare> = [0, 0, 1].map(|n| groups.share(&workloads[n]).unwrap()).into();
    for _ in 0..10_000 {
        for share in &mut shares {
            let _ = share.take();
        }
    }
    let all: u64 = shares.iter().map(|share| share.ios).sum();
    let part = |n: usize| shares[n].ios as f64 / all as f64;
    assert!((part(0) - 0.1).abs() < 0.01, "{}", part(0));
    assert!((part(2) - 0.8).abs() < 0.01, "{}", part(2));
    // The first two end: the third is no longer held back.
    shares[0].leave();
    shares[1].leave();
    let before = shares[2].ios;
    for _ in 0..100 {
        shares[2].take().unwrap();
    }
    assert_eq!(shares[2].ios, before + 100);
}

#[test]
fn a_workload_without_flow_has_no_share() {
    let plain = workload(0, 1);
    assert!(plain.flow.is_none());
    assert!(FlowGroups::new([&plain].into_iter()).share(&plain).is_none());
}
