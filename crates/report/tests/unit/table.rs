use super::*;

#[test]
fn columns_without_anything_are_left_out() {
    let row = |cells: [Cell; 3]| Row {
        name: Heading::plain("drive"),
        cells: cells.into(),
    };
    let table = Table {
        columns: ["first", "second", "third"]
            .map(|label| Column::of(label, ""))
            .into(),
        rows: vec![
            row([Cell::Empty, Cell::Empty, Cell::number("1")]),
            row([
                Cell::Missing("-", "why".to_owned()),
                Cell::Empty,
                Cell::Empty,
            ]),
        ],
        ..Table::default()
    };
    let table = table.without_empty_columns();
    let labels: Vec<&str> = table.columns.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["first", "third"]);
    assert_eq!(table.rows[0].cells, [Cell::Empty, Cell::number("1")]);
    assert!(table.rows.iter().all(|row| row.cells.len() == 2));
}
