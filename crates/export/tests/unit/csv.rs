use super::*;
use crate::table::ValueType;

/// The table as CSV.
fn text(columns: Vec<(String, ValueType)>, row: Vec<Value>) -> String {
    let table = Table { name: "test", columns, rows: Box::new([row].into_iter()) };
    let mut out = Vec::new();
    write(table, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn fields_are_quoted_by_rfc_4180() {
    let fields = ["plain", "a,b", "say \"hi\"", "two\nlines", "", " blank "];
    let columns = fields.map(|name| (name.to_owned(), ValueType::Text));
    let row = fields.map(|field| Value::Text(field.to_owned()));
    let line = "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",, blank \r\n";
    assert_eq!(text(columns.to_vec(), row.to_vec()), line.repeat(2));
}

#[test]
fn texts_are_no_formulas() {
    let fields = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\u{FF1D}1", "a=1"];
    let columns = [("x".to_owned(), ValueType::Text)];
    for field in fields {
        let row = vec![Value::Text(field.to_owned())];
        let expected = if field == "a=1" { "" } else { "'" };
        assert_eq!(text(columns.to_vec(), row), format!("x\r\n{expected}{field}\r\n"));
    }
    let number = [("x".to_owned(), ValueType::Figure)];
    assert_eq!(text(number.to_vec(), vec![Value::Figure(-1.5)]), "x\r\n-1.5\r\n");
}

#[test]
fn absent_values_are_empty_fields_and_numbers_keep_their_bits() {
    let of = |value: Value| {
        let columns = [("x", ValueType::Figure), ("y", ValueType::Count)];
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind));
        text(columns.to_vec(), vec![value, Value::Count(1)])
    };
    assert_eq!(of(Value::Absent), "x,y\r\n,1\r\n");
    assert_eq!(of(Value::Figure(0.1 + 0.2)), "x,y\r\n0.30000000000000004,1\r\n");
    assert_eq!(of(Value::Count(u64::MAX)), "x,y\r\n18446744073709551615,1\r\n");
    assert_eq!(of(Value::Flag(true)), "x,y\r\ntrue,1\r\n");
}
