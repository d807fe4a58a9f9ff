use super::*;

#[test]
fn columns_without_anything_are_left_out() {
    let row = |cells: [TableCell; 3]| Row { name: Heading::plain("drive"), cells: cells.into() };
    let table = Table {
        columns: ["first", "second", "third"].map(|label| Column::new(label, "")).into(),
        rows: vec![
            row([TableCell::Empty, TableCell::Empty, TableCell::number("1")]),
            row([TableCell::Missing("-", "why".to_owned()), TableCell::Empty, TableCell::Empty]),
        ],
        ..Table::default()
    };
    let table = table.without_empty_columns();
    let labels: Vec<&str> = table.columns.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["first", "third"]);
    assert_eq!(table.rows[0].cells, [TableCell::Empty, TableCell::number("1")]);
    assert!(table.rows.iter().all(|row| row.cells.len() == 2));
}
