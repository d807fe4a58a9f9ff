use std::path::Path;

use assay_stats::{Interval, OpInterval};
use assay_units::{Nanos, Op};

use super::*;
use crate::model::IntervalRecord;

#[test]
fn an_interval_is_encoded_as_its_entry() {
    let mut counts = OpInterval { ios: 3, bytes: 4096, ..OpInterval::default() };
    counts.latency.record(Nanos(1234));
    let interval = Interval {
        index: 7,
        ramp: true,
        start: Nanos(1),
        end: Nanos(9),
        ops: vec![(Op::Read, counts.clone()), (Op::Write, counts)],
        submitted: Vec::new(),
    };
    let folder = Path::new("/nowhere");
    let borrowed = EncodedEntries::interval("drive/cell", 2, &interval, folder).unwrap();
    let entry = Entry::Interval(IntervalRecord::new("drive/cell", 2, interval));
    let mut owned = EncodedEntries::default();
    owned.push(&entry, folder).unwrap();
    assert_eq!(borrowed.lines, owned.lines);
}
