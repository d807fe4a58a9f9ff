use super::*;
use crate::fixtures;

/// A drive that is slow for 25 of every 45 seconds.
#[test]
fn of_the_scored_part_with_dwell_times_in_seconds() {
    let mut plan = fixtures::plan("hour", fixtures::reads(4096, 1, 32));
    let mut cell = fixtures::cell(plan.clone(), 18_000.0, 1e6, 4050, 0.01, 1);
    for (second, point) in cell.drives[0].series.iter_mut().enumerate() {
        if second % 45 < 25 {
            point.ios /= 6;
        }
    }
    let part = &cell.drives[0];
    let all = modes_of_cell(&plan, part).unwrap();
    let [slow, fast] = all.modes[..] else {
        panic!("two modes: {all:?}");
    };
    assert!((slow.level / 3000.0 - 1.0).abs() < 0.01 && (fast.level / 18e3 - 1.0).abs() < 0.01);
    assert!((slow.share_pct - 100.0 * 25.0 / 45.0).abs() < 0.5, "{slow:?}");
    assert!((all.dwell_s(&slow) - 25.0).abs() < 0.5 && (all.dwell_s(&fast) - 20.0).abs() < 0.5);
    assert_eq!((all.from_s, all.to_s), (0.0, 4050.0));
    plan.view = Some(CellView::Consistency);
    let scored = modes_of_cell(&plan, part).unwrap();
    assert_eq!((scored.from_s, scored.to_s), (3650.0, 4050.0));
    assert_eq!(scored.modes.len(), 2);
    assert_eq!(scored.modes, score::score_of_cell(part).unwrap().score.modes);
    // Too few to tell.
    cell.drives[0].series.truncate(20);
    plan.view = None;
    assert_eq!(modes_of_cell(&plan, &cell.drives[0]), None);
}
