//! Public drives with a profile: which cells there are, and what the page concludes of them.

use super::*;

#[test]
fn cells_are_saturated_reads_once_each() {
    for (drive, ..) in DRIVES {
        let cells = measured(drive);
        assert!(cells.len() >= 5, "{drive}: {}", cells.len());
        for (at, (workload, iops)) in cells.iter().enumerate() {
            assert!(workload.threads * workload.queue_depth >= SATURATED);
            assert!(*iops > 1e5, "{drive}: {iops}");
            assert!(cells[..at].iter().all(|(other, _)| other != workload), "{drive} {workload:?}");
        }
    }
}

#[test]
fn most_cells_lie_in_their_intervals_and_a_cell_outside_is_told() {
    let mut cells = cells().unwrap();
    let inside = cells.iter().filter(|cell| cell.is_inside()).count();
    assert!(10 * inside >= 9 * cells.len(), "{inside} of {}", cells.len());
    let cell = &mut cells[0];
    assert!(cell.error_pct().abs() < 20.0, "{} %", cell.error_pct());
    cell.measured = cell.simulated * cell.interval[1] * 1.01;
    assert!(!cell.is_inside());
}
