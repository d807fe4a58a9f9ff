use super::*;

const TERMS: Terms = Terms {
    wanted: false,
    unwanted: false,
    terminal: true,
    no_colour: false,
    columns: 120,
    rows: 40,
};

#[test]
fn the_view_opens_by_itself_on_a_large_terminal_only() {
    assert_eq!(opening(TERMS), Opening::IfLong);
    for (columns, rows) in [(99, 40), (120, 29), (80, 24), (0, 0)] {
        let small = Terms { columns, rows, ..TERMS };
        assert_eq!(opening(small), Opening::Never, "{columns} x {rows}");
    }
    let no_colour = Terms { no_colour: true, ..TERMS };
    assert_eq!(opening(no_colour), Opening::Never);
}

#[test]
fn arguments_decide_before_the_size_but_not_before_the_terminal() {
    let wanted = Terms { wanted: true, columns: 80, rows: 24, no_colour: true, ..TERMS };
    assert_eq!(opening(wanted), Opening::AtOnce);
    let pipe = Terms { terminal: false, ..wanted };
    assert_eq!(opening(pipe), Opening::Never);
    let unwanted = Terms { unwanted: true, ..TERMS };
    assert_eq!(opening(unwanted), Opening::Never);
}
