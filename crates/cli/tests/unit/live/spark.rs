use super::*;

fn history(values: &[(u64, f64, u32)]) -> Vec<HistorySecond> {
    let second = |&(number, ios, cell): &(u64, f64, u32)| HistorySecond {
        number,
        ios,
        covered_s: 1.0,
        p99_ns: ios as u64,
        cell,
        ..HistorySecond::default()
    };
    values.iter().map(second).collect()
}

#[test]
fn columns_hold_whole_seconds_and_do_not_move_within_one() {
    assert_eq!(seconds_per_column(180), 1);
    assert_eq!(seconds_per_column(90), 2);
    let seven: Vec<(u64, f64, u32)> = (1..8).map(|n| (n, n as f64, 1)).collect();
    let columns = columns(&history(&seven), 90, mean_iops);
    let values: Vec<f64> = columns.iter().map(|c| c.value).collect();
    // 1 | 2 3 | 4 5 | 6 7
    assert_eq!(values, [1.0, 2.5, 4.5, 6.5]);
}

#[test]
fn the_oldest_columns_are_left_out_and_earlier_cells_marked() {
    let values: Vec<(u64, f64, u32)> = (0..300).map(|n| (n, 1.0, 1 + (n / 290) as u32)).collect();
    let columns = columns(&history(&values), 180, greatest_p99);
    assert_eq!(columns.len(), 180);
    assert_eq!(columns.iter().filter(|c| !c.older).count(), 10);
    assert!(!columns[179].older && columns[169].older);
}

#[test]
fn heights_are_eighths_of_the_rows() {
    let area = Rect::new(0, 0, 4, 2);
    let mut buffer = Buffer::empty(area);
    let values = [0.0, 0.1, 8.0, 16.0];
    let columns = values.map(|value| Column { value, older: false });
    draw(&mut buffer, area, &columns, 16.0, Style::new(), Style::new());
    let row = |y| -> String { (0..4).map(|x| buffer[(x, y)].symbol()).collect() };
    assert_eq!(row(0), "   █");
    assert_eq!(row(1), " ▁██");
}
