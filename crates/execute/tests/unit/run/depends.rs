use super::*;

const LIMIT: Nanos = Nanos::from_millis(5);

fn grid(points: &[(u32, u32, f64, f64)]) -> Vec<GridPoint> {
    let point = |&(threads, depth, iops, response_ms): &(u32, u32, f64, f64)| GridPoint {
        at: (threads, depth),
        iops,
        response_ns: response_ms * 1e6,
    };
    points.iter().map(point).collect()
}

#[test]
fn operating_points_are_those_with_short_response_times() {
    let grid = grid(&[
        (1, 1, 10_000.0, 0.1),
        (1, 32, 60_000.0, 0.5),
        (4, 32, 90_000.0, 1.4),
        // The highest rate, with a response time above the limit.
        (32, 32, 100_000.0, 10.2),
    ]);
    let chosen = |which| choose(&grid, which, LIMIT);
    assert_eq!(chosen(OperatingPoint::Max), Some((4, 32)));
    // Halfway between 10,000 and 90,000.
    assert_eq!(chosen(OperatingPoint::Mid), Some((1, 32)));
    assert_eq!(chosen(OperatingPoint::Min), Some((1, 1)));
    let slower = choose(&grid, OperatingPoint::Max, Nanos::from_millis(50));
    assert_eq!(slower, Some((32, 32)));
    assert_eq!(choose(&grid[3..], OperatingPoint::Min, LIMIT), None);
}
