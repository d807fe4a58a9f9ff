use assay_store::model::WorkloadRecord;

use super::*;

#[test]
fn what_repetition_gives_depends_on_the_workload() {
    let of = |rw: &str, quantity| {
        let workload = WorkloadRecord { rw: rw.to_owned(), ..WorkloadRecord::default() };
        let plan = CellPlan { workload, ..CellPlan::default() };
        known(&plan, quantity)
    };
    use Quantity::{Mean, TailPercentile};
    for (rw, mean, tail) in [
        ("randread", Some(READS), Some(TAIL_OF_READS)),
        ("read", Some(READS), Some(TAIL_OF_READS)),
        ("randwrite", Some(RANDOM_WRITES), None),
        ("randrw", Some(RANDOM_WRITES), None),
        ("write", Some(SEQUENTIAL_WRITES), None),
        ("rw", Some(SEQUENTIAL_WRITES), None),
        ("trim", None, None),
    ] {
        assert_eq!((of(rw, Mean), of(rw, TailPercentile)), (mean, tail), "{rw}");
    }
}
